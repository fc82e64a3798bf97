import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("The daemon's life", .timeLimit(.minutes(30)))
struct LifecycleTests {
    private let installation = Installation()

    @Test("it is ready when both sockets answer, and control.sock is there before inject.sock")
    func readiness() throws {
        mkdir(installation.runtime, 0o755)
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        defer { close(watch) }
        try #require(inotify_add_watch(watch, installation.runtime, UInt32(IN_MOVED_TO)) >= 0)
        let daemon = try DaemonProcess.ready(installation)
        #expect(daemon.messages.last?.first == "READY=1")
        #expect(daemon.messages.last?.last == "STATUS=device mode, 1 route")
        #expect(try DaemonStatus(of: installation)["state"]?.string == "running")
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)

        var events = [UInt8](repeating: 0, count: 4096)
        let count = read(watch, &events, events.count)
        let text = String(decoding: events[..<max(count, 0)], as: UTF8.self)
        let names = text.split(separator: "\0").map(String.init).filter { $0.hasSuffix(".sock") }
        #expect(names == ["control.sock", "read.sock", "inject.sock"])
    }

    @Test("a start after a clean stop syncs nothing of a complete ledger but the note that a log is in use")
    func startBehindStop() throws {
        let bed = DaemonOnDisk(seed: 22)
        try bed.start()
        #expect(try bed.installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
        #expect(try bed.stop() == .exited(0))
        let syncs = bed.disk.count(.syncs(of: "ledger.db"))
        try bed.start()
        // The note is the first row of a WAL, whose header SQLite syncs, and is on the disk before the first reply.
        #expect(syncs.matched == 2)
    }

    @Test("SIGTERM lets running handlers finish, answers waiting clients, and exits 0; the next start does the rest")
    func stops() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nHandlersMax=1\n")
        let gate = Messages(installation.root + "/gate")
        let started = Messages(installation.root + "/started")
        installation.addJob("job", "echo >>$ROOT/started; read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for seq in 1...2 { #expect(try client.ask(Requests.deliver(job: "job", id: "\(seq)")).seq == Int64(seq)) }
        _ = try started.next()
        daemon.send(SIGTERM)
        try daemon.waitForNotification("STOPPING=1")
        try waitUntil("nobody can connect any more") { access(installation.injectSocket, F_OK) != 0 }
        gate.send()
        let line = try client.next()
        #expect(line.seq == 1 && line.outcome == "handled", "\(line)")
        #expect(try client.isAtEnd())
        #expect(try daemon.waitForEnd() == .exited(0))
        #expect(daemon.end == .exited(0))

        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        let again = try installation.injectClient()
        #expect(try again.ask(Requests.deliver(job: "job", id: "2")).seq == 2)
        gate.send()
        #expect(try again.next().outcome == "handled")
    }

    @Test("SIGTERM waits no longer than the deadlines")
    func stopsAtDeadline() throws {
        let started = Messages(installation.root + "/started")
        installation.addJob(
            "job", "trap '' TERM; echo $$ >>$ROOT/started; while :; do sleep 60; done", route: "Deadline=3s")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "job")).isAccepted)
        let process = try started.processes(1)[0]
        daemon.send(SIGTERM)
        #expect(try client.next().outcome == "timed_out")
        #expect(try daemon.waitForEnd() == .exited(0))
        #expect(!isAlive(process))
    }

    @Test("SIGTERM waits briefly for a client with unread replies, and no longer")
    func unread() throws {
        let installation = Installation("[Daemon]\nWriteTimeout=1d\n")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        _ = fcntl(client.descriptor, F_SETFL, fcntl(client.descriptor, F_GETFL) | O_NONBLOCK)
        let lines = [UInt8](String(repeating: "7\n", count: 20_000).utf8)
        try waitUntil("it is owed more than the socket takes") {
            _ = lines.withUnsafeBytes { send(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            return (try DaemonStatus(of: installation)["clients"]?["output_bytes"]?.int64 ?? 0) > 100_000
        }
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("SIGTERM ends an idle daemon at once and removes its sockets")
    func stopsIdle() throws {
        let daemon = try DaemonProcess.ready(installation)
        let idle = try installation.injectClient()
        #expect(try daemon.stop() == .exited(0))
        #expect(try idle.isAtEnd())
        #expect(access(installation.injectSocket, F_OK) != 0 && access(installation.controlSocket, F_OK) != 0)
        #expect(daemon.messages.contains { $0.first == "STOPPING=1" })
    }

    @Test("SIGHUP with a faulty file keeps the configuration and names the fault; with correct files it takes effect")
    func reloads() throws {
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        installation.addHandler("fail", "Exec=/bin/false")
        installation.addRoute("10-fail", to: "fail", route: "Deadline=10s")
        installation.write("routes.d/05-first.route", "[Matsh]\n[Route]\nHandler=fail\n")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("STATUS=reload failed, still as before: device mode, 1 route")
        #expect(try client.outcome(of: Requests.deliver()).outcome == "handled")
        let problem = try DaemonStatus(of: installation)["configuration_problem"]?.string
        #expect(
            problem?.hasPrefix("\(installation.configuration)/routes.d/10-fail.route:5: ") == true, "\(problem ?? "")")
        // A separate thread writes the journal.
        try waitUntil("the journal says it") {
            daemon.standardError.contains("level=error message=\"reload refused, still as before: device mode, 1 route")
        }
        let first = installation.configuration + "/routes.d/05-first.route"
        #expect(daemon.standardError.contains("level=warning message=\"\(first):1: "))
        unlink(first)

        installation.addRoute("10-fail", to: "fail")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("STATUS=device mode, 2 routes")
        #expect(daemon.messages.compactMap(\.first).filter { $0 != "READY=1" } == ["RELOADING=1", "RELOADING=1"])
        #expect(try client.outcome(of: Requests.deliver()).outcome == "failed")
        #expect(try DaemonStatus(of: installation)["configuration_problem"]?.kind == .null)
        #expect(threads(of: daemon.processID, named: "configuration").count == 1, "the loop reads no file")
    }

    @Test("pushctl reload waits for the daemon's result, and status has the error")
    func asked() throws {
        let daemon = try DaemonProcess.ready(installation)
        installation.write("routes.d/05-first.route", "[Route]\nHandler=\n")
        func reload(_ options: String...) -> Program.Result {
            pushctl.run(["reload", "--runtime", installation.runtime] + options)
        }
        let wrong = reload()
        #expect(wrong.end == .exited(78))
        #expect(wrong.errors.contains("05-first.route: error: "), "\(wrong.errors)")
        #expect(wrong.errors.hasSuffix("not reloaded: the previous configuration stays in force\n"))
        let silent = reload("--quiet")
        #expect(silent.end == .exited(78) && silent.output + silent.errors == "", "the daemon's journal has it")
        #expect(try DaemonStatus(of: installation)["configuration_problem"]?.string?.contains("05-first.route") == true)
        let metrics = pushctl.run(
            ["status", "--format", "prometheus", "--runtime", installation.runtime]
        ).output
        #expect(metrics.contains("pushrouterd_configuration_problem 1"))

        unlink(installation.configuration + "/routes.d/05-first.route")
        installation.addRoute("10-more", to: "journal")
        let right = reload()
        #expect(right.end == .exited(0) && right.output.hasPrefix("reloaded: 2 routes, "), "\(right.errors)")
        #expect(try DaemonStatus(of: installation)["routes"]?.int64 == 2)
        #expect(try DaemonStatus(of: installation)["configuration_problem"]?.kind == .null)
        #expect(daemon.messages.contains { $0.contains("STATUS=device mode, 2 routes") })

        installation.write("routes.d/20-typo.route", "[Match]\nDta=order_id\n[Route]\nHandler=journal\n")
        let warned = reload()
        #expect(warned.end == .exited(0) && warned.output.hasPrefix("reloaded: 3 routes, "))
        #expect(warned.errors.contains("20-typo.route:2: warning: "), "a key that is no condition widens the route")
    }

    @Test("the daemon reports the rights that its service gives to handlers")
    func sandbox() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let sandbox = try #require(try DaemonStatus(of: installation)["sandbox"])
        let names = [
            "change_user", "internet_sockets", "interfaces", "writable_code", "private_tmp", "hidden_homes",
            "read_only_root", "session_bus",
        ]
        #expect(sandbox.members.map(\.key) == names)
        #expect(sandbox["change_user"]?.bool == (geteuid() == 0))
        #expect(sandbox["internet_sockets"]?.bool == true && sandbox["writable_code"]?.bool == true)
        let told = daemon.standardError.split(separator: "\n").filter { $0.contains("have no cgroups of their own") }
        #expect(told.allSatisfy { $0.contains("level=debug ") }, "status has that: it is no news")
    }

    @Test("a configuration that is missing at a reload leaves the previous one in force", arguments: [false, true])
    func configurationGone(isDirectoryGone: Bool) throws {
        installation.addHandler("fail", "Exec=/bin/false")
        installation.addRoute("10-fail", to: "fail")
        let daemon = DaemonProcess(
            installation, arguments: [],
            environment: [
                "CONFIGURATION_DIRECTORY=\(installation.configuration)", "STATE_DIRECTORY=\(installation.state)",
                "RUNTIME_DIRECTORY=\(installation.runtime)",
            ])
        try daemon.waitForNotification("READY=1")
        rename(installation.configuration, installation.root + "/elsewhere")
        if !isDirectoryGone { mkdir(installation.configuration, 0o755) }
        daemon.send(SIGHUP)
        try daemon.waitForNotification("STATUS=reload failed, still as before: device mode, 2 routes")
        #expect(try installation.injectClient().outcome(of: Requests.deliver()).outcome == "failed")
        let problem = try DaemonStatus(of: installation)["configuration_problem"]?.string ?? ""
        let expected = isDirectoryGone ? "No such file or directory" : "the configuration files are gone"
        #expect(problem.contains(expected), "\(problem)")
    }

    @Test("a reload does not affect invocations in flight")
    func reloadInFlight() throws {
        let gate = Messages(installation.root + "/gate")
        installation.addJob("job", "read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<2 { #expect(try client.ask(Requests.deliver(job: "job", device: "d")).isAccepted) }
        unlink("\(installation.configuration)/handlers.d/job.handler")
        unlink("\(installation.configuration)/routes.d/50-job.route")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        gate.send(times: 2)
        #expect(try [client.next(), client.next()].map(\.outcome) == ["handled", "handled"])
        #expect(try installation.ledgerRows().values.allSatisfy { $0.handler == "job" })
    }

    @Test("at its end hundreds of helpers that a handler daemonised have ended, too")
    func helpers() throws {
        let ready = Messages(installation.root + "/ready")
        installation.addJob(
            "many", "i=0; while [ $i -lt 400 ]; do (setsid sleep 600 &); i=$((i+1)); done; echo >$ROOT/ready; sleep 60",
            route: "Deadline=9s")
        let daemon = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(Requests.deliver(job: "many", waits: false)).isAccepted)
        _ = try ready.next()
        let mark = "PUSH_RUN=\(try installation.stateIdentity())"
        #expect(processes(withEnvironment: mark).count > 300, "helpers of a live run are left alone")
        #expect(try daemon.stop() == .exited(0))
        try waitUntil("all are gone") { processes(withEnvironment: mark).isEmpty }
    }

    @Test("the daemon notifies the service manager's watchdog")
    func watchdog() throws {
        let daemon = try DaemonProcess.ready(installation, environment: ["WATCHDOG_USEC=200000"])
        try daemon.waitForNotification("WATCHDOG=1", times: 3)
    }

    @Test("a start replaces the remains of a killed daemon: sockets and lock")
    func staleSockets() throws {
        let daemon = try DaemonProcess.ready(installation)
        daemon.crash()
        #expect(access(installation.injectSocket, F_OK) == 0)
        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
    }

    @Test("a daemon on a copy of the state directory leaves the handlers of the original alone")
    func copiedState() throws {
        let ready = Messages(installation.root + "/ready")
        let go = Messages(installation.root + "/go")
        installation.addJob("long", "echo >$ROOT/ready; read -r _ <$ROOT/go")
        #expect(try DaemonProcess.ready(installation).stop() == .exited(0))
        let copy = Installation()
        #expect(Program(path: "/bin/cp").run(["-a", installation.state, copy.state]).end == .exited(0))
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        try client.send(line: Requests.deliver(job: "long"))
        _ = try ready.next()
        let other = try DaemonProcess.ready(copy)
        let end = open(go.path, O_WRONLY)
        #expect(write(end, "\n", 1) == 1)
        close(end)
        var outcome: String?
        while outcome == nil { outcome = try client.next().outcome }
        #expect(outcome == "handled")
        withExtendedLifetime((daemon, other)) {}
    }
}
