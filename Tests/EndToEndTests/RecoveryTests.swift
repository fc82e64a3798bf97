import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("After kill -9", .timeLimit(.minutes(30)))
struct RecoveryTests {
    private let installation = Installation()

    @Test("a running handler's process tree ends before the next daemon is ready; it failed, and does not run again")
    func notIdempotent() throws {
        let messages = Messages(installation.root + "/processes")
        let linger = "echo \\$\\$ >>$ROOT/processes; while :; do sleep 60; done"
        installation.addJob(
            "job",
            """
            echo $PUSH_SEQ >>$ROOT/runs
            trap '' TERM
            echo $$ >>$ROOT/processes
            sh -c "\(linger)" &
            (setsid sh -c "\(linger)" &)
            while :; do sleep 60; done
            """)
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "job", id: "a")).seq == 1)
        let started = try messages.processes(3)
        daemon.crash()
        #expect(try client.isAtEnd())

        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        #expect(!started.contains(where: isAlive), "something of the handler is alive")
        let line = try installation.injectClient().outcome(of: Requests.deliver(job: "job", id: "a"))
        #expect(line.seq == 1 && line.outcome == "failed" && line.reason == "daemon_crashed", "\(line)")
        #expect(readFile(installation.root + "/runs") == Array("1\n".utf8))
    }

    @Test("an idempotent handler runs again with the rest of its time")
    func idempotent() throws {
        let gate = Messages(installation.root + "/gate")
        let messages = Messages(installation.root + "/started")
        installation.addJob(
            "job", "echo $PUSH_DEADLINE_REMAINING_MS >>$ROOT/started; read line <$ROOT/gate", handler: "Idempotent=yes")
        let daemon = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(Requests.deliver(job: "job", id: "a")).seq == 1)
        let before = try #require(Int(try messages.next()))
        daemon.crash()
        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        let after = try #require(Int(try messages.next()))
        #expect(after > 0 && after < before, "\(after) ms of \(before) are left")
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "job", id: "a")).seq == 1)
        gate.send()
        #expect(try client.next().outcome == "handled")
    }

    @Test("invocations that waited in a lane continue in order, Braze's too")
    func waitingInLane() throws {
        let started = Messages(installation.root + "/started")
        installation.addJob("slow", "echo >>$ROOT/started; exec sleep 60")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "slow", device: "d", waits: false)).seq == 1)
        #expect(try client.ask(Requests.deliver(device: "d", waits: false)).seq == 2)
        #expect(try client.ask(Requests.braze(message: "m", device: "d", waits: false)).seq == 3)
        _ = try started.next()
        daemon.crash()
        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        try installation.waitUntilIdle()
        let results = try [1, 2, 3].map { try installation.result(ofRequest: $0) }
        #expect(results.map(\.outcome) == [.failed, .handled, .handedToTracker])
        #expect(results[0].decidedAt <= results[1].decidedAt && results[1].decidedAt <= results[2].decidedAt)
        // The tracker knows the delivery that it took after the crash.
        let tap = Requests.open(#""message":3,"device":"d""#)
        #expect(try installation.injectClient().outcome(of: tap).reason == "direct open of delivery 3")
    }

    @Test("invocations that waited for a place get it, once")
    func waitingForPlace() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nHandlersMax=1\n")
        let gate = Messages(installation.root + "/gate")
        let started = Messages(installation.root + "/started")
        installation.addJob("job", "echo $PUSH_SEQ | tee -a $ROOT/runs >>$ROOT/started; read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for seq in 1...3 { #expect(try client.ask(Requests.deliver(job: "job", waits: false)).seq == Int64(seq)) }
        #expect(try started.next() == "1")
        daemon.crash()
        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        gate.send(times: 2)
        try installation.waitUntilIdle()
        #expect(try [1, 2, 3].map { try installation.result(ofRequest: $0).outcome } == [.failed, .handled, .handled])
        #expect(readFile(installation.root + "/runs") == Array("1\n2\n3\n".utf8))
    }

    @Test("invocations whose deadline passed without a daemon are expired and never run")
    func expired() throws {
        let bed = DaemonOnDisk(seed: 21)
        let started = Messages(bed.installation.root + "/started")
        bed.installation.addJob(
            "job", "echo $PUSH_SEQ >>$ROOT/runs; echo >>$ROOT/started; exec sleep 60", handler: "Idempotent=yes")
        try bed.start()
        #expect(try bed.installation.injectClient().ask(Requests.deliver(job: "job", id: "a")).seq == 1)
        _ = try started.next()
        bed.crash()
        // The time passes without a daemon.
        bed.disk.clockOffset += 10
        try bed.start()
        let line = try bed.installation.injectClient().outcome(of: Requests.deliver(job: "job", id: "a"))
        #expect(line.outcome == "expired" && line.reason == "daemon_down", "\(line)")
        #expect(line.totalMilliseconds >= 9000)
        #expect(readFile(bed.installation.root + "/runs") == Array("1\n".utf8))
    }

    @Test("a callback with a completion handler that expired without a daemon is a gap of the report like any other")
    func expiredWithCompletionHandler() throws {
        let bed = DaemonOnDisk(seed: 22)
        let started = Messages(bed.installation.root + "/started")
        bed.installation.addJob("job", "echo >>$ROOT/started; exec sleep 60", handler: "Idempotent=yes")
        try bed.start()
        let silent = #""platform":"ios","payload":{"aps":{"content-available":1},"job":"job"}"#
        #expect(try bed.installation.injectClient().ask(Requests.deliver(silent, waits: false)).seq == 1)
        _ = try started.next()
        bed.crash()
        bed.disk.clockOffset += 60
        try bed.start()
        let report = pushctl.run([
            "report", "--format", "json", "--state", bed.installation.state, "--config", shippedConfiguration,
        ]).output
        #expect(report.contains(#""gaps":[{"kind":"daemon_down","count":1,"#), "\(report)")
    }

    @Test("a request in the middle of a retry is tried again")
    func retrying() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\nRetryDelay=1s\n")
        let started = Messages(installation.root + "/started")
        // Fails until the first daemon has ended.
        installation.addJob("job", "echo >>$ROOT/started; test -e $ROOT/second || exit 75")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "job", id: "a")).seq == 1)
        _ = try started.next()
        try waitUntil("the ledger knows that the handler has ended without an outcome") {
            let row = try installation.ledgerRows()[InvocationID(seq: SequenceNumber(1), n: 0)]
            return try DaemonStatus(of: installation).number("handler_processes") == 0
                && row?.started == false
        }
        #expect(try DaemonStatus(of: installation).number("requests_in_flight") == 1)
        daemon.crash()
        writeFile("", to: installation.root + "/second")
        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        let line = try installation.injectClient().outcome(of: Requests.deliver(job: "job", id: "a"))
        #expect(line.outcome == "handled", "\(line)")
    }
}
