import Glibc
import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl verify", .timeLimit(.minutes(30)))
struct PushctlVerifyTests {
    private func verify(_ directory: String, _ arguments: String...) -> Program.Result {
        pushctl.run(["verify", "--config", directory] + arguments)
    }

    @Test("finds no fault in the shipped configuration, and prints a summary of it")
    func shipped() throws {
        let result = verify(shippedConfiguration)
        #expect(result.end == .exited(0))
        #expect(result.output.hasSuffix("\n\n0 errors, 0 warnings\n"), "the verdict is what a terminal shows last")
        #expect(result.output.contains("\nRoutes: the first matching route handles the push\n"), "there are no copies")
        #expect(result.output.contains("\nProviders  43; --verbose lists them\n"))
        #expect(!result.output.contains("klaviyo"))
        #expect(result.output.contains("\n  99-default  everything -> journal\n"))
        let object = try json(verify(shippedConfiguration, "--json").output)
        #expect(object["ok"]?.bool == true)
        #expect(object["diagnostics"]?.count == 0)
        #expect(object["deadline_ms"]?.int64 == 9000)
        #expect(object["routes"]?.elements.map { $0["name"]?.string } == ["99-default"])
        #expect(object["handlers"]?.elements.map { $0["type"]?.string } == ["discard", "journal"])
    }

