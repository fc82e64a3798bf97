import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A handler that fails", .timeLimit(.minutes(30)))
struct HandlerIsolationTests {
    private let installation = Installation()

    private func handler(_ name: String) throws -> JSONNode {
        try #require(try DaemonStatus(of: installation)["handlers"]?[name], "the status has no handler \(name)")
    }

    @Test("and hangs keeps only its own places and its own queue")
    func hangs() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nHandlersMax=3\n")
        let started = Messages(installation.root + "/started")
        installation.addJob("dead", "echo $$ >$ROOT/started; exec sleep 600", handler: "MaxConcurrent=2\nQueue=1")
        installation.addJob("good", "exit 0")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<2 { #expect(try client.ask(Requests.deliver(job: "dead", waits: false)).isAccepted) }
        let processes = try started.processes(2)
        #expect(try client.ask(Requests.deliver(job: "dead", waits: false)).isAccepted)
        let refused = try client.ask(Requests.deliver(job: "dead", id: "again", waits: false))
        #expect(refused.errorCode == "overloaded" && refused["error"]?["retry"]?.bool == true, "\(refused)")
        #expect((10...1000).contains(refused["error"]?["retry_after_ms"]?.int64 ?? 0), "\(refused)")
        for _ in 0..<20 { #expect(try client.outcome(of: Requests.deliver(job: "good")).outcome == "handled") }
        let dead = try handler("dead")
        for (key, value) in [("running", 2), ("waiting", 1), ("limit", 2), ("queue_limit", 1), ("refused", 1)] {
            #expect(dead[key]?.int64 == Int64(value), "\(key)")
        }
        #expect(processes.allSatisfy(isAlive), "the others waited for its end")
        daemon.crash()
        for process in processes { kill(process, SIGKILL) }
    }

    @Test("to be reaped, because a tracer has its end, takes no time from others, and ends at its deadline")
    func traced() throws {
        writeFile(
            """
            import ctypes, os, time
            process, (reading, writing) = os.getpid(), os.pipe()
            if os.fork() == 0:
                seized = ctypes.CDLL(None).ptrace(0x4206, process, 0, 0)  # PTRACE_SEIZE
                print(seized, file=open(os.environ["ROOT"] + "/traced", "w"), flush=True)
                os.write(writing, b".")
                time.sleep(600)
            os.read(reading, 1)
            os._exit(0)
            """, to: installation.root + "/trace.py")
        let traced = Messages(installation.root + "/traced")
        installation.addJob("traced", "exec /usr/bin/python3 $ROOT/trace.py", route: "Deadline=5s")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let before = try processorTicks(of: daemon.processID)
        try client.send(line: Requests.deliver(job: "traced"))
        #expect(try traced.next() == "0", "it cannot be traced: \(daemon.standardError)")
        var line = try client.next()
        if line.outcome == nil { line = try client.next() }
        #expect(line.outcome == "timed_out", "\(line)")
        let ticks = try processorTicks(of: daemon.processID) - before
        #expect(ticks < 60, "the loop went round for a zombie that it could not reap: \(ticks) ticks")
        #expect(try daemon.stop() == .exited(0))
    }

    /// Returns the processor time of a process in hundredths of a second.
    private func processorTicks(of process: Int32) throws -> Int {
        let text = String(decoding: try #require(readFile("/proc/\(process)/stat")), as: UTF8.self)
        let fields = text.split(separator: ")").last?.split(separator: " ").compactMap { Int($0) } ?? []
        // The numbers without the state, which is a letter: utime and stime are the fields 14 and 15.
        return try #require(fields.count > 12 ? fields[10] + fields[11] : nil)
    }

    @Test("leaves a helper with another program's mark alone while it runs itself")
    func foreignMark() throws {
        let helpers = Messages(installation.root + "/helpers")
        let helper = "(PUSH_RUN=other:1:2 setsid sleep 600 & echo $! >$ROOT/helpers)"
        installation.addJob("keeper", "echo $$ >$ROOT/helpers; \(helper); exec sleep 600")
        installation.addJob("good", "exit 0")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "keeper", waits: false)).isAccepted)
        let processes = try helpers.processes(2)
        for _ in 0..<3 { #expect(try client.outcome(of: Requests.deliver(job: "good")).outcome == "handled") }
        #expect(processes.allSatisfy(isAlive))
        daemon.crash()
        for process in processes { kill(process, SIGKILL) }
    }

    @Test("and hangs blocks its device, and the status names the device, the number waiting, and the current request")
    func lane() throws {
        let started = Messages(installation.root + "/started")
        installation.addJob("dead", "echo $$ >$ROOT/started; exec sleep 600")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<3 {
            let delivery =
                #"{"op":"deliver","platform":"android","app":"shop","device":"phone","payload":{"data":{"job":"dead"}}}"#
            #expect(try client.ask(delivery).isAccepted)
        }
        let processes = try started.processes(1)
        let lanes = try #require(try DaemonStatus(of: installation)["lanes"])
        #expect(lanes["crowded"]?.int64 == 1 && lanes["waiting"]?.int64 == 2)
        let lane = try #require(lanes["longest"]?.elements.first)
        #expect(lane["app"]?.string == "shop" && lane["device"]?.string == "phone" && lane["waiting"]?.int64 == 2)
        #expect(lane["seq"]?.int64 == 1 && lane["n"]?.int64 == 0 && lane["handler"]?.string == "dead")
        #expect((lane["age_ms"]?.int64 ?? -1) >= (lane["turn_ms"]?.int64 ?? 0))
        daemon.crash()
        for process in processes { kill(process, SIGKILL) }
    }

