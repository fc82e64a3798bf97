import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("The service's restrictions of handlers")
struct ServiceFactsTests {
    private static let packaged = """
        LoadState=loaded
        User=pushrouterd
        AmbientCapabilities=
        RestrictAddressFamilies=AF_UNIX
        PrivateNetwork=yes
        MemoryDenyWriteExecute=yes
        PrivateTmp=yes
        ProtectHome=yes
        ProtectSystem=strict
        """

    private func handler(_ kind: Handler.Kind) -> Handler { Handler(name: "crm", kind: kind) }

    private func command(user: String? = nil) -> Handler.Command {
        var command = Handler.Command(arguments: ["/opt/crm"])
        command.confinement.user = user
        return command
    }

    @Test("are read from the unit if the daemon does not run")
    func properties() throws {
        let facts = try #require(ServiceFacts(properties: Self.packaged))
        let held = ServiceFacts.names.filter { facts[keyPath: $0.fact] }.map(\.name)
        #expect(held == ["private_tmp", "hidden_homes", "read_only_root"])
        let changed = """
            LoadState=loaded
            User=pushrouterd
            AmbientCapabilities=cap_kill cap_setgid cap_setuid
            RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
            PrivateNetwork=no
            MemoryDenyWriteExecute=no
            Environment=TZ=UTC DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus
            """
        #expect(ServiceFacts(properties: changed) == ServiceFacts())
        #expect(ServiceFacts(properties: "LoadState=not-found\n") == nil)
        let refused = ServiceFacts(properties: "LoadState=loaded\nRestrictAddressFamilies=~AF_INET\n")
        #expect(refused?.hasInternetSockets == false)
    }

    @Test("are read from the daemon's status")
    func status() throws {
        let sandbox = try JSONDocument(scanning: Array(#"{"change_user":false,"private_tmp":true}"#.utf8)).root
        let facts = try #require(ServiceFacts(status: sandbox))
        #expect(!facts.canChangeUser && facts.hasPrivateTmp && facts.hasInterfaces)
    }

    @Test("give an error with the drop-in's path for User= without the capabilities, except for the daemon's own user")
    func users() throws {
        let facts = try #require(ServiceFacts(properties: Self.packaged))
        let named = handler(.exec(command(user: "crm")))
        let found = facts.problems(of: named, user: ["993", "pushrouterd"], runtime: nil)
        #expect(found.map(\.severity) == [.error])
        #expect(
            found.first?.message.contains(
                "/usr/share/doc/pushrouterd/examples/pushrouterd.service.d/handler-users.conf") == true)
        #expect(facts.problems(of: named, user: ["crm"], runtime: nil).isEmpty)
        #expect(ServiceFacts().problems(of: named, user: [], runtime: nil).isEmpty)
    }

    @Test(
        "give an error for a program, a directory and a socket that the service does not see",
        arguments: [
            ("/home/alice/bin/crm", "/home (ProtectHome=)"), ("/root/crm", "/root (ProtectHome=)"),
            ("/run/user/1000/crm", "/run/user (ProtectHome=)"), ("/tmp/crm", "/tmp of its own (PrivateTmp=)"),
            ("/var/tmp/crm", "/var/tmp of its own (PrivateTmp=)"), ("/homework/crm", nil), ("/opt/tmp/crm", nil),
        ])
    func concealed(path: String, reason: String?) throws {
        let facts = try #require(ServiceFacts(properties: Self.packaged))
        var inDirectory = command()
        inDirectory.workingDirectory = path
        let rules = InstanceRules()
        let cases: [(key: String, kind: Handler.Kind)] = [
            ("Exec", .exec(Handler.Command(arguments: [path]))), ("Exec", .worker(.init(arguments: [path]), rules)),
            ("WorkingDirectory", .exec(inDirectory)), ("Connect", .socket(path: path, rules)),
        ]
        for (key, kind) in cases {
            let found = facts.problems(of: handler(kind), user: [], runtime: nil)
            #expect(found.map(\.severity) == (reason == nil ? [] : [.error]))
            if let reason {
                #expect(found.first?.message.hasPrefix("\(key)=\(path): the service ") == true)
                #expect(found.first?.message.contains(reason) == true)
            }
            #expect(ServiceFacts().problems(of: handler(kind), user: [], runtime: nil).isEmpty)
        }
        // The program may do without an argument, so that is a warning.
        let script = handler(.exec(.init(arguments: ["/usr/bin/python3", "-u", path])))
        #expect(facts.problems(of: script, user: [], runtime: nil).map(\.severity) == (reason == nil ? [] : [.warning]))
        // The link is elsewhere, its target is what the service does not see.
        let linked = facts.problems(of: handler(.exec(command())), user: [], runtime: nil) { _ in path }
        #expect(linked.map(\.severity) == (reason == nil ? [] : [.error]))
    }

    @Test("give an error for a notify handler without the bus of a session")
    func notify() throws {
        let facts = try #require(ServiceFacts(properties: Self.packaged))
        let session = try #require(PushSettingsTests.handler("Type=notify").settings?.routing.handlers["crm"])
        let found = facts.problems(of: session, user: [], runtime: nil)
        #expect(found.map(\.severity) == [.error])
        #expect(found.first?.message.contains("systemctl --user start pushrouterd") == true)
        #expect(ServiceFacts().problems(of: session, user: [], runtime: nil).isEmpty)
        let named = try #require(
            PushSettingsTests.handler("Type=notify\nBus=unix:path=/run/other").settings?.routing.handlers["crm"])
        #expect(facts.problems(of: named, user: [], runtime: nil).isEmpty)
    }

    @Test("give an error for an http handler without network, unless pushrouter-http is a separate service")
    func network() throws {
        func http(_ url: String) throws -> Handler {
            try #require(PushSettingsTests.handler("Type=http\nURL=\(url)").settings?.routing.handlers["crm"])
        }
        let (far, near) = (try http("https://crm.example/secret"), try http("http://127.0.0.1:8080/secret"))
        let facts = try #require(ServiceFacts(properties: Self.packaged))
        for http in [far, near] {
            let found = facts.problems(of: http, user: [], runtime: nil)
            #expect(found.map(\.severity) == [.error])
            #expect(found.first?.message.contains("HTTPSocket=/run/pushrouter-http.sock") == true)
            #expect(found.first?.message.contains("secret") == false)
        }
        // A machine without another interface reaches itself.
        var alone = ServiceFacts()
        alone.hasInterfaces = false
        #expect(alone.problems(of: near, user: [], runtime: nil).isEmpty)
        #expect(alone.problems(of: far, user: [], runtime: nil).count == 1)
        for named in ["http://localhost.example/", "http://127.0.0.1.example/"] {
            #expect(alone.problems(of: try http(named), user: [], runtime: nil).count == 1)
        }
        #expect(ServiceFacts().problems(of: far, user: [], runtime: nil).isEmpty)
    }

    @Test(
        "give a warning for node, java and php under MemoryDenyWriteExecute=",
        arguments: ["node", "java", "php8.2"])
    func runtimes(name: String) throws {
        let facts = try #require(ServiceFacts(properties: Self.packaged))
        let plain = handler(.exec(command()))
        let found = facts.problems(of: plain, user: [], runtime: "/usr/bin/\(name)")
        #expect(found.map(\.severity) == [.warning])
        #expect(facts.problems(of: plain, user: [], runtime: "/usr/bin/python3").isEmpty)
        #expect(ServiceFacts().problems(of: plain, user: [], runtime: "/usr/bin/node").isEmpty)
    }
}
