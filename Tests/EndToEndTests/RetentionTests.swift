import Glibc
import PushModel
import Store
import TestSupport
import Testing
import UnixSockets

@Suite("Retention")
struct RetentionTests {
    @Test("deletes what is too old a minute after the start and again an hour later", .timeLimit(.minutes(30)))
    func interval() throws {
        let bed = DaemonOnDisk("[Store]\nRetention=1h\n", seed: 12)
        try bed.start()
        for round in 1...2 {
            let client = try bed.installation.injectClient()
            for _ in 0..<5 { #expect(try client.ask(Requests.deliver(waits: false)).isAccepted) }
            try bed.installation.waitUntilIdle()
            bed.disk.clockOffset += 7200
            // Any client wakes the daemon, which then sees what time it is.
            _ = try DaemonStatus(of: bed.installation)
            try waitUntil("round \(round) is gone") {
                _ = try DaemonStatus(of: bed.installation)
                return try LedgerReader(directory: bed.installation.state).acceptedRequests() == 0
            }
        }
        #expect(bed.daemon?.standardError.contains("5 requests were older than Retention= and deleted") == true)
        #expect(try bed.stop() == .exited(0))
    }
}
