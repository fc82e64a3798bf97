import Testing

@testable import PushModel
@testable import PushViews

@Suite("The findings of doctor")
struct HealthTests {
    private typealias Severity = HealthFinding.Severity

    private static let service = UserAccount(user: 997, groups: [997, 50], name: "pushrouterd")

    private func file(
        _ path: String, _ kind: FileFacts.Kind = .file, owner: UInt32 = 997, group: UInt32 = 997, mode: UInt32
    ) -> FileFacts {
        FileFacts(path, .found(.init(kind, owner: owner, group: group, mode: mode)))
    }

    /// The warnings and errors about facts of which only some are known.
    private func problems(_ change: (inout HealthFacts) -> Void) -> [HealthFinding] {
        var facts = HealthFacts()
        facts.service = Self.service
        facts.isClockSynchronised = true
        change(&facts)
        return facts.findings.filter { $0.severity != .fine }
    }

    private func expectOne(
        _ severity: HealthFinding.Severity, _ area: HealthFinding.Area, _ message: String, do remedy: String,
        _ location: SourceLocation = #_sourceLocation, _ change: (inout HealthFacts) -> Void
    ) {
        let found = problems(change)
        #expect(found.count == 1, "\(found)", sourceLocation: location)
        #expect(found.first?.severity == severity && found.first?.area == area, "\(found)", sourceLocation: location)
        #expect(found.first?.message.contains(message) == true, "\(found)", sourceLocation: location)
        #expect(found.first?.remedy == remedy, "\(found)", sourceLocation: location)
    }

    @Test(
        "an account has the access of the first class that it is in, and root all but the execution of a plain file",
        arguments: [
            (.file, 997, 997, 0o640, 997, "rw-"), (.file, 0, 50, 0o640, 997, "r--"), (.file, 0, 0, 0o647, 997, "rwx"),
            (.file, 997, 50, 0o077, 997, "---"), (.file, 0, 50, 0o707, 997, "---"), (.file, 997, 997, 0, 0, "rw-"),
            (.file, 997, 997, 0o010, 0, "rwx"), (.directory, 997, 997, 0, 0, "rwx"),
        ] as [(FileFacts.Kind, UInt32, UInt32, UInt32, UInt32, String)])
    func access(kind: FileFacts.Kind, owner: UInt32, group: UInt32, mode: UInt32, user: UInt32, allowed: String) {
        let account = user == 0 ? UserAccount(user: 0, groups: [0], name: "root") : Self.service
        let attributes = FileFacts.Attributes(kind, owner: owner, group: group, mode: mode)
        let found = [(4, "r"), (2, "w"), (1, "x")].map { attributes.allows($0.0, account) ? $0.1 : "-" }.joined()
        #expect(found == allowed)
    }

