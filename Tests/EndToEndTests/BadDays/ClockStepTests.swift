import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("A start with the clock 40 days ahead", .timeLimit(.minutes(30)))
struct ClockAheadTests {
    private static let days = 40 * 86_400

    private func braze(_ number: Int) -> String {
        Requests.braze(message: "0:\(number)", id: "id\(number)", device: "d\(number)")
    }

    /// Advances the clock by more than a minute: a start prunes a minute later.
    private func prune(_ bed: DaemonOnDisk, untilIt does: String, _ isDone: (String) throws -> Bool) throws {
        bed.disk.clockOffset += 70
        try waitUntil(does) {
            _ = try DaemonStatus(of: bed.installation)
            return try isDone(bed.daemon?.standardError ?? "")
        }
    }

    @Test("deletes and forgets nothing by age, nor does the next start; for an hour")
    func starts() throws {
        let bed = DaemonOnDisk("[Dispatch]\nMode=relay\n", seed: 14)
        bed.installation.addJob("fails", "exit 1")
        try bed.start()
        let client = try bed.installation.injectClient()
        for number in 1...3 {
            #expect(try client.outcome(of: braze(number)).outcome == "handed_to_tracker")
        }
        #expect(try client.outcome(of: Requests.deliver(job: "fails")).outcome == "failed")
        #expect(try bed.stop() == .exited(0))

        bed.disk.wallOffset = Self.days
        let words = "at the start the clock was 40 days later than the ledger's last sign of life"
        for start in 1...2 {
            try bed.start()
            try prune(bed, untilIt: "the journal says: \(words)") { $0.contains(words) }
            let client = try bed.installation.injectClient()
            let open = Requests.open(#""device":"d\#(start)","message":\#(start)"#)
            #expect(try client.outcome(of: open).reason == "direct open of delivery \(start)")
            #expect(try client.ask(braze(3)).seq == 3, "its id is known")
            let reader = try LedgerReader(directory: bed.installation.state)
            #expect(try reader.acceptedRequests() >= 4 && reader.story(of: SequenceNumber(4))?.deadLetters.count == 1)
            bed.crash()
        }

        try bed.start()
        bed.disk.clockOffset += 3600
        #expect(try bed.installation.injectClient().ask(braze(9)).isAccepted)
        try prune(bed, untilIt: "what is old is gone an hour later") { _ in
            try DaemonStatus(of: bed.installation).number("deliveries_tracked") == 1
                && LedgerReader(directory: bed.installation.state).story(of: SequenceNumber(3)) == nil
        }
        #expect(try bed.stop() == .exited(0))
    }
}

@Suite("A clock that is set by a year")
struct ClockStepTests {
    private static let year = 365 * 86_400

    @Test(
        "ahead or back moves no deadline, refuses nothing, and deletes nothing", .timeLimit(.minutes(30)),
        arguments: [1, -1])
    func step(direction: Int) throws {
        let bed = DaemonOnDisk("[Store]\nRetention=30d\n", seed: 13)
        let started = Messages(bed.installation.root + "/started")
        bed.installation.addJob("hangs", "echo >$ROOT/started; exec sleep 600", route: "Deadline=5s")
        try bed.start()
        let client = try bed.installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver()).outcome == "handled")
        #expect(try client.ask(Requests.deliver(job: "hangs")).isAccepted)
        _ = try started.next()
        bed.disk.wallOffset = direction * Self.year
        // Any request wakes the loop, which then reads the clock.
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
        let late = try client.next()
        #expect(late.outcome == "timed_out" && late.totalMilliseconds >= 5000, "\(late)")
        #expect(late.totalMilliseconds < 60_000, "\(late)")

        // The hour of pruning comes on the monotonic clock, which nobody can set.
        bed.disk.clockOffset += 7200
        let words = "the clock was set \(direction > 0 ? "ahead" : "back") by 365 days"
        try waitUntil("the journal says: \(words)") {
            _ = try DaemonStatus(of: bed.installation)
            return bed.daemon?.standardError.contains(words) == true
        }
        #expect(try LedgerReader(directory: bed.installation.state).acceptedRequests() == 3)
        #expect(try client.outcome(of: Requests.deliver()).outcome == "handled")

        // The clock is right again; then a crash.
        bed.disk.wallOffset = 0
        #expect(try client.outcome(of: Requests.deliver()).outcome == "handled")
        bed.crash()
        try bed.start()
        let reply = try bed.installation.injectClient().ask(Requests.deliver(waits: false))
        // The routes of the disk's requests have an idempotent handler, so each start leaves out 1,000 numbers.
        #expect(reply.seq == 1006, "\(reply)")
        #expect(try bed.stop() == .exited(0))
    }

    @Test("to a year beyond 64 bits of nanoseconds ends neither the daemon nor pushctl", .timeLimit(.minutes(30)))
    func farAhead() throws {
        let bed = DaemonOnDisk(seed: 15)
        bed.disk.wallOffset = 400 * Self.year
        try bed.start()
        #expect(try bed.installation.injectClient().outcome(of: Requests.deliver()).outcome == "handled")
        let environment = bed.disk.environment.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        let report = pushctl.run(
            ["report", "--state", bed.installation.state, "--runtime", bed.installation.runtime],
            environment: Dictionary(uniqueKeysWithValues: environment.map { ($0[0], $0[1]) }))
        #expect(report.end == .exited(0) && report.output.contains("1 accepted"), "\(report.errors)")
        #expect(try bed.stop() == .exited(0))
    }
}
