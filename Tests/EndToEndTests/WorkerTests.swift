import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

extension Installation {
    /// Adds a `worker` handler that runs a script, with a route for payloads whose data has `job` set to its name.
    fileprivate func addWorker(_ name: String, _ script: String, handler: String = "", route: String = "") {
        let path = "\(root)/\(name).sh"
        writeFile(Self.reading + script, to: path)
        let lines = "[Handler]\nType=worker\nExec=/bin/sh \(path)\nEnvironment=ROOT=\(root)\n\(handler)\n"
        write("handlers.d/\(name).handler", lines)
        addRoute("50-\(name)", to: name, match: "Data=job \(name)", route: route)
    }

    /// Shell functions: `next` reads a line and sets `id`; `answer` writes an answer.
    private static let reading = """
        echo $$ >>$ROOT/started
        next() { IFS= read -r line || exit 0; id=${line#*:}; id=${id%%,*}; }
        answer() { echo "{\\"id\\":${2:-$id},\\"status\\":\\"${1:-handled}\\"}"; }

        """

    /// The number of workers that were started.
    fileprivate var starts: Int { readFile(root + "/started")?.count { $0 == UInt8(ascii: "\n") } ?? 0 }
}

@Suite("A worker", .timeLimit(.minutes(30)))
struct WorkerTests {
    private let installation = Installation()

