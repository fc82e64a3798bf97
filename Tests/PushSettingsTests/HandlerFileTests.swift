import PushModel
import PushRouting
import PushSettings
import Testing

@Suite("handlers.d/*.handler")
struct HandlerFileTests {
    @Test("reads an exec handler")
    func readsExec() throws {
        let (settings, diagnostics) = handler(
            """
            Type=exec
            Exec=/usr/lib/crm/push --json \\
                "two words" \\; $HOME 100%%
            Environment=A=b "C=d e" EMPTY=
            Environment='LEVEL=1' A=later
            WorkingDirectory=/var/lib/crm data
            Idempotent=yes
            Grace=500ms
            """)
        #expect(diagnostics == [])
        let command = Handler.Command(
            arguments: ["/usr/lib/crm/push", "--json", "two words", ";", "$HOME", "100%"],
            environment: ["A": "later", "C": "d e", "EMPTY": "", "LEVEL": "1"], workingDirectory: "/var/lib/crm data")
        #expect(
            settings?.routing.handlers["crm"]
                == Handler(name: "crm", kind: .exec(command), idempotent: true, grace: .milliseconds(500)))
    }

    @Test("an exec handler needs no more than its program; it is not idempotent and has no grace")
    func execDefaults() {
        let (settings, diagnostics) = handler("Type=exec\nExec=/bin/true\nEnvironment=A=b\nEnvironment=")
        #expect(diagnostics == [])
        #expect(
            settings?.routing.handlers["crm"]
                == Handler(name: "crm", kind: .exec(Handler.Command(arguments: ["/bin/true"]))))
    }

    @Test("reads the built-in handlers")
    func readsBuiltIn() {
        #expect(handler("Type=journal").settings?.routing.handlers["crm"]?.kind == .journal)
        #expect(handler("Type=discard").settings?.routing.handlers["crm"]?.kind == .discard)
    }

    @Test(
        "names file, line and reason",
        arguments: [
            ("", ": error: Type= is missing; [Handler] needs Type=exec, worker, socket, journal or discard"),
            ("Type=exec", ": error: Exec= is missing; Type=exec needs the program to run"),
            ("Type=worker", ": error: Exec= is missing; Type=worker needs the program to run"),
            ("Type=socket", ": error: Connect= is missing; Type=socket needs the socket of the service"),
            (
                "Type=http",
                ":2: error: Type=http: not in this version, which has exec, worker, socket, journal and discard"
            ),
            ("Type=socket\nConnect=crm.sock", ":3: error: Connect=crm.sock: must be an absolute path"),
            (
                "Type=worker\nExec=/x\nInstances=0",
                ":4: error: Instances=0: must be from 1 to 64"
            ),
            ("Type=worker\nExec=/x\nPipeline=65", ":4: error: Pipeline=65: must be from 1 to 64"),
            ("Type=worker\nExec=/x\nIdleTimeout=10ms", ":4: error: IdleTimeout=10ms: must be from 1s to 1d"),
            ("Type=exec\nExec=/x\nMaxConcurrent=0", ":4: error: MaxConcurrent=0: must be from 1 to 10000"),
            (
                "Type=shell",
                ":2: error: Type=shell: must be exec, journal, discard, worker, socket or http"
            ),
            (
                "Type=exec\nExec=crm --json",
                ":3: error: Exec=crm --json: must begin with the absolute path of a program, such as /usr/bin/env"
            ),
            (
                "Type=exec\nExec=/usr/bin/",
                ":3: error: Exec=/usr/bin/: must begin with the absolute path of a program, such as /usr/bin/env"
            ),
            (
                "Type=exec\nExec=\"\"",
                ":3: error: Exec=\"\": must begin with the absolute path of a program, such as /usr/bin/env"
            ),
            (
                "Type=exec\nExec=-/bin/x",
                ":3: error: Exec=-/bin/x: the prefix - of systemd has no meaning here; begin with the program's path"
            ),
            (
                "Type=exec\nExec=/bin/a ; /bin/b",
                ":3: error: Exec=/bin/a ; /bin/b: a handler runs one program; "
                    + "write \\; for an argument that is a semicolon"
            ),
            (
                "Type=exec\nExec=/bin/a %i",
                ":3: error: Exec=/bin/a %i: systemd's specifiers are not replaced here; write %% for a percent sign"
            ),
            (
                "Type=exec\nExec=/bin/a\nEnvironment=A",
                ":4: error: Environment=A: \"A\" must be NAME=value, quoted whole if it has spaces"
            ),
            (
                "Type=exec\nExec=/bin/a\nEnvironment=1A=b",
                ":4: error: Environment=1A=b: \"1A=b\" must be NAME=value, quoted whole if it has spaces"
            ),
            (
                "Type=exec\nExec=/bin/a\nEnvironment=PUSH_SEQ=1",
                ":4: error: Environment=PUSH_SEQ=1: PUSH_SEQ: names that begin with PUSH_ are reserved for the daemon"
            ),
            (
                "Type=exec\nExec=/bin/a\nWorkingDirectory=~",
                ":4: error: WorkingDirectory=~: must be an absolute path"
            ),
            ("Type=exec\nExec=/bin/a\nIdempotent=2", ":4: error: Idempotent=2: must be yes or no"),
            (
                "Type=exec\nExec=/bin/a\nGrace=9s",
                ":4: error: Grace=9s: must be less than Budget=9s, or the handler gets SIGTERM before it starts"
            ),
            ("Type=exec\nExec=/bin/a\nGrace=10s", ":4: error: Grace=10s: must be from 1ms to 9s"),
        ])
    func wrongFiles(lines: String, message: String) {
        let (settings, diagnostics) = handler(lines)
        #expect(diagnostics == ["handlers.d/crm.handler\(message)"])
        #expect(settings == nil)
    }

    @Test("reads a worker: how many, what each is given, when it ends")
    func readsWorker() {
        let (settings, diagnostics) = handler(
            "Type=worker\nExec=/x\nInstances=4\nPipeline=8\nIdleTimeout=infinity\nLogOutput=yes\nIdempotent=yes")
        #expect(diagnostics == [])
        let rules = InstanceRules(instances: 4, pipeline: 8, idleTimeout: nil)
        let command = Handler.Command(arguments: ["/x"], logsOutput: true)
        #expect(
            settings?.routing.handlers["crm"]
                == Handler(name: "crm", kind: .worker(command, rules), idempotent: true, maxConcurrent: 32))
    }

    @Test("reads a socket, and how many invocations it is given at once")
    func readsSocket() {
        let (settings, diagnostics) = handler("Type=socket\nConnect=/run/crm.sock\nIdleTimeout=1min\nMaxConcurrent=9")
        #expect(diagnostics == [])
        let rules = InstanceRules(idleTimeout: .seconds(60))
        #expect(
            settings?.routing.handlers["crm"]
                == Handler(name: "crm", kind: .socket(path: "/run/crm.sock", rules), maxConcurrent: 9))
    }

    @Test(
        "warns about keys that a kind has no use for",
        arguments: [
            (
                "Type=socket\nConnect=/x\nExec=/y",
                ":4: warning: Exec= has no effect with Type=socket, which runs no program"
            ),
            (
                "Type=exec\nExec=/y\nPipeline=2",
                ":4: warning: Pipeline= has no effect with Type=exec, which runs a program for each invocation"
            ),
            (
                "Type=worker\nExec=/y\nGrace=1s",
                ":4: warning: Grace= has no effect with Type=worker, which runs a program that stays, and replaces it "
                    + "at a deadline"
            ),
        ])
    func keysOfOtherKinds(lines: String, message: String) {
        let (settings, diagnostics) = handler(lines)
        #expect(diagnostics == ["handlers.d/crm.handler\(message)"])
        #expect(settings != nil)
    }

    @Test("warns about keys that a built-in handler has no use for")
    func uselessKeys() {
        let (settings, diagnostics) = handler("Type=discard\nExec=/bin/a\nIdempotent=yes")
        #expect(
            diagnostics == [
                "handlers.d/crm.handler:3: warning: Exec= has no effect with Type=discard, which runs no program"
            ])
        #expect(settings != nil)
    }

    @Test("warns about a program that no route names; a built-in handler may wait for one")
    func unusedHandlers() {
        let (settings, diagnostics) = load(handlers: [
            "crm": "[Handler]\nType=exec\nExec=/bin/true", "none": "[Handler]\nType=discard",
        ])
        #expect(diagnostics == ["handlers.d/crm.handler: warning: no route has Handler=crm, so it never runs"])
        #expect(settings != nil)
    }

    @Test("an empty file hides a handler, as an empty unit does")
    func maskedHandlers() {
        let (settings, diagnostics) = load(handlers: ["journal": ""])
        #expect(settings == nil)
        #expect(
            diagnostics == [
                "routes.d/99-default.route:2: error: Handler=journal: there is no handlers.d/journal.handler"
            ])
    }

    @Test("refuses names that could not be told apart or written down", arguments: ["a b", ".x", "ä", "a\u{1B}"])
    func wrongNames(name: String) {
        let diagnostics = load(handlers: [name: "[Handler]\nType=journal"]).diagnostics
        #expect(diagnostics.count == 1)
        #expect(
            diagnostics.first?.hasSuffix(
                ": error: the file's name without its extension must be a name of letters, digits, and - _ .") == true)
    }

    @Test("refuses two handlers of one name")
    func duplicateNames() {
        let file = ConfigurationFile("a/crm.handler", "[Handler]\nType=journal")
        let other = ConfigurationFile("b/crm.handler", "[Handler]\nType=journal")
        let loaded = Settings.load(ConfigurationSources(handlers: [file, other]))
        #expect(
            loaded.diagnostics.first?.description
                == "b/crm.handler: error: there is another handler named crm; names must differ")
    }
}
