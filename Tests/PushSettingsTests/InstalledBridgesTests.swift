import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("The installed bridges")
struct InstalledBridgesTests {
    @Test("Type= accepts their names and the daemon's own words, and no others")
    func words() {
        let own = ["exec", "worker", "socket", "notify", "journal", "discard"]
        let names = installedBridges.map { $0.name }
        #expect(names.contains("http"))
        #expect(HandlerDraft.Kind.allCases.map(\.rawValue).sorted() == (own + names).sorted())
        for word in own + names { #expect(HandlerDraft.Kind(rawValue: word)?.rawValue == word) }
        #expect(HandlerDraft.Kind(rawValue: "bridge") == nil)
    }

    @Test("a key has one declaration, and a bridge's keys are its own")
    func keys() {
        for names in [Schema.handler.keys.map(\.name), Schema.main.keys.map { "[\($0.section)]\($0.name)" }] {
            #expect(Set(names).count == names.count)
        }
        #expect(Schema.handler.keys.allSatisfy { $0.section == "Handler" })
    }

    @Test("a key of a bridge is valid only for its handlers, and only they get its socket")
    func belongings() throws {
        for bridge in installedBridges {
            let kind = HandlerDraft.Kind.bridge(bridge.name)
            let own = Schema.handler.keys.filter { $0.kinds == [kind] }.map(\.name)
            #expect(own == names(of: bridge))
            guard let key = bridge.socketKey else { continue }
            let settings = try #require(main("Daemon", "\(key.name)=/run/x.sock").settings)
            #expect(settings.daemon.serviceSockets == [bridge.name: "/run/x.sock"])
        }
    }

    private func names<Settings: BridgeSettings>(of bridge: Settings.Type) -> [String] { bridge.keys.map(\.name) }

    @Test("an empty value resets a key of a bridge, like any other")
    func reset() {
        let (settings, diagnostics) = handler("Type=http\nURL=https://crm.example/\nConnections=4\nConnections=")
        #expect(diagnostics == [])
        #expect(
            settings?.routing.handlers["crm"]
                == handler("Type=http\nURL=https://crm.example/").settings?.routing.handlers["crm"])
    }
}
