import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("handlers.d/*.handler")
struct HandlerFileTests {
    @Test("a handler file with Type=exec is read")
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

    @Test("has secrets as files, by name and path, and warns of one in the environment")
    func credentials() {
        let (settings, diagnostics) = handler(
            """
            Type=worker
            Exec=/bin/true
            Credential=API_KEY:/etc/crm/key "other:/etc/a b"
            Credential=third:/run/credentials/pushrouterd.service/third
            Environment=KEYBOARD=us TOKEN_FILE=/etc/token MONKEY=1 API_KEY=
            """)
        #expect(diagnostics == [])
        let command = settings?.routing.handlers["crm"]?.kind.command
        #expect(command?.credentials.map(\.name) == ["API_KEY", "other", "third"])
        #expect(command?.credentials.map(\.path).last == "/run/credentials/pushrouterd.service/third")
        #expect(command?.credentials.first?.variable == "PUSH_CREDENTIAL_API_KEY")
        for name in ["API_KEY", "TOKEN", "crm_secret", "DB_PASSWORD", "KEY"] {
            let (_, warned) = handler("Type=exec\nExec=/bin/true\nEnvironment=A=b \(name)=s3cret")
            let warning = warned.joined()
            #expect(warned.count == 1 && warning.contains(":4: warning: Environment=\(name): "))
            #expect(warning.hasSuffix("write Credential=\(name):/path/of/it") && !warning.contains("s3cret"))
        }
    }

