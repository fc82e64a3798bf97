import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("At the deadline", .timeLimit(.minutes(30)))
struct DeadlineTests {
    @Test("a handler that ignores SIGTERM is killed with all its descendants, whatever they did to escape")
    func hostileHandler() throws {
        let installation = Installation()
        let messages = Messages(installation.root + "/processes")
        installation.addJob("hostile", hostileScript(tellingTo: "$ROOT/processes"), route: "Deadline=4s")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "hostile")).isAccepted)
        let started = try messages.processes(hostileProcesses)
        #expect(started.allSatisfy(isAlive), "none goes before the deadline")

        let line = try client.next()
        #expect(line.outcome == "timed_out" && line.reason == "not finished at the deadline", "\(line)")
        #expect(line.totalMilliseconds >= 4000 && line.totalMilliseconds < 9000, "\(line)")
        #expect(line.executionMilliseconds > 0 && line.executionMilliseconds <= line.totalMilliseconds)
        try waitUntil("all of them are gone") { !started.contains(where: isAlive) }
        try waitUntil("the daemon has reaped them") { children(of: daemon.processID).isEmpty }
        #expect(try DaemonStatus(of: installation).number("handler_processes") == 0)
    }

    @Test("many hostile handlers at once leave no orphan")
    func noOrphans() throws {
        let installation = Installation()
        installation.addJob("hostile", hostileScript(tellingTo: "$ROOT/list"), route: "Deadline=1s")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let together = 24
        for _ in 0..<rounds {
            for _ in 0..<together { try client.send(line: Requests.deliver(job: "hostile")) }
            var outcomes: [String] = []
            while outcomes.count < together {
                if let outcome = try client.next().outcome { outcomes.append(outcome) }
            }
            #expect(outcomes.allSatisfy { ["timed_out", "expired"].contains($0) }, "\(outcomes)")
            let list = String(decoding: readFile(installation.root + "/list") ?? [], as: UTF8.self)
            unlink(installation.root + "/list")
            let started = list.split(separator: "\n").compactMap { Int32($0) }
            #expect(!started.isEmpty)
            try waitUntil("all of them are gone") { !started.contains(where: isAlive) }
        }
        try waitUntil("the daemon has no children") { children(of: daemon.processID).isEmpty }
        #expect(processes(withEnvironment: "PUSH_RUN=\(try installation.stateIdentity())") == [])
    }

    @Test(
        "a grace begins with SIGTERM: a handler that exits counts by its exit code, one that the signal kills is late",
        arguments: [
            (script: "trap 'exit 0' TERM; echo >$ROOT/ready; while :; do sleep 0.01; done", outcome: "handled"),
            (script: "trap 'exit 3' TERM; echo >$ROOT/ready; while :; do sleep 0.01; done", outcome: "failed"),
            (script: "echo >$ROOT/ready; exec sleep 60", outcome: "timed_out"),
            (script: "trap '' TERM; echo >$ROOT/ready; while :; do sleep 1; done", outcome: "timed_out"),
        ])
    func grace(case handler: (script: String, outcome: String)) throws {
        let installation = Installation()
        let ready = Messages(installation.root + "/ready")
        installation.addJob("job", handler.script, handler: "Grace=3s", route: "Deadline=6s")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "job")).isAccepted)
        _ = try ready.next()
        let line = try client.next()
        #expect(line.outcome == handler.outcome, "\(line)")
        #expect(line.totalMilliseconds >= 3000, "SIGTERM came before the grace: \(line)")
        if handler.script.hasPrefix("trap ''") {
            #expect(line.totalMilliseconds >= 6000, "killed before the deadline: \(line)")
        } else {
            #expect(line.totalMilliseconds < 6000, "no SIGTERM: \(line)")
        }
    }

    @Test("of 300 slow handlers at once 64 run; the others wait for a place and expire")
    func placesToRun() throws {
        let installation = Installation("[Dispatch]\nHandlersMax=64\n")
        installation.addJob("slow", "exec sleep 60", route: "Deadline=5s")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let count = 300
        for _ in 0..<count { try client.send(line: Requests.deliver(job: "slow")) }
        var outcomes: [Line] = []
        while outcomes.count < count {
            let line = try client.next()
            if line.outcome != nil { outcomes.append(line) }
        }
        #expect(outcomes.allSatisfy { $0.totalMilliseconds >= 5000 })
        let timedOut = outcomes.count { $0.outcome == "timed_out" }
        let expired = outcomes.count { $0.outcome == "expired" && $0.executionMilliseconds == 0 }
        #expect(timedOut >= 64 && expired > 0 && timedOut + expired == count, "\(timedOut) ran, \(expired) expired")
        #expect(try mostAtOnce(Array(installation.ledgerRows().values)) <= 64)
    }

    /// Returns the largest number of handlers that ran at the same time.
    private func mostAtOnce(_ invocations: [InvocationRecord]) -> Int {
        var changes: [(at: Duration, by: Int)] = []
        for invocation in invocations {
            // All share one boot; the deadline minus the budget is the time of acceptance.
            guard let result = invocation.result, result.exec > .zero, let deadline = invocation.deadline else {
                continue
            }
            let accepted = Duration.nanoseconds(deadline.nanoseconds) - invocation.budget
            changes += [(accepted + result.queue, 1), (accepted + result.queue + result.exec, -1)]
        }
        var running = 0
        return changes.sorted { ($0.at, $0.by) < ($1.at, $1.by) }.map { change in
            running += change.by
            return running
        }.max() ?? 0
    }

    @Test("in device mode a delivery behind a slow one in its lane has its whole budget from its turn on")
    func lane() throws {
        let installation = Installation()
        let gate = Messages(installation.root + "/gate")
        installation.addJob("slow", "read line <$ROOT/gate", route: "Deadline=3s")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for _ in 0..<2 { #expect(try client.ask(Requests.deliver(job: "slow", device: "d")).isAccepted) }
        #expect(try client.ask(Requests.braze(message: "m", device: "d")).isAccepted)
        #expect(try client.ask(Requests.deliver(device: "other")).isAccepted)
        let elsewhere = try client.next()
        #expect(elsewhere.seq == 4 && elsewhere.outcome == "handled", "another device's lane is free: \(elsewhere)")

        let first = try client.next()
        #expect(first.seq == 1 && first.outcome == "timed_out", "\(first)")
        gate.send()
        let second = try client.next()
        #expect(second.seq == 2 && second.outcome == "handled", "\(second)")
        let third = try client.next()
        #expect(third.seq == 3 && third.outcome == "handed_to_tracker", "\(third)")
        let rows = try installation.ledgerRows()
        let deadlines = try [1, 2].map { seq in
            try #require(rows[InvocationID(seq: SequenceNumber(seq), n: 0)]?.deadline)
        }
        #expect(deadlines[1] - deadlines[0] >= .seconds(3), "its time began before its turn")
    }

    @Test("in relay mode the time in the lane counts, and Braze does not wait there")
    func relayLane() throws {
        let installation = Installation("[Dispatch]\nMode=relay\n")
        installation.addJob("slow", "exec sleep 60", route: "Deadline=3s")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for _ in 0..<2 { #expect(try client.ask(Requests.deliver(job: "slow", device: "d")).isAccepted) }
        #expect(try client.ask(Requests.braze(message: "m", device: "d")).isAccepted)
        #expect(try client.next().outcome == "handed_to_tracker")
        let lines = [try client.next(), try client.next()]
        // The second one had the rest of the three seconds that the first one left.
        #expect(lines.allSatisfy { $0.totalMilliseconds >= 3000 && $0.totalMilliseconds < 5900 }, "\(lines)")
        #expect(lines[0].outcome == "timed_out" && ["timed_out", "expired"].contains(lines[1].outcome), "\(lines)")
    }
}

/// The number of processes that the script starts, itself included.
private let hostileProcesses = 5

/// Returns a script that ignores SIGTERM, with descendants that do so too: one in its group, one in a session of its
/// own, one that double-forks, and one that double-forks with an empty environment. Each writes its process id to
/// `file`.
private func hostileScript(tellingTo file: String) -> String {
    """
    trap '' TERM
    echo $$ >>\(file)
    linger='echo $$ >>$0; while :; do sleep 60; done'
    sh -c "$linger" \(file) &
    setsid sh -c "$linger" \(file) &
    (setsid sh -c "$linger" \(file) &)
    (env -i setsid /bin/sh -c "$linger" \(file) &)
    while :; do sleep 60; done
    """
}