    @Test("to answer repeatedly gets no more callbacks, and they go to the next route")
    func breaker() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\n")
        installation.addJob("dead", "echo >>$ROOT/starts; kill -KILL $$", handler: "Breaker=2 in 1min\nBreakerPause=1h")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<2 { #expect(try client.outcome(of: Requests.deliver(job: "dead")).outcome == "failed") }
        for _ in 0..<3 {
            let line = try client.outcome(of: Requests.deliver(job: "dead"))
            let reason = "not asked, because the breaker is open: dead"
            #expect(line.outcome == "handled" && line.reason == reason, "\(line)")
        }
        #expect(try handler("dead")["breaker"]?.string == "open" && handler("dead")["passed_over"]?.int64 == 3)
        unlink("\(installation.configuration)/routes.d/99-default.route")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        let line = try client.outcome(of: Requests.deliver(job: "dead"))
        #expect(line.outcome == "failed" && line.reasonCode == "breaker_open", "the reload closed it: \(line)")
        #expect(readFile(installation.root + "/starts")?.count == 2)
        #expect(try daemon.stop() == .exited(0))
        #expect(daemon.standardError.contains("dead failed to answer 2 times in a row"), "\(daemon.standardError)")
    }
}

@Suite("A reload", .timeLimit(.minutes(30)))
struct HandlerReloadTests {
    private let installation = Installation()

    private func remove(_ name: String) {
        unlink("\(installation.configuration)/handlers.d/\(name).handler")
        unlink("\(installation.configuration)/routes.d/50-\(name).route")
    }

    @Test("without a worker's file lets it finish its callbacks, ends it, and gives later ones to the default route")
    func worker() throws {
        let gate = Messages(installation.root + "/gate")
        let started = Messages(installation.root + "/started")
        let script = """
            while IFS= read -r line; do
              echo $$ >$ROOT/started; read go <$ROOT/gate
              id=${line#*:}; echo "{\\"id\\":${id%%,*},\\"status\\":\\"handled\\"}"
            done
            """
        writeFile(script, to: installation.root + "/work.sh")
        installation.write(
            "handlers.d/work.handler",
            "[Handler]\nType=worker\nExec=/bin/sh \(installation.root)/work.sh\n"
                + "Environment=ROOT=\(installation.root)\nPipeline=2\n")
        installation.addRoute("50-work", to: "work", match: "Data=job work")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        // The worker has been sent the second callback, too, and has not read it.
        for _ in 0..<2 { #expect(try client.ask(Requests.deliver(job: "work")).isAccepted) }
        let worker = try started.processes(1)[0]
        remove("work")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        #expect(try DaemonStatus(of: installation)["handlers"]?["work"]?["draining"]?.bool == true)
        let line = try installation.injectClient().outcome(of: Requests.deliver(job: "work"))
        #expect(line.outcome == "handled" && line.seq == 3, "\(line)")
        gate.send()
        #expect(try client.next().outcome == "handled")
        #expect(try started.processes(1) == [worker])
        gate.send()
        #expect(try client.next().outcome == "handled")
        try waitUntil("the worker has ended") { !isAlive(worker) }
        #expect(try DaemonStatus(of: installation)["handlers"]?["work"] == nil)
        let handlers = try installation.ledgerRows().sorted { $0.key < $1.key }.map(\.value.handler)
        #expect(handlers == ["work", "work", "journal"])
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("without a socket handler's file lets the service finish its callbacks, then disconnects")
    func socket() throws {
        let path = installation.root + "/service.sock"
        let listener = try Listener(path: path, mode: 0o600)
        installation.write("handlers.d/service.handler", "[Handler]\nType=socket\nConnect=\(path)\n")
        installation.addRoute("50-service", to: "service", match: "Data=job service")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "service")).isAccepted)
        var service: Int32 = -1
        try waitUntil("the daemon has connected") {
            service = acceptConnection(of: listener.descriptor.rawValue)
            return service >= 0
        }
        defer { close(service) }
        #expect(readLine(service).contains(#""id":1"#))
        remove("service")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        #expect(try installation.injectClient().outcome(of: Requests.deliver(job: "service")).outcome == "handled")
        let answer = Array("{\"id\":1,\"status\":\"handled\"}\n".utf8)
        #expect(write(service, answer, answer.count) == answer.count)
        #expect(try client.next().outcome == "handled")
        #expect(readLine(service) == "", "the connection goes on")
        #expect(try installation.ledgerRows().values.filter { $0.handler == "service" }.count == 1)
        #expect(try daemon.stop() == .exited(0))
    }

    /// Returns a line from a socket; empty at its end.
    private func readLine(_ descriptor: Int32) -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while waitUntilReadable([descriptor], milliseconds: Int32(patience)) != nil, read(descriptor, &byte, 1) == 1,
            byte != UInt8(ascii: "\n")
        {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    @Test("with a changed handler file runs later callbacks by the new one, and earlier ones by the old one")
    func changed() throws {
        let gate = Messages(installation.root + "/gate")
        let started = Messages(installation.root + "/started")
        installation.addJob("job", "echo $$ >$ROOT/started; read go <$ROOT/gate; exit 0")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "job")).isAccepted)
        _ = try started.next()
        installation.addHandler("job", "Exec=/bin/false")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        #expect(try installation.injectClient().outcome(of: Requests.deliver(job: "job")).outcome == "failed")
        gate.send()
        #expect(try client.next().outcome == "handled")
        #expect(try daemon.stop() == .exited(0))
    }
}