    @Test("is one program for many invocations, and ends with the daemon")
    func stays() throws {
        installation.addWorker("stay", "while next; do answer; done")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<50 { #expect(try client.outcome(of: Requests.deliver(job: "stay")).outcome == "handled") }
        #expect(installation.starts == 1)
        #expect(try DaemonStatus(of: installation).number("handler_processes") == 1)
        let workers = children(of: daemon.processID)
        #expect(workers.count == 1)
        #expect(try daemon.stop() == .exited(0))
        for worker in workers { #expect(!isAlive(worker)) }
    }

    @Test(
        "that misbehaves has one outcome for each invocation, and the next one is handled",
        arguments: [
            ("next; kill -KILL $$", "failed", "the worker did not answer: ended by signal 9"),
            ("next; exit 3", "failed", "the worker did not answer: ended with exit status 3"),
            (
                "next; exec >&- <&-; sleep 60", "failed",
                "the worker did not answer: closed its output, and did not end"
            ),
            (
                "next; head -c 300000 /dev/zero; sleep 60", "failed",
                "the worker did not answer: wrote a line of more than 262144 bytes"
            ),
            ("next; answer handled; answer rejected; next; answer; next", "handled", nil),
            ("next; answer handled 4711; answer; next; answer; next", "handled", nil),
            ("next; echo '{\"id\":'; echo garbage; answer; next; answer; next", "handled", nil),
            ("next; answer declined; next; answer; next", "unrouted", "every matching route declined"),
            ("next; answer retry", "failed", "the handler asked for a retry; device mode does not retry (Mode=)"),
            (
                "next; sleep 60", "timed_out",
                "not finished at the deadline: the worker has never written a line; a program that writes to a pipe must flush"
            ),
            (
                "next; trap '' TERM; (setsid sleep 60 &); echo '{\"id\":'; sleep 60", "timed_out",
                "not finished at the deadline: the worker wrote a line that is not a JSON object"
            ),
        ])
    func misbehaves(script: String, outcome: String, reason: String?) throws {
        // Only the first worker misbehaves.
        installation.addWorker(
            "odd", "if mkdir $ROOT/first 2>/dev/null; then \(script); fi; while next; do answer; done",
            // Cases with another end get a long deadline, for busy machines.
            route: outcome == "timed_out" ? "Deadline=3s" : "")
        installation.addRoute("99-default", to: "journal", match: "Data=job none")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let line = try client.outcome(of: Requests.deliver(job: "odd"))
        let isAsTold = reason.map { line.reason?.hasPrefix($0) == true } ?? (line.reason == nil)
        #expect(line.outcome == outcome && isAsTold, "\(line)")
        let next = try client.outcome(of: Requests.deliver(job: "odd"))
        #expect(next.outcome == "handled", "\(next)")
        #expect(try daemon.stop() == .exited(0))
        #expect(processes(withEnvironment: "PUSH_RUN=\(try installation.stateIdentity())").isEmpty)
    }

    @Test("that hangs is replaced; another gets its other callbacks if repeatable", arguments: [true, false])
    func hangs(isIdempotent: Bool) throws {
        let yesNo = isIdempotent ? "yes" : "no"
        installation.addWorker(
            "hang", "if mkdir $ROOT/first 2>/dev/null; then next; next; sleep 60; fi; while next; do answer; done",
            handler: "Pipeline=2\nIdempotent=\(yesNo)")
        installation.addRoute("40-short", to: "hang", match: "Data=job short", route: "Deadline=3s")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for job in ["short", "hang"] { try client.send(line: Requests.deliver(job: job)) }
        var outcomes: [Int64: Line] = [:]
        while outcomes.count < 2 {
            let line = try client.next()
            if line.outcome != nil { outcomes[line.seq ?? 0] = line }
        }
        #expect(outcomes[1]?.outcome == "timed_out")
        #expect(outcomes[2]?.outcome == (isIdempotent ? "handled" : "failed"), "\(outcomes)")
        if !isIdempotent {
            #expect(
                outcomes[2]?.reason
                    == "the worker did not answer: another invocation missed its deadline")
        }
    }

    @Test("that is twice as slow as required has one outcome for each invocation, and delays no other handler")
    func slow() throws {
        // Two seconds of work within one second.
        let deliveries = 10
        installation.addWorker("slow", "while next; do sleep 0.2; answer; done", route: "Deadline=1s")
        installation.addWorker("good", "while next; do answer; done")
        installation.addRoute("40-later", to: "slow", match: "Data=job later")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let other = try installation.injectClient()
        for _ in 0..<deliveries {
            try client.send(line: Requests.deliver(job: "slow"))
            #expect(try other.outcome(of: Requests.deliver(job: "good")).outcome == "handled")
        }
        var outcomes: [Int64: String] = [:]
        while outcomes.count < deliveries {
            let line = try client.next()
            guard let outcome = line.outcome, let seq = line.seq else { continue }
            #expect(outcomes.updateValue(outcome, forKey: seq) == nil, "\(line)")
            #expect(try other.outcome(of: Requests.deliver(job: "good")).outcome == "handled")
        }
        #expect(Set(outcomes.values).isSubset(of: ["handled", "timed_out", "expired"]), "\(outcomes)")
        #expect(outcomes.values.contains { $0 != "handled" })
        #expect(try client.outcome(of: Requests.deliver(job: "later")).outcome == "handled")
        #expect(try DaemonStatus(of: installation).number("handlers_running") == 0)
    }

    @Test("that is idle for IdleTimeout= ends, and another one gets later callbacks")
    func idle() throws {
        installation.addWorker("idle", "while next; do answer; done", handler: "IdleTimeout=1s")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "idle")).outcome == "handled")
        let worker = try #require(children(of: daemon.processID).first)
        try waitUntil("the worker has ended") { !isAlive(worker) }
        #expect(try client.outcome(of: Requests.deliver(job: "idle")).outcome == "handled")
        #expect(installation.starts == 2)
    }

    @Test(
        "that writes blank lines endlessly, or leaves a program that does, delays no other handler",
        arguments: ["exec yes ''", "next; setsid yes '' & sleep 0.2; exit 0"])
    func blankLines(script: String) throws {
        installation.addWorker("blank", script)
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "blank")).outcome == "failed")
        for _ in 0..<20 { #expect(try client.outcome(of: Requests.deliver()).outcome == "handled") }
    }

    @Test("that cannot be started has the reason in its outcome, and no other handler waits for it")
    func missingProgram() throws {
        installation.write("handlers.d/gone.handler", "[Handler]\nType=worker\nExec=/nonexistent/program\n")
        installation.addRoute("50-gone", to: "gone", match: "Data=job gone", route: "Deadline=3s")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let line = try client.outcome(of: Requests.deliver(job: "gone"))
        #expect(line.outcome == "failed")
        #expect(
            line.reason?.hasPrefix("the worker cannot start /nonexistent/program: no such program") == true, "\(line)")
        #expect(try client.outcome(of: Requests.deliver()).outcome == "handled")
    }

    @Test("is replaced on a reload of a changed file, as soon as it is idle")
    func reload() throws {
        installation.addWorker("stay", "while next; do answer; done")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "stay")).outcome == "handled")
        let old = try #require(children(of: daemon.processID).first)
        installation.addWorker("stay", "while next; do answer declined; done")
        installation.addWorker("stay", "while next; do answer; done", handler: "Pipeline=2")
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        try waitUntil("the old worker has ended") { !isAlive(old) }
        #expect(try client.outcome(of: Requests.deliver(job: "stay")).outcome == "handled")
        #expect(installation.starts == 2)
    }

    @Test("has its standard error in the journal only with LogOutput=yes", arguments: [true, false])
    func standardError(isLogged: Bool) throws {
        installation.addWorker(
            "loud", "while next; do echo \"heard $id\" >&2; answer; done",
            handler: isLogged ? "LogOutput=yes" : "")
        let daemon = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().outcome(of: Requests.deliver(job: "loud")).outcome == "handled")
        #expect(try daemon.stop() == .exited(0))
        #expect(daemon.standardError.contains("heard 1") == isLogged, "\(daemon.standardError)")
    }

    @Test(
        "that ends or closes its output right after an answer loses no callback that it got meanwhile",
        arguments: ["exit 0", "exec <&- >&-; read -r _ <$ROOT/go"])
    func isBrief(end: String) throws {
        installation.addWorker("brief", "next; answer; \(end)", handler: "Instances=1")
        let go = Messages(installation.root + "/go")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for number in 1...20 {
            let line = try client.outcome(of: Requests.deliver(job: "brief"))
            #expect(line.outcome == "handled", "\(number): \(line)")
        }
        // Callbacks that are already waiting are given to a worker in the turn in which it answers.
        for _ in 1...20 { try client.send(line: Requests.deliver(job: "brief")) }
        var outcomes: [Line] = []
        while outcomes.count < 20 {
            let line = try client.next()
            if line.outcome != nil { outcomes.append(line) }
        }
        #expect(outcomes.allSatisfy { $0.outcome == "handled" }, "\(outcomes)")
        withExtendedLifetime((go, daemon)) {}
    }

    @Test("that ends while another process has its socket loses no callback that it did not read")
    func socketIsShared() throws {
        installation.addWorker(
            "brief",
            """
            if mkdir $ROOT/first 2>/dev/null; then next; sleep 100 & answer; read -r _ <$ROOT/go; exit 0; fi
            while next; do answer; done
            """, handler: "Instances=1")
        installation.addHandler("exec", "Exec=/bin/true\n")
        installation.addRoute("50-exec", to: "exec", match: "Data=job exec")
        let go = Messages(installation.root + "/go")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "brief")).outcome == "handled")
        try client.send(line: Requests.deliver(job: "brief"))
        // Once another handler has ended, the callback is in the worker's socket.
        let helper = try installation.injectClient()
        #expect(try helper.outcome(of: Requests.deliver(job: "exec")).outcome == "handled")
        go.send()
        var line = try client.next()
        while line.outcome == nil { line = try client.next() }
        #expect(line.outcome == "handled", "\(line)")
        #expect(installation.starts == 2)
        withExtendedLifetime((go, daemon)) {}
    }

    @Test("that ends after an answer: its later output is kept with none of the callbacks that it got meanwhile")
    func lastWords() throws {
        // Long enough to be given the next callback, which it does not read.
        let end = "sleep 0.05; echo \"after $line\" >&2; exit 0"
        installation.addWorker("brief", "next; answer rejected; \(end)", handler: "Instances=1")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for _ in 1...20 { try client.send(line: Requests.deliver(job: "brief")) }
        var count = 0
        while count < 20 { if try client.next().outcome != nil { count += 1 } }
        for seq in 1...20 {
            let story = try json(daemon.pushctl("show", "\(seq)", "--json").output)["invocations"]?.elements.first
            let attempt = try #require(story?["attempts"]?.elements.first)
            #expect(attempt["answer"]?.string == "rejected")
            // The output may also have come before the answer was read.
            guard let errors = attempt["errors"]?.string else { continue }
            #expect(errors.contains("\"seq\":\(seq),"), "\(seq): \(errors)")
        }
    }

    @Test("has the output for a single invocation kept with that one")
    func keptOutput() throws {
        installation.addWorker("loud", "while next; do echo \"heard $id\" >&2; answer rejected; done")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for _ in 1...2 { #expect(try client.outcome(of: Requests.deliver(job: "loud")).outcome == "failed") }
        for seq in 1...2 {
            let story = try json(daemon.pushctl("show", "\(seq)", "--json").output)["invocations"]?.elements.first
            #expect(story?["attempts"]?.elements.first?["errors"]?.string == "heard \(seq)\n")
        }
    }

    @Test("has the output during several invocations kept with none of them")
    func sharedOutput() throws {
        let script = "next; first=$id; next; echo both >&2; answer rejected $first; answer rejected; next"
        installation.addWorker("loud", script, handler: "Pipeline=2")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for _ in 1...2 { try client.send(line: Requests.deliver(job: "loud")) }
        var outcomes: [String] = []
        while outcomes.count < 2 { if let outcome = try client.next().outcome { outcomes.append(outcome) } }
        #expect(outcomes == ["failed", "failed"])
        for seq in 1...2 {
            let story = try json(daemon.pushctl("show", "\(seq)", "--json").output)["invocations"]?.elements.first
            let attempt = try #require(story?["attempts"]?.elements.first)
            #expect(attempt["answer"]?.string == "rejected" && attempt["errors"]?.string == nil)
        }
    }

    @Test("has only descriptors 0 to 2")
    func descriptors() throws {
        installation.addWorker("list", "next; exec ls /proc/self/fd >$ROOT/list")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "list")).outcome == "failed")
        // The fourth descriptor is the directory that ls itself reads.
        #expect(readFile(installation.root + "/list") == Array("0\n1\n2\n3\n".utf8))
    }
}
