import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("Gaps of the daemon", .timeLimit(.minutes(30)))
struct GapTests {
    private func gaps(_ bed: DaemonOnDisk) throws -> [DaemonGap] {
        try LedgerReader(directory: bed.installation.state).gaps()
    }

    private func report(_ bed: DaemonOnDisk, _ format: String) -> String {
        pushctl.run(["report", "--state", bed.installation.state, "--format", format]).output
    }

    /// Waits for the daemon's ten-second housekeeping, by a clock that is ahead.
    private func runMaintenance(_ bed: DaemonOnDisk, untilIt does: String, _ isDone: () throws -> Bool) throws {
        try waitUntil(does) {
            _ = try DaemonStatus(of: bed.installation)
            return try isDone()
        }
    }

    @Test("a pause between two runs is one row, in JSON and in text")
    func down() throws {
        let bed = DaemonOnDisk(seed: 17)
        try bed.start()
        #expect(try bed.stop() == .exited(0))
        #expect(try gaps(bed) == [], "nothing was before the first")
        bed.disk.clockOffset += 3600
        try bed.start()
        let gap = try #require(try gaps(waitingFor: 1, bed).first)
        #expect(gap.kind == .down && gap.length >= .seconds(3599) && gap.length < .seconds(7200), "\(gap)")
        #expect(try bed.stop() == .exited(0))
        #expect(bed.daemon?.standardError.contains("no daemon ran for 3") == true)
        let list = try #require(try json(report(bed, "json"))["daemon_gaps"])
        #expect(list.count == 1 && list.elements[0]["kind"]?.string == "down")
        #expect(list.elements[0]["length_ms"]?.double == Double(gap.length.milliseconds))
        #expect(report(bed, "text").contains("\nGaps of the daemon\n"))
        #expect(report(bed, "text").contains("\ndaemon down  "))
    }

    private func gaps(waitingFor count: Int, _ bed: DaemonOnDisk) throws -> [DaemonGap] {
        try runMaintenance(bed, untilIt: "the ledger has \(count) gaps") { try gaps(bed).count >= count }
        return try gaps(bed)
    }

    @Test("after kill -9 the gap begins with a sign of life of the last minutes, even without a delivery")
    func killed() throws {
        let bed = DaemonOnDisk(seed: 18)
        try bed.start()
        let first = try aliveAt(bed)
        bed.disk.clockOffset += 7200
        try runMaintenance(bed, untilIt: "it gives a sign of life") { try aliveAt(bed) > first }
        bed.crash()
        bed.disk.clockOffset += 600
        try bed.start()
        let gap = try #require(try gaps(waitingFor: 1, bed).last)
        #expect(gap.kind == .down && gap.length >= .seconds(600) && gap.length < .seconds(7200), "\(gap)")
    }

    private func aliveAt(_ bed: DaemonOnDisk) throws -> WallTime {
        var alive: WallTime?
        try runMaintenance(bed, untilIt: "the ledger has a sign of life") {
            alive = try LedgerReader(directory: bed.installation.state).lastAlive()
            return alive != nil
        }
        return try #require(alive)
    }

    @Test("a step of the clock is one row")
    func clock() throws {
        let bed = DaemonOnDisk(seed: 19)
        try bed.start()
        bed.disk.wallOffset = 5000
        // The daemon compares the clocks ten seconds later, by the clock that nobody can set.
        bed.disk.clockOffset += 20
        let gap = try #require(try gaps(waitingFor: 1, bed).last)
        #expect(gap.kind == .clockStepped && gap.length > .seconds(4998) && gap.length < .seconds(5002), "\(gap)")
        #expect(try bed.stop() == .exited(0))
        #expect(bed.daemon?.standardError.contains("the clock was set ahead by ") == true)
    }

    @Test("a stall of the disk is one row, from its begin to its end")
    func stall() throws {
        let bed = DaemonOnDisk("[Store]\nSlowCommit=100ms\n", seed: 20)
        try bed.start()
        let client = try bed.installation.injectClient()
        let slowness = bed.disk.delay(.syncs(of: "through "), milliseconds: 300)
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
        slowness.end()
        bed.disk.clockOffset += 20
        try runMaintenance(bed, untilIt: "the ledger has the stall") {
            try gaps(bed).contains { $0.kind == .diskStalled && $0.length >= .milliseconds(299) }
        }
        #expect(try bed.stop() == .exited(0))
    }

    @Test("a disk without room for the last sign of life does not make a stop fail")
    func fullAtTheEnd() throws {
        let bed = DaemonOnDisk(seed: 21)
        try bed.start()
        _ = try aliveAt(bed)
        let rule = bed.disk.fail(.writes(), .all, error: ENOSPC)
        #expect(try bed.stop() == .exited(0))
        #expect(rule.picked > 0)
    }
}