    @Test("a correct installation has findings, and none is a problem")
    func fine() throws {
        let status = try JSONDocument(
            scanning: Array(#"{"pid":7,"version":"1","containment":"cgroups","store":{"is_slow":false}}"#.utf8)
        ).root
        let found = problems { facts in
            facts.configuration = [file("/etc/p", .directory, owner: 0, group: 0, mode: 0o755)]
            facts.state = [file("/s", .directory, mode: 0o750), file("/s/ledger.db", mode: 0o640)]
            facts.disk = .init(free: 10 << 30, freeFiles: nil)
            facts.sync = .took(.milliseconds(3))
            facts.ledger = .whole
            facts.runtime = file("/r", .directory, owner: 0, mode: 0o755)
            facts.sockets = [.init(file: file("/r/inject.sock", .socket, mode: 0o660), answer: .answered)]
            facts.status = status
            facts.journal = .answered
            facts.secrets = [.init(name: "KeyFile=", file: file("/k", owner: 0, mode: 0o600), purpose: "x")]
        }
        #expect(found == [])
    }

    @Test("a configuration file that others may write, or the daemon cannot read, is an error")
    func configuration() {
        expectOne(.error, .configuration, "users other than the owner may write to it", do: "chmod go-w /etc/p/a") {
            $0.configuration = [file("/etc/p/a", owner: 0, mode: 0o664)]
        }
        expectOne(
            .error, .configuration, "pushrouterd of the daemon cannot read it",
            do: "chmod a+r /etc/p/a, or give it to a group of that user"
        ) {
            $0.configuration = [file("/etc/p/a", owner: 0, group: 0, mode: 0o640)]
        }
        #expect(problems { $0.configuration = [file("/etc/p/a", owner: 0, group: 50, mode: 0o640)] } == [])
        expectOne(.warning, .configuration, "a handler could change it", do: "chown root /etc/p/a") {
            $0.configuration = [file("/etc/p/a", mode: 0o644)]
        }
    }

    @Test("files with the same fault are one finding, whose remedy names them all")
    func sameFault() {
        expectOne(
            .warning, .configuration, "/etc/p/a (and 2 other files): the user pushrouterd of the daemon owns it",
            do: "chown root /etc/p/a /etc/p/b /etc/p/c"
        ) { $0.configuration = ["a", "b", "c"].map { file("/etc/p/\($0)", mode: 0o644) } }
    }

    @Test("connections refused for want of a descriptor are a warning with their number")
    func descriptors() throws {
        let status = try JSONDocument(
            scanning: Array(#"{"clients":{"refused":{"descriptors":3,"idle":2}},"containment":"cgroups"}"#.utf8)
        ).root
        expectOne(
            .warning, .daemon, "3 connections were refused since the start: the daemon had no descriptor left",
            do: "raise LimitNOFILE= of the unit, and restart the daemon"
        ) { $0.status = status }
    }

    @Test("a service that failed, or that does not start, is an error; the remedy opens its socket again")
    func services() {
        let state = """
            Id=pushrouter-gateway.service\nActiveState=inactive\nSubState=dead\n
            ActiveState=failed\nSubState=failed\nId=pushrouter-gateway.socket\n
            Id=pushrouter-web.service\nActiveState=activating\nSubState=auto-restart\n
            Id=pushrouter-web.socket\nActiveState=active\nSubState=running\n
            Id=pushrouter-metrics.service\nActiveState=active\nSubState=running\nNRestarts=7\n
            Id=pushrouter-http.service\nActiveState=activating\nSubState=start\nNRestarts=2\n
            Id=pushrouterd.service\nActiveState=activating\nSubState=start\nNRestarts=0\n
            Id=pushrouter-forward.service\nActiveState=failed\nSubState=failed\n
            """
        let found = HealthFinding.failures(ofServices: state)
        #expect(
            found.map(\.message) == [
                "pushrouter-gateway has failed",
                "pushrouter-web does not start; it is tried again every few seconds",
                "pushrouter-http does not start; it is tried again every few seconds", "pushrouter-forward has failed",
            ])
        #expect(found.allSatisfy { $0.severity == .error && $0.area == .services })
        #expect(
            found.first?.remedy?.hasSuffix(
                "systemctl reset-failed pushrouter-gateway pushrouter-gateway.socket; "
                    + "systemctl start pushrouter-gateway.socket") == true)
        #expect(found.last?.remedy?.hasSuffix("systemctl restart pushrouter-forward") == true)
        #expect(HealthFinding.failures(ofServices: "") == [])
    }

    @Test("custom data that is not sent is an error")
    func sending() throws {
        let status = try JSONDocument(
            scanning: Array(#"{"containment":"cgroups","custom_data":{"sending_problem":"it is away"}}"#.utf8)
        ).root
        expectOne(
            .error, .daemon, "custom data: it is away",
            do: "do what this message says; journalctl -u pushrouter-forward has more"
        ) { $0.status = status }
    }

    @Test("a state directory of another user, or open to others, is an error; a missing one has an advice")
    func state() {
        expectOne(
            .error, .state, "belongs to user 0, and the daemon is pushrouterd", do: "chown pushrouterd /s/ledger.db"
        ) {
            $0.state = [file("/s", .directory, mode: 0o700), file("/s/ledger.db", owner: 0, mode: 0o640)]
        }
        expectOne(.error, .state, "other users may write to it", do: "chmod go-w /s") {
            $0.state = [file("/s", .directory, mode: 0o770)]
        }
        #expect(problems { $0.state = [file("/s", .directory, mode: 0o1770)] } == [])
        expectOne(.warning, .state, "every user may read", do: "chmod o-rwx /s") {
            $0.state = [file("/s", .directory, mode: 0o755), file("/s/ledger.db", mode: 0o640)]
        }
        #expect(
            problems { $0.state = [file("/s", .directory, mode: 0o750), file("/s/ledger.db", mode: 0o644)] } == [],
            "nobody else can enter the directory")
        expectOne(.error, .state, "/s/log: this is a symbolic link", do: "move the file itself here") {
            $0.state = [file("/s", .directory, mode: 0o700), file("/s/log", .link, mode: 0o777)]
        }
        expectOne(
            .error, .state, "/s: it is not there",
            do: "start pushrouterd once, or name the directory of the ledger with --state DIR"
        ) { $0.state = [FileFacts("/s", .missing)] }
        expectOne(.warning, .state, "/s: this user may not look at it", do: "run \"pushctl doctor\" as root") {
            $0.state = [FileFacts("/s", .hidden)]
        }
    }