    @Test("needs only the program of an exec handler, which is not idempotent and has no grace")
    func execDefaults() {
        let (settings, diagnostics) = handler("Type=exec\nExec=/bin/true\nEnvironment=A=b\nEnvironment=")
        #expect(diagnostics == [])
        #expect(
            settings?.routing.handlers["crm"]
                == Handler(name: "crm", kind: .exec(Handler.Command(arguments: ["/bin/true"]))))
    }

    @Test("handler files of the built-in types are read")
    func readsBuiltIn() {
        #expect(handler("Type=journal").settings?.routing.handlers["crm"]?.kind == .journal)
        #expect(handler("Type=discard").settings?.routing.handlers["crm"]?.kind == .discard)
    }

    @Test(
        "a fault in a handler file is reported with file, line and reason",
        arguments: [
            (
                "",
                ": error: Type= is missing; [Handler] needs Type=exec, worker, socket, http, notify, journal or discard"
            ),
            ("Type=exec", ": error: Exec= is missing; Type=exec needs the program to run"),
            ("Type=worker", ": error: Exec= is missing; Type=worker needs the program to run"),
            ("Type=socket", ": error: Connect= is missing; Type=socket needs the socket of the service"),
            ("Type=http", ": error: URL= is missing; Type=http posts to this address"),
            ("Type=http\nURL=ftp://x/", ":3: error: URL=: must be an address that begins with https:// or http://"),
            (
                "Type=http\nURL=https://me:secret@x/",
                ":3: error: URL=: must have no user and password; put a token into the file of BearerFile="
            ),
            ("Type=http\nURL=https://x/#a", ":3: error: URL=: must have no fragment (# and the text behind it)"),
            (
                "Type=http\nURL=https://x/\nSecretFile=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                ":4: error: SecretFile=: must be the absolute path of a file, or the name of a systemd credential, "
                    + "never the secret itself"
            ),
            ("Type=http\nURL=https://x/\nHeader=X", ":4: error: Header=: must be a header: Name: value"),
            (
                "Type=http\nURL=https://x/\nHeader=webhook-id: 1",
                ":4: error: Header=: webhook-id: this header is set by pushrouter-http itself"
            ),
            (
                "Type=http\nURL=https://x/\nFormat=binary",
                ":4: error: Format=binary: must be cloudevents, cloudevents-structured or plain"
            ),
            (
                "Type=http\nURL=http://crm.example/\nBearerFile=/x",
                ":4: error: BearerFile=: the token would leave this machine without TLS; begin URL= with https://"
            ),
            (
                "Type=http\nURL=https://x/\nBearerFile=/x\nHeader=Authorization: Basic abc",
                ":5: error: Header=Authorization: BearerFile= sets the same header; remove one of them"
            ),
            ("Type=socket\nConnect=crm.sock", ":3: error: Connect=crm.sock: must be an absolute path"),
            (
                "Type=worker\nExec=/x\nInstances=0",
                ":4: error: Instances=0: must be from 1 to 64"
            ),
            ("Type=worker\nExec=/x\nPipeline=65", ":4: error: Pipeline=65: must be from 1 to 64"),
            ("Type=worker\nExec=/x\nIdleTimeout=10ms", ":4: error: IdleTimeout=10ms: must be from 1s to 1d"),
            ("Type=exec\nExec=/x\nQueue=-1", ":4: error: Queue=-1: must be a whole number"),
            ("Type=exec\nExec=/x\nQueue=1000001", ":4: error: Queue=1000001: must be from 0 to 1000000"),
            (
                "Type=exec\nExec=/x\nBreaker=5",
                ":4: error: Breaker=5: must be a number of failures and a time, such as 5 in 30s"
            ),
            (
                "Type=exec\nExec=/x\nBreaker=5 per 30s",
                ":4: error: Breaker=5 per 30s: must be a number of failures and a time, such as 5 in 30s"
            ),
            ("Type=exec\nExec=/x\nBreaker=0 in 30s", ":4: error: Breaker=0 in 30s: must be from 1 to 1000"),
            ("Type=exec\nExec=/x\nBreaker=5 in 2h", ":4: error: Breaker=5 in 2h: must be from 100ms to 1h"),
            ("Type=exec\nExec=/x\nMaxConcurrent=0", ":4: error: MaxConcurrent=0: must be from 1 to 10000"),
            (
                "Type=shell",
                ":2: error: Type=shell: must be exec, worker, socket, http, notify, journal or discard"
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
                "Type=exec\nExec=/bin/a\nCredential=a",
                ":4: error: Credential=a: \"a\" must be NAME:/path, with a NAME of letters, digits and _"
            ),
            ("Type=exec\nExec=/bin/a\nCredential=a:b", ":4: error: Credential=a:b: must be an absolute path"),
            (
                "Type=exec\nExec=/bin/a\nCredential=a:/b a:/c",
                ":4: error: Credential=a: this name is given twice"
            ),
            (
                "Type=exec\nExec=/bin/a\nWorkingDirectory=~",
                ":4: error: WorkingDirectory=~: must be an absolute path"
            ),
            ("Type=exec\nExec=/bin/a\nNice=20", ":4: error: Nice=20: must be a whole number from -20 to 19"),
            ("Type=exec\nExec=/bin/a\nUser=a b", ":4: error: User=a b: must be the name or the number of a user"),
            ("Type=exec\nExec=/bin/a\nMemoryMax=4K", ":4: error: MemoryMax=4K: must be from 1M to 1048576G"),
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

    @Test("reads a worker: the number of instances, their pipeline, and their idle timeout")
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

    @Test("logs the standard error of a handler that does not say otherwise by HandlerOutput= alone")
    func handlerOutput() {
        func isLogged(_ line: String, main: String) -> Bool? {
            let handlers = ["crm": "[Handler]\nType=exec\nExec=/x\n\(line)"]
            let crm = load(main: "[Journal]\n\(main)", handlers: handlers).settings?.routing.handlers["crm"]
            guard case .exec(let command) = crm?.kind else { return nil }
            return command.logsOutput
        }
        #expect(isLogged("", main: "") == false)
        #expect(isLogged("", main: "HandlerOutput=yes") == true)
        #expect(isLogged("LogOutput=no", main: "HandlerOutput=yes") == false)
        #expect(isLogged("LogOutput=yes", main: "") == true)
    }

    @Test("reads a socket, and its pipeline")
    func readsSocket() {
        let (settings, diagnostics) = handler("Type=socket\nConnect=/run/crm.sock\nIdleTimeout=1min\nMaxConcurrent=9")
        #expect(diagnostics == [])
        let rules = InstanceRules(idleTimeout: .seconds(60))
        #expect(
            settings?.routing.handlers["crm"]
                == Handler(name: "crm", kind: .socket(path: "/run/crm.sock", rules), maxConcurrent: 9))
    }

    @Test("reads the user of a program, and its limits")
    func readsConfinement() {
        let (settings, diagnostics) = handler(
            """
            Type=exec
            Exec=/x
            User=crm
            NoNewPrivileges=no
            MemoryMax=64M
            TasksMax=20
            CPUWeight=10
            LimitNOFILE=256
            Nice=-5
            """)
        #expect(diagnostics == [])
        var confinement = Handler.Confinement()
        confinement.user = "crm"
        confinement.noNewPrivileges = false
        confinement.memoryMax = 64 << 20
        confinement.tasksMax = 20
        confinement.processorWeight = 10
        confinement.openFilesMax = 256
        confinement.niceness = -5
        #expect(settings?.routing.handlers["crm"]?.kind.command?.confinement == confinement)
    }

    @Test("reads a socket whose connections carry one invocation each")
    func readsSingleUse() {
        let (settings, diagnostics) = handler("Type=socket\nConnect=/x\nOneInvocation=yes\nInstances=8\nPipeline=4")
        #expect(
            diagnostics == [
                "handlers.d/crm.handler:6: warning: Pipeline= has no effect with OneInvocation=yes: a connection gets one line"
            ])
        #expect(settings?.routing.handlers["crm"]?.kind.instanceRules?.isSingleUse == true)
        #expect(settings?.routing.handlers["crm"]?.maxConcurrent == 8)
    }

    @Test("reads http: the URL, the method, and the number of concurrent requests")
    func readsHTTP() {
        let (settings, diagnostics) = handler(
            """
            Type=http
            URL=HTTPS://CRM.example:8443?a=b
            Header=X-Tenant:  shop
            Header=Accept-Language: de
            Format=cloudevents-structured
            SecretFile=crm-secret
            BearerFile=/etc/crm/token
            CAFile=/etc/crm/ca.pem
            HTTP2=no
            ConnectTimeout=500ms
            Connections=4
            MaxConcurrent=8
            Idempotent=yes
            """)
        #expect(diagnostics == [])
        var endpoint = HTTPEndpoint(url: "https://crm.example:8443/?a=b")
        endpoint.headers = ["X-Tenant: shop", "Accept-Language: de"]
        endpoint.format = .structuredCloudEvents
        endpoint.secretFile = "crm-secret"
        endpoint.bearerFile = "/etc/crm/token"
        endpoint.authorityFile = "/etc/crm/ca.pem"
        endpoint.http2 = .no
        endpoint.connectTimeout = .milliseconds(500)
        endpoint.connections = 4
        let rules = InstanceRules(pipeline: 8, supportsCancellation: true)
        #expect(
            settings?.routing.handlers["crm"]
                == Handler(name: "crm", kind: .bridge(Bridge(endpoint), rules), idempotent: true, maxConcurrent: 8))
    }

    @Test(
        "warns about keys that have no effect on a kind",
        arguments: [
            (
                "Type=socket\nConnect=/x\nExec=/y",
                ":4: warning: Exec= has no effect with Type=socket, which runs no program"
            ),
            (
                "Type=exec\nExec=/y\nBreaker=5 in 30s",
                ":4: warning: Breaker= has no effect with Mode=device: an app waits for its handler every time"
            ),
            (
                "Type=exec\nExec=/y\nBreakerPause=5s", ":4: warning: BreakerPause= has no effect without Breaker="
            ),
            (
                "Type=http\nURL=https://x/\nPipeline=2",
                ":4: warning: Pipeline= has no effect with Type=http, which posts to a web server"
            ),
            (
                "Type=http\nURL=http://crm.example/",
                ":3: warning: URL= begins with http://, so payloads leave this machine without TLS"
            ),
            (
                "Type=http\nURL=http://localhost/\nCAFile=/x",
                ":4: warning: CAFile= has no effect: URL= begins with http://, which has no certificates"
            ),
            (
                "Type=http\nURL=https://x/\nHeader=Authorization: Basic abc",
                ":4: warning: Header=Authorization: every reader of this file can read it; put a bearer token into "
                    + "a file of its own and name that with BearerFile="
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

    @Test("reads the length of the queue, and the conditions of the breaker")
    func readsQueueAndBreaker() {
        let file = ConfigurationFile(
            path: "handlers.d/crm.handler",
            bytes: Array("[Handler]\nType=exec\nExec=/x\nQueue=0\nBreaker=5 in 1min 30s\nBreakerPause=2s\n".utf8))
        let main = ConfigurationFile(path: "pushrouterd.conf", bytes: Array("[Dispatch]\nMode=relay\n".utf8))
        let route = ConfigurationFile(path: "routes.d/a.route", bytes: Array("[Match]\n[Route]\nHandler=crm\n".utf8))
        let (settings, diagnostics) = Settings.load(
            ConfigurationSources(main: [main], handlers: [file], routes: [route]))
        #expect(diagnostics.filter { $0.file == "handlers.d/crm.handler" } == [])
        let handler = settings?.routing.handlers["crm"]
        #expect(handler?.queueMax == 0)
        #expect(handler?.breaker == BreakerRules(failures: 5, window: .seconds(90), pause: .seconds(2)))
    }

    @Test("leaves places to others if there are others, unless the file says otherwise")
    func shareOfPlaces() {
        func leaves(_ lines: [String]) -> [Bool?] {
            let files = lines.enumerated().map { place, text in
                ConfigurationFile(path: "handlers.d/h\(place).handler", bytes: Array("[Handler]\n\(text)\n".utf8))
            }
            let loaded = Settings.load(ConfigurationSources(main: [], handlers: files, routes: [])).settings
            return lines.indices.map { loaded?.routing.handlers["h\($0)"]?.leavesPlaces }
        }
        let worker = "Type=worker\nExec=/x\nInstances=9\nPipeline=9"
        #expect(leaves(["Type=exec\nExec=/x", "Type=journal"]) == [false, false])
        #expect(leaves(["Type=exec\nExec=/x", worker, "Type=journal"]) == [true, true, false])
        #expect(leaves(["Type=exec\nExec=/x", "Type=exec\nExec=/x\nMaxConcurrent=60"]) == [true, false])
    }

    @Test("warns about keys that have no effect on a built-in handler")
    func uselessKeys() {
        let (settings, diagnostics) = handler("Type=discard\nExec=/bin/a\nIdempotent=yes")
        #expect(
            diagnostics == [
                "handlers.d/crm.handler:3: warning: Exec= has no effect with Type=discard, which runs no program"
            ])
        #expect(settings != nil)
    }

    @Test("warns about a program without a route; a built-in handler may have none")
    func unusedHandlers() {
        let (settings, diagnostics) = load(handlers: [
            "crm": "[Handler]\nType=exec\nExec=/bin/true", "none": "[Handler]\nType=discard",
        ])
        #expect(diagnostics == ["handlers.d/crm.handler: warning: no route has Handler=crm, so it never runs"])
        #expect(settings != nil)
    }

    @Test("hides a handler by an empty file, as systemd masks a unit")
    func maskedHandlers() {
        let (settings, diagnostics) = load(handlers: ["journal": ""])
        #expect(settings == nil)
        #expect(
            diagnostics == [
                "routes.d/99-default.route:2: error: Handler=journal: there is no handlers.d/journal.handler"
            ])
    }

    @Test("refuses names that are ambiguous or cannot be written", arguments: ["a b", ".x", "ä", "a\u{1B}"])
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