    @Test("names file, line and reason of every fault, and ends with 1")
    func wrong() throws {
        let directory = TemporaryDirectory()
        for folder in ["routes.d", "handlers.d"] { mkdir("\(directory.path)/\(folder)", 0o755) }
        writeFile("[Deadline]\nBudget=10s\n", to: directory.path + "/pushrouterd.conf")
        writeFile("[Match]\n\n[Route]\nHandler=nobody\n", to: directory.path + "/routes.d/10-x.route")
        writeFile("[Handler]\nType=exec\nExec=/bin/true\n", to: directory.path + "/handlers.d/idle.handler")
        let result = verify(directory.path)
        #expect(result.end == .exited(1))
        #expect(result.lines.contains { $0.hasPrefix("\(directory.path)/pushrouterd.conf:2: error: ") })
        #expect(result.lines.contains { $0.hasPrefix("\(directory.path)/routes.d/10-x.route:4: error: ") })
        #expect(result.lines.contains { $0.hasPrefix("\(directory.path)/handlers.d/idle.handler: warning: ") })
        #expect(result.lines.last == "2 errors, 1 warning", "nothing is in force")
        writeFile("[Handler]\nType=exec\nExec=/nowhere/crm\n", to: directory.path + "/handlers.d/crm.handler")
        #expect(
            verify(directory.path).lines.contains(
                "\(directory.path)/handlers.d/crm.handler: warning: Exec=/nowhere/crm: cannot be run: "
                    + "No such file or directory"), "also beside errors")
        let object = try json(verify(directory.path, "--json").output)
        #expect(object["ok"]?.bool == false)
        #expect(object["errors"]?.int64 == 2)
        #expect(object["diagnostics"]?.elements.first?["line"]?.int64 == 2)
        #expect(object["mode"]?.kind == .null)
    }

    @Test(
        "warns of a script with CR LF or a byte order mark, of a secret that is missing, and of one that all may read")
    func programsAndSecrets() {
        let installation = Installation()
        let root = installation.root
        for (name, text) in [
            ("dos", "#!/bin/sh\r\nexit 0\r\n"), ("bom", "\u{FEFF}#!/bin/sh\n"), ("fine", "#!/bin/sh\n"),
            ("wide", "\u{200B}#!/bin/sh\n"), ("space", "#!/usr/bin/env\u{A0}sh\n"), ("utf16", ""),
        ] {
            writeFile(text, to: "\(root)/\(name).sh")
            if name == "utf16" {
                _ = Program(path: "/bin/sh").run(["-c", "printf '\\377\\376#' >\(root)/utf16.sh"])
            }
            chmod("\(root)/\(name).sh", 0o755)
            installation.addHandler(name, "Exec=\(root)/\(name).sh")
        }
        writeFile("s3cret", to: "\(root)/open")
        chmod("\(root)/open", 0o644)
        writeFile("s3cret", to: "\(root)/closed")
        chmod("\(root)/closed", 0o640)
        installation.addHandler(
            "secrets", "Exec=/bin/true\nCredential=A:\(root)/gone B:\(root)/open C:\(root)/closed")
        let warnings = verify(installation.configuration, "--quiet").lines.compactMap { line in
            line.split(separator: ".handler: warning: ", maxSplits: 1).dropFirst().first.map(String.init)
        }
        #expect(
            warnings.filter { !$0.hasPrefix("no route has") }.map {
                $0.replacing(root, with: "ROOT").prefix { $0 != "," }
            } == [
                "Exec=ROOT/bom.sh: the file begins with a byte order mark (EF BB BF)",
                "Exec=ROOT/dos.sh: its first line ends with CR LF",
                "Credential=A:ROOT/gone: No such file or directory",
                "Credential=B:ROOT/open: every user may read it: chmod o= ROOT/open",
                "Exec=ROOT/space.sh: its first line has a no-break space (C2 A0)",
                "Exec=ROOT/utf16.sh: the file is text in UTF-16: iconv -f UTF-16 -t UTF-8 makes it UTF-8",
                "Exec=ROOT/wide.sh: its first line has a space without width (E2 80 8B)",
            ], "\(warnings)")
    }

    @Test("asks the daemon for the rights of handlers, and so does doctor")
    func sandbox() throws {
        let installation = Installation()
        installation.addHandler("crm", "Exec=/bin/true\nUser=nobody")
        installation.addRoute("10-crm", to: "crm")
        mkdir(installation.runtime, 0o755)
        // A daemon that may not change its user, like the packaged one.
        let daemon = Program(path: "/bin/sh").run([
            "-c",
            """
            perl -e '
            use IO::Socket::UNIX;
            my $s = IO::Socket::UNIX->new(Local => "\(installation.runtime)/read.sock", Listen => 9) or die;
            if (!fork) {
                alarm 60;
                while (my $c = $s->accept) {
                    my $answer = "{\\"ok\\":true,\\"status\\":{\\"sandbox\\":{\\"change_user\\":false}}}\\n";
                    while (<$c>) { print $c $answer; $c->flush }
                }
            }
            ' >/dev/null 2>&1
            """,
        ])
        #expect(daemon.end == .exited(0))
        let mistake = "crm.handler: error: User=nobody: the service may not run programs as another user"
        for command in ["verify", "doctor"] {
            let result = pushctl.run(
                [
                    command, "--config", installation.configuration, "--runtime", installation.runtime,
                ] + (command == "doctor" ? ["--state", installation.state] : []))
            #expect(result.end == .exited(1) && result.output.contains(mistake), "\(result.output)")
        }
    }

    @Test("warns about files and folders that are ignored for their names, as the daemon does, but not about copies")
    func strays() throws {
        let installation = Installation()
        for folder in ["tracks.d", "providers.d", "route.d", "routes.d/old", "certificates"] {
            mkdir("\(installation.configuration)/\(folder)", 0o755)
        }
        let strays = [
            "providers.d/crm", "handlers.d/x.handlr", "routes.d/40-x.conf", "routes.d/40-x.rout", "tracks.d/x.tracks",
        ]
        let others = [
            ".x.swp", "x.route~", "x.bak", "x.orig", "x.swp", "x.route.disabled", "x.route.dpkg-old", "x.rpmnew",
            "x.ucf-dist", "README", "README.md", "#x.route#", "x.route.example",
        ]
        for name in strays + others.map({ "routes.d/\($0)" }) { installation.write(name, "") }
        let lines = verify(installation.configuration, "--quiet").lines.filter { !$0.isEmpty }
        let expected =
            ["\(installation.configuration)/route.d: warning: is not read; did you mean routes.d?"]
            + strays.map { "\(installation.configuration)/\($0): warning: is not read: the name of a file in " }
        #expect(lines.count == expected.count, "\(lines)")
        for (line, start) in zip(lines, expected) { #expect(line.hasPrefix(start), "\(line)") }
        let advice = "rename it to 40-x.route, or to 40-x.rout.disabled to disable it"
        #expect(lines.contains { $0.hasSuffix(advice) })
        let daemon = try DaemonProcess.ready(installation)
        #expect(try daemon.stop() == .exited(0))
        for line in lines { #expect(daemon.standardError.contains(line), "\(daemon.standardError)") }
    }

    @Test("warns about a drop-in whose name does not end in .conf")
    func strayDropIn() {
        let directory = TemporaryDirectory()
        for name in ["pushrouterd", "gateway", "web"] {
            mkdir("\(directory.path)/\(name).conf.d", 0o755)
            writeFile("", to: "\(directory.path)/\(name).conf.d/y.cfg")
        }
        let result = verify(directory.path, "--quiet")
        for name in ["pushrouterd", "gateway", "web"] {
            let place = "\(directory.path)/\(name).conf.d/y.cfg: warning: is not read: "
            #expect(result.lines.contains { $0.hasPrefix(place) && $0.contains("rename it to y.conf") })
        }
    }

    @Test(
        "checks gateway.conf and web.conf too, as doctor does, and repeats no secret that stands in place of its file")
    func services() {
        let directory = TemporaryDirectory()
        writeFile("[Web]\nToken=hush-0123456789\nHots=a\n", to: directory.path + "/web.conf")
        writeFile("[Gateway]\nCredentials=hush\nKeys=hush\n", to: directory.path + "/gateway.conf")
        let places = ["--config", directory.path, "--runtime", directory.path, "--state", directory.path]
        for result in [verify(directory.path), pushctl.run(["doctor"] + places)] {
            #expect(result.end == .exited(1))
            #expect(result.output.contains("web.conf:2: error: Token=: must be the absolute path"))
            #expect(result.output.contains("web.conf:3: warning: unknown key Hots="))
            #expect(result.output.contains("gateway.conf:2: error: Credentials=: must be"))
            #expect(result.output.contains("gateway.conf:3: error: Keys=: must be"))
            #expect(!(result.output + result.errors).contains("hush"), "\(result.output)")
        }
        writeFile("", to: directory.path + "/gateway.conf")
        writeFile("[Web]\nListen=192.0.2.1:80\nProxy=nobody-here\n", to: directory.path + "/web.conf")
        let open = verify(directory.path)
        #expect(open.output.contains("web.conf: error: Listen=192.0.2.1:80: other machines reach it"))
        #expect(open.output.contains("web.conf: warning: Proxy=nobody-here: there is no such user"))
        writeFile("[Web]\nToken=\(directory.path)/token\n", to: directory.path + "/web.conf")
        #expect(verify(directory.path).output.contains("Token=\(directory.path)/token: there is no such file"))
        writeFile("0123456789abcdef\n", to: directory.path + "/token")
        #expect(!verify(directory.path).output.contains("Token="))
    }

    @Test("warns of the gateway's directories that are missing or empty, and of a key that every user may read")
    func gatewaySecrets() {
        let directory = TemporaryDirectory()
        let (credentials, keys) = (directory.path + "/credentials", directory.path + "/keys")
        writeFile("[Gateway]\nCredentials=\(credentials)\nKeys=\(keys)\n", to: directory.path + "/gateway.conf")
        mkdir(keys, 0o755)
        let found = verify(directory.path).output
        #expect(found.contains("gateway.conf:2: warning: Credentials=\(credentials): No such file or directory"))
        #expect(found.contains("gateway.conf:3: warning: Keys=\(keys): no file there ends in .p8"))
        mkdir(credentials, 0o755)
        writeFile("{}", to: credentials + "/a.json")
        writeFile("", to: keys + "/AuthKey_A.p8")
        chmod(credentials + "/a.json", 0o644)
        chmod(keys + "/AuthKey_A.p8", 0o640)
        let open = verify(directory.path).output
        #expect(open.contains("Credentials=\(credentials)/a.json: every user may read it: chmod o= "))
        #expect(!open.contains("Keys="), "\(open)")
    }

    @Test("reports the mistakes in the file of Errors=, in the words of the gateway")
    func errorRules() {
        let directory = TemporaryDirectory()
        let rules = "\(directory.path)/errors"
        writeFile("[Gateway]\nErrors=\(rules)\n", to: directory.path + "/gateway.conf")
        let gateway = Program(product: "pushrouter-gateway")
        func check() -> String { gateway.run(["--config", directory.path, "--check"]).errors }
        writeFile("# mine\n{\"answer\":\"UNREGISTRED\"}\n{\"answer\":\"INTERNAL\",\"conut\":1}\n", to: rules)
        let mistakes = [
            "\(rules):2: error: answer: no service has an answer of this name",
            "\(rules):3: error: conut: there is no such key; did you mean count?",
        ]
        let verified = verify(directory.path)
        #expect(verified.end == .exited(1))
        for mistake in mistakes { #expect(verified.output.contains(mistake) && check().contains(mistake)) }
        unlink(rules)
        let missing = "\(rules): error: there is no such file; Errors= names it"
        #expect(verify(directory.path).output.contains(missing) && check().contains(missing))
        writeFile("{\"answer\":\"INTERNAL\"}\n", to: rules)
        #expect(!verify(directory.path).output.contains(rules))
    }

    @Test("prints with --effective each setting in force and the place that it comes from")
    func effective() throws {
        let installation = Installation()
        mkdir("\(installation.configuration)/pushrouterd.conf.d", 0o755)
        installation.write("pushrouterd.conf.d/9.conf", "[Store]\nRetention=7d\n")
        installation.write("web.conf", "[Web]\nStreamsMax=7\n")
        let result = verify(installation.configuration, "--effective")
        #expect(result.end == .exited(0), "\(result.output)")
        func line(_ beginning: String) -> [Substring] {
            result.lines.first { $0.hasPrefix("  \(beginning)=") }?.split(separator: " ") ?? []
        }
        let directory = installation.configuration
        #expect(line("[Store] Retention") == ["[Store]", "Retention=7d", "\(directory)/pushrouterd.conf.d/9.conf:2"])
        #expect(line("[Dispatch] HandlersMax").last == "default")
        #expect(line("[Web] StreamsMax") == ["[Web]", "StreamsMax=7", "\(directory)/web.conf:2"])
        #expect(line("[Gateway] Provider") == ["[Gateway]", "Provider=any", "default"])
        #expect(result.lines.last == "0 errors, 0 warnings" || result.lines.last?.hasPrefix("0 errors") == true)
        let settings = try json(verify(directory, "--effective", "--json").output)["settings"]?.elements ?? []
        let retention = try #require(settings.first { $0["key"]?.string == "Retention" })
        #expect(retention["value"]?.string == "7d" && retention["line"]?.int64 == 2)
        #expect(retention["of"]?.string == "pushrouterd.conf" && retention["default"]?.bool == false)
        #expect(try json(verify(directory, "--json").output)["settings"]?.kind != .array)
    }

    @Test("pushctl verify names a directory that it cannot read")
    func missing() {
        let result = verify("/nowhere")
        #expect(result.end == .exited(1))
        #expect(result.output == "/nowhere: error: No such file or directory\n1 error, 0 warnings\n")
    }

    @Test("does not block on a FIFO or an endless file; /dev/null counts as empty")
    func endless() {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/routes.d", 0o755)
        mkfifo(directory.path + "/routes.d/10-pipe.route", 0o644)
        symlink("/dev/null", directory.path + "/pushrouterd.conf")
        #expect(verify(directory.path).end != .signaled(SIGKILL))
        symlink("/dev/zero", directory.path + "/routes.d/20-zero.route")
        let result = verify(directory.path)
        let told = "\(directory.path)/routes.d/20-zero.route: error: File too large; the limit is 4 MiB"
        let expected = "\(told)\n1 error, 0 warnings\n"
        #expect(result.end == .exited(1) && result.output == expected, "\(result.output)")
    }

    @Test("checks the providers, the shipped ones below those of the directory, and lists them")
    func providers() throws {
        let directory = TemporaryDirectory()
        mkdir("\(directory.path)/providers.d", 0o755)
        writeFile("[iOS]\nAll=presnt crm\n", to: directory.path + "/providers.d/crm.provider")
        writeFile("", to: directory.path + "/providers.d/klaviyo.provider")
        let wrong = verify(directory.path)
        #expect(wrong.lines.contains { $0.hasPrefix("\(directory.path)/providers.d/crm.provider:2: error: ") })
        writeFile("[iOS]\nOrder=150\nAll=present crm\n", to: directory.path + "/providers.d/crm.provider")
        let output = verify(directory.path, "--verbose").output
        #expect(output.contains(", providers of low confidence last\n"))
        #expect(output.contains("\n  braze                android 0, ios 0, web 0\n"))
        #expect(output.contains("\n  crm                  ios 150\n"))
        #expect(output.contains("\n  onesignal            android 200 own receiver, ios 200, web 200\n"))
        #expect(output.contains("\n  appsflyer-uninstall  android 200 low confidence; uninstall probe\n"))
        let names = try json(verify(directory.path, "--json").output)["providers"]?.elements.map { $0["name"]?.string }
        #expect(names?.contains("crm") == true && names?.contains("klaviyo") == false)
    }

    @Test("shows the conditions, the deadline and the program of an own route")
    func route() {
        let directory = TemporaryDirectory()
        for folder in ["routes.d", "handlers.d"] { mkdir("\(directory.path)/\(folder)", 0o755) }
        writeFile(
            "[Match]\nProvider=none\nPlatform=ios web\nData=campaign summer-*\n\n[Route]\nHandler=crm\nDeadline=4s\n",
            to: directory.path + "/routes.d/20-crm.route")
        writeFile(
            "[Handler]\nType=exec\nExec=/bin/echo --json\n", to: directory.path + "/handlers.d/crm.handler")
        writeFile("[Route]\nHandler=crm\nObserve=yes\n", to: directory.path + "/routes.d/30-all.route")
        let output = verify(directory.path).output
        #expect(output.contains("  30-all  everything -> copy to crm\n"))
        #expect(output.contains("handles the push; each matching copy is sent as well\n"))
        #expect(
            output.contains("  20-crm  Provider=none, Platform=ios web, Data=campaign summer-* -> crm within 4000 ms\n")
        )
        #expect(output.contains("  crm  exec: /bin/echo --json\n"))
    }

    @Test("lists the tracks, and reports those without effect")
    func tracks() throws {
        let directory = TemporaryDirectory()
        for folder in ["routes.d", "tracks.d"] { mkdir("\(directory.path)/\(folder)", 0o755) }
        writeFile("[Route]\nHandler=journal\n", to: directory.path + "/routes.d/99-default.route")
        writeFile("On=opened", to: directory.path + "/tracks.d/x.track.example")
        writeFile(
            "[Match]\nProvider=braze\n[Track]\nOn=opened action\nAction=buy*\n[Identifier]\nKeyValue=braze_id\n"
                + "[Event]\nName=push opened\nProperty=price number keyvalue:price\n"
                + "[Attributes]\nUserAttribute=email string keyvalue:email\n",
            to: directory.path + "/tracks.d/50-opened.track")
        mkdir("\(directory.path)/handlers.d", 0o755)
        writeFile("[Handler]\nType=journal\n", to: directory.path + "/handlers.d/journal.handler")
        let result = verify(directory.path)
        #expect(
            result.lines.contains(
                "tracks.d: warning: [UsersTrack] has no Endpoint=, so nothing is sent until it has "
                    + "one: entries wait, up to MaxPending=100000"))
        #expect(
            result.output.contains(
                "\nTracks: each matching track makes an entry for /users/track\n"
                    + "  50-opened  On=opened action, Action=buy*, Provider=braze -> event \"push opened\", "
                    + "attributes email of braze_id in key-value braze_id\n"))
        let track = try #require(json(verify(directory.path, "--json").output)["tracks"]?.elements.first)
        #expect(track["on"]?.elements.map(\.string) == ["opened", "action"])
        #expect(track["properties"]?.elements.map(\.string) == ["price"])
        #expect(!verify(shippedConfiguration).output.contains("Tracks"))
    }

    @Test("reports a missing or readable API key file, and a mask of Braze")
    func doubtful() {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/providers.d", 0o755)
        writeFile("", to: directory.path + "/providers.d/braze.provider")
        let key = directory.path + "/key"
        writeFile(
            "[UsersTrack]\nEndpoint=https://rest.example.com/users/track\nKeyFile=\(key)\n",
            to: directory.path + "/pushrouterd.conf")
        let missing = verify(directory.path)
        #expect(missing.end == .exited(0), "warnings are no errors")
        #expect(
            missing.lines.contains {
                $0.hasPrefix("\(directory.path)/pushrouterd.conf: warning: KeyFile=\(key): No such file or directory")
            }, "\(missing.output)")
        #expect(
            missing.lines.contains {
                $0.hasPrefix("providers.d: warning: braze.provider is empty and masks Braze's rule")
            }, "\(missing.output)")
        writeFile("k\n", to: key)
        chmod(key, 0o644)
        #expect(verify(directory.path).output.contains("KeyFile=\(key): its mode is 644, so others may read the key"))
        chmod(key, 0o600)
        #expect(!verify(directory.path).output.contains("KeyFile="))
    }
}