    @Test(
        "a disk is short below 1 GiB, and full below 256 MiB, with the log at its greatest length",
        arguments: [
            (Int64(256 << 20) - 1, Severity.error), (256 << 20, .warning), (1 << 30, .fine),
        ])
    func disk(free: Int64, severity: HealthFinding.Severity) {
        var facts = HealthFacts()
        facts.disk = .init(free: free, freeFiles: 5000)
        #expect(facts.findings.first { $0.area == .disk }?.severity == severity)
    }

    @Test("a sync is slow above 250 ms, and an error when it fails; a lack of free files is an error")
    func sync() {
        #expect(problems { $0.sync = .took(.milliseconds(250)) } == [])
        #expect(problems { $0.sync = .took(.milliseconds(251)) }.map(\.severity) == [.warning])
        #expect(problems { $0.sync = .failed("no") }.map(\.severity) == [.error])
        #expect(problems { $0.sync = .notPermitted }.map(\.severity) == [.warning])
        // A full disk is not a broken one.
        #expect(problems { $0.sync = .noSpace }.first?.remedy == "free space on that file system, or raise the quota")
        #expect(problems { $0.disk = .init(free: 2 << 30, freeFiles: 999) }.map(\.severity) == [.error])
        #expect(problems { $0.disk = .init(free: 2 << 30, freeFiles: 1000) } == [])
    }

