import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("Retention")
struct RetentionTests {
    @Test(
        "deletes old requests a minute after the start and again an hour later, and their figures by their own age",
        .timeLimit(.minutes(30)))
    func interval() throws {
        let bed = DaemonOnDisk("[Store]\nRetention=1h\nFiguresRetention=3h\n", seed: 12)
        try bed.start()
        for round in 1...2 {
            let client = try bed.installation.injectClient()
            for _ in 0..<5 { #expect(try client.ask(Requests.deliver(waits: false)).isAccepted) }
            try bed.installation.waitUntilIdle()
            bed.disk.clockOffset += 7200
            // Any client wakes the daemon, which then reads the clock.
            _ = try DaemonStatus(of: bed.installation)
            try waitUntil("round \(round) is gone") {
                _ = try DaemonStatus(of: bed.installation)
                return try LedgerReader(directory: bed.installation.state).acceptedRequests() == 0
            }
            // Figures stay for three hours: in the second round those of the first are four hours old.
            let report = pushctl.run([
                "report", "--json", "--state", bed.installation.state, "--runtime", bed.installation.runtime,
            ])
            #expect(try json(report.output)["accepted"]?.int64 == 5, "round \(round): \(report.errors)")
        }
        try waitUntil("it says so") {
            bed.daemon?.standardError.contains("deleted 5 requests older than Retention=") == true
        }
        for command in ["report", "campaigns", "events"] {
            let told = pushctl.run(["--state", bed.installation.state, command, "--json"])
            #expect(try json(told.output)["rows_begin"]?.string?.hasSuffix("Z") == true, "\(command): \(told)")
        }
        #expect(try bed.stop() == .exited(0))
    }

    @Test("deletes the oldest requests beyond MaxSize=, says so, and frees the space", .timeLimit(.minutes(30)))
    func size() throws {
        let installation = Installation("[Store]\nMaxSize=64M\n")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let filler = String(repeating: "x", count: 200_000)
        let payload = #""platform":"android","payload":{"extras":{"k":"\#(filler)"}}"#
        let count: Int64 = 500
        for number in 1...count {
            #expect(try client.ask(Requests.deliver(payload, id: "r\(number)", waits: false)).isAccepted)
        }
        func store(_ key: String) throws -> Int64 {
            try #require(try DaemonStatus(of: installation)["store"]?[key]?.int64, "the status has no store.\(key)")
        }
        try waitUntil("the oldest are gone") {
            try store("pruned_by_size") > 0 && store("ledger_used_bytes") <= 64 << 20
        }
        try installation.waitUntilIdle()
        let reader = try LedgerReader(directory: installation.state)
        #expect(try reader.story(of: SequenceNumber(1)) == nil)
        #expect(try reader.story(of: SequenceNumber(count)) != nil)
        #expect(try reader.highestSequenceNumber() == SequenceNumber(count))
        try waitUntil("the space is given back") {
            var facts = stat()
            return stat(installation.state + "/ledger.db", &facts) == 0 && facts.st_size <= 72 << 20
        }
        #expect(try daemon.stop() == .exited(0))
        let reason = "deleted before Retention= was over: the ledger was larger than MaxSize="
        #expect(daemon.standardError.contains(reason))
    }
}
