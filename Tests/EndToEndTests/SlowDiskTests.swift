import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A slow disk")
struct SlowDiskTests {
    @Test("delays replies, and neither refuses requests nor delays a deadline", .timeLimit(.minutes(30)))
    func slow() throws {
        let bed = DaemonOnDisk(seed: 5)
        let started = Messages(bed.installation.root + "/started")
        bed.installation.addJob("hangs", "echo $$ >$ROOT/started; exec sleep 60", route: "Deadline=2s")
        try bed.start()
        let client = try bed.installation.injectClient()
        // The first batch of a segment takes two syncs: one is for the segment's header.
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
        let slowness = bed.disk.delay(.syncs(), milliseconds: 300)
        let load = DiskLoad("r", seed: 5)
        try load.connect(to: bed.installation)

        for _ in 0..<3 {
            #expect(try client.ask(Requests.deliver(job: "hangs")).isAccepted)
            let process = try started.processes(1)[0]
            let stall = bed.disk.hold(.syncs())
            try waitUntil("it is killed while the disk takes nothing") { !isAlive(process) }
            stall.end()
            let line = try client.next()
            #expect(line.outcome == "timed_out" && line.reason == "not finished at the deadline", "\(line)")
            #expect(line.totalMilliseconds >= 2000, "\(line)")
        }
        try load.run(count: 80)
        #expect(load.refusals.isEmpty && !load.isCutOff && slowness.picked > 6)
        slowness.end()
        load.disconnect()
        try bed.cutPower()
        try bed.start()
        let lost = try load.findLost(at: bed.installation)
        #expect(lost == [] && load.contradictions.isEmpty)
        var figures = DiskFigures()
        (figures.cuts, figures.acknowledged, figures.lost) = (1, load.acknowledgements, lost.count)
        print("disk, slow: \(slowness.picked) slow syncs; \(figures)")
    }

    @Test("is reported in the journal, the status and the metrics, and so is its end", .timeLimit(.minutes(30)))
    func told() throws {
        let bed = DaemonOnDisk("[Store]\nSlowCommit=100ms\n", seed: 6)
        try bed.start()
        let client = try bed.installation.injectClient()
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
        #expect(try isSlow(bed) == [false, false])

        // From here on the log thread waits for the disk, not the loop.
        let slowness = bed.disk.delay(.syncs(of: "through "), milliseconds: 20)
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
        slowness.end()
        let stall = bed.disk.hold(.syncs(of: "through "))
        try client.send(line: Requests.deliver(waits: false))
        try waitForEntry("the disk is slow: a commit has taken ", in: bed)
        #expect(try isSlow(bed) == [true, true])
        // No request is acknowledged meanwhile.
        #expect(throws: ClientError.self) { try client.receiveLine(timeoutMilliseconds: 0) }
        stall.end()
        #expect(try client.next().isAccepted)
        // The reply may be sent before the loop counts the commit.
        try waitUntil("the slow commit is counted") {
            try DaemonStatus(of: bed.installation)["store"]?["slow_commits"]?.int64 ?? 0 > 0
        }

        // On a busy machine one more commit may be slow.
        try waitUntil("a commit is fast") {
            try #require(try client.ask(Requests.deliver(waits: false)).isAccepted)
            return try isSlow(bed) == [false, false]
        }
        try waitForEntry("commits are fast again: ", in: bed)
        #expect(try bed.stop() == .exited(0))
    }

    @Test(
        "that blocks the loop's own commit is reported meanwhile, and the watchdog is notified",
        .timeLimit(.minutes(30)))
    func loopWaits() throws {
        let bed = DaemonOnDisk("[Store]\nSlowCommit=100ms\n", seed: 7)
        // The loop alone would notify every 30 seconds, and not at all while it waits.
        try bed.start(environment: ["WATCHDOG_USEC=60000000"])
        let daemon = try #require(bed.daemon)
        let client = try bed.installation.injectClient()
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
        let answered = daemon.messages.count { $0.contains("WATCHDOG=1") }

        let stall = bed.disk.hold(.syncs(of: "through "))
        try client.send(line: Requests.deliver(waits: false))
        try waitForEntry("the disk is slow: a commit has taken ", in: bed)
        try daemon.waitForNotification("WATCHDOG=1", times: answered + 3)
        #expect(throws: ClientError.self) { try client.receiveLine(timeoutMilliseconds: 0) }
        // No answer is possible meanwhile, and pushctl says so.
        let asked = pushctl.run(["--runtime", bed.installation.runtime, "status"])
        #expect(asked.end == .exited(69) && asked.errors.contains("its disk may be slow"), "\(asked.errors)")
        stall.end()
        #expect(try client.next().isAccepted)
        // A test that does not read the notifications would block the daemon.
        #expect(daemon.messages.count > answered)
        try waitUntil("it is counted, once") {
            try DaemonStatus(of: bed.installation)["store"]?["slow_commits"]?.int64 == 1
        }
        #expect(daemon.standardError.components(of: "the disk is slow: ") == 1)
        #expect(try bed.stop() == .exited(0))
    }

