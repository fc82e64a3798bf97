import PushModel
import Store
import TestSupport
import Testing
import UnixSockets

@Suite("A clock that is set by a year")
struct ClockStepTests {
    private static let year = 365 * 86_400

    @Test(
        "ahead or back moves no deadline, refuses nothing, and deletes nothing", .timeLimit(.minutes(30)),
        arguments: [1, -1])
    func step(direction: Int) throws {
        let bed = DaemonOnDisk("[Store]\nRetention=30d\n", seed: 13)
        let started = Messages(bed.installation.root + "/started")
        bed.installation.addJob("hangs", "echo >$ROOT/started; exec sleep 600", route: "Deadline=2s")
        try bed.start()
        let client = try bed.installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver()).outcome == "handled")
        #expect(try client.ask(Requests.deliver(job: "hangs")).isAccepted)
        _ = try started.next()
        bed.disk.wallOffset = direction * Self.year
        // Any request wakes the loop, which then sees what time it is.
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
        let late = try client.next()
        #expect(late.outcome == "timed_out" && late.totalMilliseconds >= 2000, "\(late)")
        #expect(late.totalMilliseconds < 60_000, "\(late)")

        // The hour of pruning comes, by the clock that nobody can set.
        bed.disk.clockOffset += 7200
        let words = "the clock was set \(direction > 0 ? "ahead" : "back") by 365 days"
        try waitUntil("the journal says: \(words)") {
            _ = try DaemonStatus(of: bed.installation)
            return bed.daemon?.standardError.contains(words) == true
        }
        #expect(try LedgerReader(directory: bed.installation.state).acceptedRequests() == 3)
        #expect(try client.outcome(of: Requests.deliver()).outcome == "handled")

        // Set right again, and through a crash.
        bed.disk.wallOffset = 0
        #expect(try client.outcome(of: Requests.deliver()).outcome == "handled")
        bed.crash()
        try bed.start()
        #expect(try bed.installation.injectClient().ask(Requests.deliver(waits: false)).seq == 6)
        #expect(try bed.stop() == .exited(0))
    }
}