    @Test("mistakes of the configuration are in one line, with a semicolon between two")
    func mistakes() throws {
        let status = try JSONDocument(scanning: Array(#"{"configuration_problem":"a:1: no\nb:2: no"}"#.utf8)).root
        let found = problems { $0.status = status }.map(\.message)
        #expect(found.contains { $0.hasSuffix(": a:1: no; b:2: no") }, "\(found)")
    }

    @Test("a full disk has one verdict: what is accepted beside it, only while the daemon accepts requests")
    func fullDisk() throws {
        func messages(_ status: String?) throws -> [String] {
            let status = try status.map { try JSONDocument(scanning: Array($0.utf8)).root }
            return problems {
                $0.status = status
                $0.sync = .noSpace
                $0.disk = .init(free: 0, freeFiles: 5000)
            }.filter { $0.area == .disk }.map(\.message)
        }
        for message in try messages(#"{"store_problem":null}"#) {
            #expect(message.contains("soon refuse") || message.contains("accepted until the log is full"))
        }
        for status in [#"{"store_problem":"no space"}"#, nil] {
            let found = try messages(status)
            #expect(found.count == 2 && !found.contains { $0.contains("accepted") || $0.contains("soon") }, "\(found)")
        }
    }

    @Test("an unreadable ledger is an error with its remedy; a long one, or one of another user, is none")
    func ledger() {
        expectOne(.error, .state, "/s/ledger.db: the file is damaged", do: "pushctl salvage") {
            $0.ledger = .problem("/s/ledger.db: the file is damaged", remedy: "pushctl salvage")
        }
        expectOne(.warning, .state, "this user may not", do: "run \"pushctl doctor\" as root") {
            $0.ledger = .notPermitted
        }
        expectOne(.warning, .state, "this user may not", do: "shop is not in the group pushrouterd: ...") {
            $0.ledger = .notPermitted
            $0.membership = "shop is not in the group pushrouterd: ..."
            $0.sync = .notPermitted
        }
        #expect(problems { $0.ledger = .opened(length: 9 << 30) } == [])
        #expect(problems { $0.ledger = .whole } == [])
    }

    @Test("a stopped daemon is one error with one cause; a socket of another group has the way to join the group")
    func stopped() {
        expectOne(
            .error, .sockets, "pushrouterd is not running: no process listens in /r",
            do: "systemctl start pushrouterd, or name the directory of the sockets with --runtime DIR"
        ) {
            $0.runtime = FileFacts("/r", .missing)
            $0.sockets = ["inject", "control", "read"].map {
                .init(file: FileFacts("/r/\($0).sock", .missing), answer: .failed("nobody listens"))
            }
        }
        expectOne(.warning, .sockets, "/r/x: this user may not connect", do: "sudo adduser shop g, then log in again") {
            $0.sockets = [
                .init(
                    file: file("/r/x", .socket, mode: 0o660), answer: .notPermitted,
                    membership: "sudo adduser shop g, then log in again")
            ]
        }
    }

    @Test("sockets that are open to all, silent or absent are errors; one that is closed to this user is a warning")
    func sockets() {
        func severities(_ answer: HealthFacts.Answer, mode: UInt32 = 0o660) -> [HealthFinding.Severity] {
            problems { $0.sockets = [.init(file: file("/r/x", .socket, mode: mode), answer: answer)] }.map(\.severity)
        }
        #expect(severities(.answered) == [])
        #expect(severities(.answered, mode: 0o666) == [.error])
        #expect(severities(.silent) == [.error])
        #expect(severities(.failed("nobody listens")) == [.error])
        #expect(severities(.notPermitted) == [.warning])
        #expect(problems { $0.runtime = file("/r", .directory, mode: 0o777) }.map(\.severity) == [.error])
        #expect(problems { $0.runtime = file("/r", .directory, owner: 4, mode: 0o755) }.map(\.severity) == [.error])
        #expect(problems { $0.runtime = file("/r", .directory, mode: 0o755) } == [])
    }

    @Test("the problems of status are repeated with an advice")
    func status() throws {
        let text = """
            {"configuration_problem":"a","store_problem":"b","containment":"process_groups","containment_reason":"c",\
            "store":{"ledger_problem":"d","is_slow":true},"handlers":{"crm":{"breaker":"open"},"ok":{"breaker":"closed"}}}
            """
        let status = try JSONDocument(scanning: Array(text.utf8)).root
        let found = problems { $0.status = status }
        #expect(found.map(\.severity) == [.error, .error, .error, .warning, .warning, .warning])
        #expect(found.contains { $0.message.hasSuffix("do not hold: c") })
        let waiting = try JSONDocument(
            scanning: Array(#"{"store":{"commit_problem":"the log is full","is_slow":true}}"#.utf8)
        ).root
        #expect(
            problems { $0.status = waiting }.contains {
                $0.severity == .error && $0.message == "no request is acknowledged now: the log is full"
            })
        #expect(found.contains { $0.remedy == "look at its failures: pushctl deadletters --handler crm" })
        #expect(found.allSatisfy { $0.remedy != nil })
        #expect(found.last?.area == .handlers, "those of an area stand together")
    }

    @Test("the problems of a log in a database are told without a remedy for a disk")
    func sharedLog() throws {
        func found(_ text: String) throws -> [HealthFinding] {
            let status = try JSONDocument(scanning: Array(text.utf8)).root
            return problems { $0.status = status }
        }
        let leader = try found(
            #"{"store_problem":"b","containment":"cgroups","fleet":{"role":"leader"},"store":{"is_slow":true}}"#)
        #expect(leader.map(\.severity) == [.error, .warning])
        #expect(leader.allSatisfy { $0.remedy?.contains("database") == true && !$0.message.contains("disk is slow") })
        let follower = try found(
            #"{"state":"following","fleet":{"role":"follower","node":"a","engine_problem":"no right (SQLSTATE 42501)"}}"#
        )
        #expect(follower.map(\.severity) == [.error])
        #expect(follower.first?.message.hasSuffix("the database does not serve it: no right (SQLSTATE 42501)") == true)
    }

    @Test("a handler needs its program, its user and its socket")
    func handlers() {
        func handler(_ change: (inout HealthFacts.Handler) -> Void) -> [String] {
            var handler = HealthFacts.Handler(name: "crm")
            change(&handler)
            return problems { $0.handlers = [handler] }.map { "\($0.severity.rawValue) \($0.message)" }
        }
        #expect(handler { $0.program = file("/p", owner: 0, mode: 0o755) } == [])
        #expect(handler { $0.program = FileFacts("/p", .missing) } == ["error handler crm: /p: it is not there"])
        #expect(
            handler { $0.program = file("/p", owner: 0, group: 0, mode: 0o750) }
                == ["error handler crm: the user pushrouterd cannot run /p"])
        #expect(
            handler {
                $0.program = file("/p", owner: 0, group: 0, mode: 0o750)
                $0.user = "root"
                $0.account = UserAccount(user: 0, groups: [0], name: "root")
            } == [])
        #expect(
            handler { $0.program = file("/p", owner: 0, mode: 0o757) }
                == ["error handler crm: /p has the mode 0757: other users can change the program"])
        #expect(handler { $0.user = "nobody-here" } == ["error handler crm: there is no user nobody-here"])
        #expect(
            handler { $0.socket = .init(file: FileFacts("/x", .missing), answer: .failed("no socket")) }
                == ["error handler crm: /x: no socket"])
        #expect(
            handler { $0.authorities = FileFacts("/ca.pem", .missing) }
                == ["error handler crm: /ca.pem: it is not there"])
    }

    @Test("a handler's program is a binary, or a script whose interpreter is there")
    func interpreters() {
        func problems(_ first: String, _ interpreter: FileFacts.Condition? = nil, isFound: Bool? = nil) -> [String] {
            var handler = HealthFacts.Handler(name: "crm")
            handler.program = file("/p", owner: 0, mode: 0o755)
            handler.start = ProgramStart(Array(first.utf8))
            if let interpreter { handler.interpreter = FileFacts("/bin/x", interpreter) }
            handler.isSearchedProgramFound = isFound
            return self.problems { $0.handlers = [handler] }.map { "\($0.severity.rawValue) \($0.message)" }
        }
        let there = file("/bin/x", owner: 0, mode: 0o755).condition
        #expect(problems("\u{7F}ELF\u{2}\u{1}") == [])
        #expect(problems("#!/bin/x\necho", there) == [])
        #expect(
            problems("#!/bin/x -e\n", .missing) == ["error handler crm: /p: its interpreter /bin/x: it is not there"])
        #expect(
            problems("#!/bin/x\n", file("/bin/x", owner: 0, mode: 0o644).condition)
                == ["error handler crm: /p: its interpreter /bin/x is not an executable file"])
        let env = "#!/usr/bin/env python9\n"
        #expect(problems(env, there, isFound: true) == [])
        #expect(
            problems(env, there, isFound: false)
                == ["error handler crm: /p: /usr/bin/env finds no python9, its interpreter, in PATH"])
        for line in ["#!/bin/x\r\n", "#! /usr/bin/env x\r\n"] {
            let found = problems(line, .missing, isFound: false)
            #expect(found.count == 1 && found.first?.contains("a carriage return ends its first line") == true)
        }
        for line in ["", "echo hello\n", "#!\n", "#!/" + String(repeating: "x", count: 254)] {
            #expect(
                problems(line) == ["error handler crm: /p is neither a binary nor a script that begins with #!"])
        }
    }

    @Test("the system's reading of a program's first line")
    func firstLines() {
        func start(_ text: String) -> ProgramStart { ProgramStart(Array(text.utf8)) }
        #expect(start("#! \t/bin/sh \t -e -u \n") == .script(interpreter: "/bin/sh", argument: "-e -u "))
        #expect(start("#!/bin/sh") == .script(interpreter: "/bin/sh", argument: nil))
        #expect(start("#!/usr/bin/env -S python3 -u\n").searchedProgram == nil)
        #expect(start("#!/usr/bin/env python3\n").searchedProgram == "python3")
        #expect(start("#!/bin/sh python3\n").searchedProgram == nil)
        #expect(
            start("#!/bin/sh " + String(repeating: "x", count: 246)) == .script(interpreter: "/bin/sh", argument: nil))
    }

    @Test("a secret that others may read is an error, except one loaded by systemd; a credential may be elsewhere")
    func secrets() {
        func secret(_ file: FileFacts, isPrivate: Bool = true, elsewhere: Bool = false) -> [HealthFinding.Severity] {
            problems {
                $0.secrets = [
                    .init(name: "K=", file: file, purpose: "p", isPrivate: isPrivate, mayBeElsewhere: elsewhere)
                ]
            }.map(\.severity)
        }
        #expect(secret(file("/k", mode: 0o600)) == [])
        #expect(secret(file("/k", mode: 0o640)) == [.error])
        #expect(secret(file("/k", mode: 0o440), isPrivate: false) == [])
        #expect(secret(FileFacts("/k", .missing)) == [.error])
        #expect(secret(FileFacts("/k", .missing), elsewhere: true) == [.warning])
        #expect(secret(FileFacts("/k", .hidden)) == [.warning])
        #expect(secret(file("/k", .directory, mode: 0o700)) == [.error])
    }

    @Test("a secret that its service cannot read is an error, with the user and the remedy")
    func secretReaders() {
        let reader = UserAccount(user: 995, groups: [995, 60], name: "pushrouter-http")
        func problem(_ change: (inout HealthFacts.Secret) -> Void) -> HealthFinding? {
            problems {
                var secret = HealthFacts.Secret(name: "K=", file: file("/d/k", owner: 0, mode: 0o600), purpose: "p")
                secret.reader = reader
                change(&secret)
                $0.secrets = [secret]
            }.first
        }
        #expect(problem { _ in }?.remedy == "chown pushrouter-http /d/k; p")
        #expect(problem { _ in }?.message.contains("the user pushrouter-http reads the file") == true)
        #expect(problem { $0.file = file("/d/k", owner: 995, mode: 0o600) } == nil)
        #expect(problem { $0.reader = nil } == nil, "root reads it")
        let readable = file("/d/k", owner: 0, group: 60, mode: 0o640)
        #expect(problem { ($0.file, $0.isPrivate) = (readable, false) } == nil)
        let closed = problem {
            $0.file = file("/d/k", owner: 995, mode: 0o600)
            $0.directories = [file("/d", .directory, owner: 0, group: 0, mode: 0o700)]
        }
        #expect(closed?.severity == .error && closed?.remedy == "chmod o+x /d; p")
        let hidden = problem { $0.concealment = "the service does not see /home (ProtectHome=)" }
        #expect(hidden?.severity == .error && hidden?.message.contains("does not see /home") == true)
    }

    @Test("a handler's socket that the package makes has the command that starts its unit as its remedy")
    func socketUnit() {
        func remedy(_ unit: String?) -> String? {
            problems {
                var handler = HealthFacts.Handler(name: "h")
                handler.socket = .init(file: FileFacts("/run/h.sock", .missing), answer: .failed("no such file"))
                handler.socketUnit = unit
                $0.handlers = [handler]
            }.first?.remedy
        }
        #expect(remedy("pushrouter-http.socket") == "systemctl enable --now pushrouter-http.socket")
        #expect(remedy(nil) == "start the service that listens there")
    }

    @Test("a clock that is not synchronised and a missing journal are warnings")
    func system() {
        #expect(problems { $0.isClockSynchronised = false }.map(\.area) == [.clock])
        #expect(problems { $0.isClockSynchronised = nil }.map(\.severity) == [.warning])
        #expect(problems { $0.journal = .failed("no socket") }.map(\.severity) == [.warning])
    }

    @Test("the report counts findings with an advice below each; on request only problems")
    func report() throws {
        var facts = HealthFacts()
        facts.isClockSynchronised = true
        facts.sync = .failed("no")
        let report = HealthReport(facts)
        #expect(report.errors == 1 && report.warnings == 0)
        #expect(
            report.text(problemsOnly: true) == """
                error    disk           cannot write and sync a file in the state directory: no
                                        do: look for errors of the disk in the kernel's log (dmesg)

                """)
        #expect(report.text().hasSuffix("\n1 error, 0 warnings\n"))
        let root = try JSONDocument(scanning: report.json).root
        #expect(root["ok"]?.bool == false && root["errors"]?.int64 == 1)
        #expect(root["findings"]?.elements.last?["area"]?.string == "clock")
    }
}