    @Test("at a stop is waited for, and the stop timeout is extended", .timeLimit(.minutes(30)))
    func stop() throws {
        let bed = DaemonOnDisk(seed: 8)
        try bed.start()
        #expect(try bed.installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
        let stall = bed.disk.hold(.syncs(of: "ledger.db"))
        let daemon = try #require(bed.daemon)
        daemon.send(SIGTERM)
        try daemon.waitForNotification("EXTEND_TIMEOUT_USEC=30000000")
        stall.end()
        #expect(try bed.waitForEnd() == .exited(0))
    }

    @Test(
        "delays clients that need the ledger at a stop for 5 s, and the stop timeout is extended",
        .timeLimit(.minutes(30)))
    func stopWithLedger() throws {
        let bed = DaemonOnDisk(seed: 9)
        try bed.start()
        let client = try bed.installation.injectClient()
        let stall = bed.disk.hold(.writes(of: "ledger.db"))
        let line = Requests.deliver(id: "a", waits: false)
        #expect(try client.ask(line).isAccepted)
        try client.send(line: line)
        let daemon = try #require(bed.daemon)
        // The reply to a later request proves that the daemon has read this one.
        #expect(try bed.installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
        daemon.send(SIGTERM)
        try daemon.waitForNotification("EXTEND_TIMEOUT_USEC=30000000")
        stall.end()
        // The extension comes about 5 s after the signal.
        let reply = try client.next()
        #expect(reply.isAccepted || reply.errorCode == "unavailable", "\(reply)")
        #expect(try bed.waitForEnd() == .exited(0))
    }

    @Test(
        "lets an idempotent program start beside the write, and no other; a crash takes the request back, and its number",
        .timeLimit(.minutes(30)))
    func earlyStart() throws {
        let bed = DaemonOnDisk(seed: 10)
        let installation = bed.installation
        let started = Messages(installation.root + "/started")
        let script = "echo $PUSH_SEQ >>$ROOT/started"
        installation.addJob("again", script, handler: "Idempotent=yes")
        installation.addJob("once", script)
        try bed.start()
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "again")).outcome == "handled")
        #expect(try started.next() == "1")

        let stall = bed.disk.hold(.writes(of: "segment-"))
        try client.send(line: Requests.deliver(job: "again"))
        #expect(try started.next() == "2")
        try client.send(line: Requests.deliver(job: "once"))
        try client.send(line: Requests.deliver(job: "again"))
        #expect(try started.next() == "4", "3 waits for the disk")
        #expect(throws: ClientError.self) { try client.receiveLine(timeoutMilliseconds: 0) }
        stall.end()
        #expect(try started.next() == "3")
        let lines = try (0..<6).map { _ in try client.next() }
        #expect(lines.count(where: \.isAccepted) == 3 && lines.count { $0.outcome == "handled" } == 3, "\(lines)")
        for seq in [2, 3, 4] as [Int64] {
            let (reply, end) = (lines.firstIndex { $0.seq == seq }, lines.lastIndex { $0.seq == seq })
            #expect(try lines[#require(reply)].isAccepted && lines[#require(end)].outcome == "handled", "\(lines)")
        }

        let held = bed.disk.hold(.writes(of: "segment-"))
        let line = Requests.deliver(job: "again", id: "a")
        try client.send(line: line)
        #expect(try started.next() == "5")
        bed.crash()
        held.end()
        #expect(try client.isAtEnd())
        try bed.start()
        #expect(try installation.ledgerRows()[InvocationID(seq: SequenceNumber(5), n: 0)] == nil)
        let end = try installation.injectClient().outcome(of: line)
        #expect(end.seq == 1005 && end.outcome == "handled", "5 was the number of a request that no longer exists")
        #expect(try started.next() == "1005")
        #expect(try bed.stop() == .exited(0))
    }

    private func waitForEntry(_ text: String, in bed: DaemonOnDisk) throws {
        try waitUntil("the journal says: \(text)") { bed.daemon?.standardError.contains(text) == true }
    }

    /// Returns whether the disk is slow, according to the status and to the metrics.
    private func isSlow(_ bed: DaemonOnDisk) throws -> [Bool] {
        let status = try DaemonStatus(of: bed.installation)["store"]?["is_slow"]?.bool
        let metrics = pushctl.run(["--runtime", bed.installation.runtime, "status", "--format", "openmetrics"]).lines
        return [status == true, metrics.contains("pushrouterd_disk_slow 1")]
    }
}

extension String {
    /// Returns the number of occurrences of a text.
    fileprivate func components(of text: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
