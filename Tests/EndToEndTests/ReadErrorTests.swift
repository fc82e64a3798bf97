import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A read that fails")
struct ReadErrorTests {
    @Test(
        "at the start ends the daemon with 74 and loses nothing: the next start has all acknowledged requests",
        .timeLimit(.minutes(30)), arguments: ["log/segment-0001$", "ledger.db$"], [1, 2, 3])
    func start(file: String, first: Int) throws {
        let (bed, load) = (DaemonOnDisk(seed: UInt64(first)), DiskLoad("r", seed: UInt64(first)))
        try bed.start()
        try load.connect(to: bed.installation)
        try load.run(count: 80)
        bed.crash()
        try load.receiveLastReplies()
        // The ledger has synced nothing since its start, so the log is ahead of it.
        try bed.cutPower()

        let rule = bed.disk.fail(.reads(of: file), .from(first), error: EIO)
        let end = try bed.startUnlessItEnds()
        if rule.picked > 0 {
            #expect(end == .exited(74), "\(bed.lastWords)")
            // SQLite reports an unreadable page of its schema as a malformed database.
            let reasons = ["look for errors of the disk", "database disk image is malformed"]
            #expect(reasons.contains { bed.lastWords.contains($0) }, "\(bed.lastWords)")
            #expect(!names(in: bed.installation.state).contains { $0.hasPrefix("log.set-aside-") })
        } else {
            // SQLite reads a small file in one call.
            #expect(end == nil && file == "ledger.db$")
            bed.crash()
        }
        rule.end()
        try bed.start()
        #expect(try load.findLost(at: bed.installation) == [])
        try bed.installation.waitUntilIdle()
        try load.checkLedger(of: bed.installation)
        #expect(try bed.stop() == .exited(0))
    }

    @Test(
        "does not occur with an unfinished segment that ends within a block: the segment is removed",
        arguments: [512, 4096 + 512])
    func shortSegment(length: Int) throws {
        let bed = DaemonOnDisk(seed: 5)
        bed.disk.directAlignment = 4096
        try bed.start()
        #expect(try bed.stop() == .exited(0))
        let path = bed.installation.state + "/log/segment-0009"
        writeFile(String(repeating: "\0", count: length), to: path)
        try bed.disk.syncAll()
        try bed.start()
        #expect(access(path, F_OK) != 0)
        #expect(try bed.stop() == .exited(0))
    }

    @Test("once, of the ledger, is not reported to a client that repeats an id: the daemon reads again")
    func lookup() throws {
        let bed = DaemonOnDisk(seed: 7)
        try bed.start()
        let client = try bed.installation.injectClient()
        let first = try client.ask(Requests.deliver(id: "again", waits: false))
        #expect(first.isAccepted)
        try bed.installation.waitUntilIdle()
        try applyAll(of: bed)
        let rule = bed.disk.fail(.reads(of: "ledger.db"), .only(1), error: EIO)
        let again = try client.ask(Requests.deliver(id: "again", waits: false))
        #expect(again.isAccepted && again.seq == first.seq, "\(again)")
        #expect(rule.picked == 1)
        #expect(try bed.stop() == .exited(0))
    }

    @Test("repeatedly, of the ledger, refuses only clients that repeat an id, with retry")
    func lookupForLong() throws {
        let bed = DaemonOnDisk(seed: 8)
        try bed.start()
        let client = try bed.installation.injectClient()
        let first = try client.ask(Requests.deliver(id: "again", waits: false))
        try bed.installation.waitUntilIdle()
        try applyAll(of: bed)
        let rule = bed.disk.fail(.reads(of: "ledger.db"), .all, error: EIO)
        let refused = try client.ask(Requests.deliver(id: "again", waits: false))
        #expect(refused.errorCode == "unavailable" && refused["error"]?["retry"]?.bool == true, "\(refused)")
        rule.end()
        let again = try client.ask(Requests.deliver(id: "again", waits: false))
        #expect(again.isAccepted && again.seq == first.seq, "\(again)")
        #expect(try bed.stop() == .exited(0))
    }

    @Test(
        "during a report without a daemon ends it with 74, without a figure",
        arguments: ["log/segment-0001$", "ledger.db$"])
    func report(file: String) throws {
        let (bed, load) = (DaemonOnDisk(seed: 9), DiskLoad("r", seed: 9))
        try bed.start()
        try load.connect(to: bed.installation)
        try load.run(count: 80)
        bed.crash()
        try load.receiveLastReplies()
        let rule = bed.disk.fail(.reads(of: file), .all, error: EIO)
        let arguments = ["--state", bed.installation.state, "--runtime", bed.installation.runtime, "report"]
        let result = pushctl.run(arguments, environment: variables(of: bed.disk))
        #expect(result.end == .exited(74), "\(result)")
        #expect(result.output.isEmpty && rule.picked > 0, "\(result)")
        rule.end()
        #expect(pushctl.run(arguments).end == .exited(0))
    }

    /// Returns the variables that put a program on a disk.
    private func variables(of disk: FaultyDisk) -> [String: String] {
        let pairs = disk.environment.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
    }

    /// Makes the daemon bring its ledger up to date.
    private func applyAll(of bed: DaemonOnDisk) throws {
        let control = try Client(path: bed.installation.controlSocket)
        #expect(try control.ask(#"{"op":"sync","timeout_ms":10000}"#)["ok"]?.bool == true)
    }
}
