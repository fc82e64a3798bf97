import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("A configuration that is kept")
struct KeptConfigurationTests {
    private func sources(in directory: String = "/etc/pushrouterd", route: String = "crm") -> ConfigurationSources {
        var sources = ConfigurationSources(
            main: [
                ConfigurationFile(
                    path: "\(directory)/pushrouterd.conf",
                    bytes: Array(
                        "# s3cret1\n[Deadline]\nBudget=8s\n[Store]\nLog=postgresql://s3cret2@h/d\n".utf8))
            ],
            providers: [ConfigurationFile(path: "\(directory)/providers.d/adobe.provider", bytes: [])],
            handlers: [
                ConfigurationFile(
                    path: "\(directory)/handlers.d/crm.handler",
                    bytes: Array("[Handler]\nType=exec\nExec=/bin/crm --key s3cret3\nEnvironment=KEY=s3cret4\n".utf8)),
                ConfigurationFile(
                    path: "\(directory)/handlers.d/post.handler",
                    bytes: Array(
                        """
                        [Handler]
                        Type=http
                        URL=https://example.org/?k=s3cret5
                        Header=X-Key: s3cret6
                        BearerFile=s3cret7

                        """.utf8)),
                ConfigurationFile(path: "\(directory)/handlers.d/mask.handler", bytes: []),
            ],
            routes: [
                ConfigurationFile(
                    path: "\(directory)/routes.d/10-all.route",
                    bytes: Array("[Match]\n[Route]\nHandler=\(route)\n".utf8))
            ],
            registrations: [
                ConfigurationFile(
                    path: "\(directory)/registrations.d/anna.registration",
                    bytes: Array("[Registration]\nToken=t\nExternalID=anna\n".utf8))
            ],
            producers: [
                ConfigurationFile(
                    path: "\(directory)/producers.d/10-shop.producer",
                    bytes: Array("[Match]\nUser=4711\n[Producer]\nRefuse=yes\n".utf8))
            ])
        sources.strays = [Diagnostic(.warning, file: "x", message: "y")]
        return sources
    }

    @Test("is the same after its text was written and read, without what decides nothing and without persons")
    func roundTrip() throws {
        let sources = sources()
        let read = try #require(ConfigurationSources(keptText: sources.keptText))
        #expect(read.id == sources.id && read.keptText == sources.keptText)
        #expect(read.main == sources.main && read.routes == sources.routes)
        #expect(read.handlers == sources.handlers.filter { !$0.isMask })
        #expect(read.registrations.isEmpty && !String(decoding: sources.keptText, as: UTF8.self).contains("anna"))
        let (first, second) = (Settings.read(sources).settings, Settings.read(read).settings)
        let (these, those) = (first.routing.detection.providers, second.routing.detection.providers)
        #expect(these == those, "the masked provider stays masked")
        #expect(first.routing.handlers == second.routing.handlers && first.routing.routes == second.routing.routes)
        #expect(second.routing.budget == .seconds(8))
        #expect(second.producers == first.producers && first.producers.map(\.name) == ["10-shop"])
    }

    @Test("has an id of its contents: the same in every directory, another one with any other file")
    func id() {
        #expect(sources().id == sources(in: "/run/x").id)
        #expect(sources().id != sources(route: "post").id)
        var masked = sources()
        masked.providers = []
        #expect(masked.id != sources().id)
        var node = sources()
        node.main[0].bytes += Array("Node=other\n".utf8)
        #expect(node.id == sources().id, "[Store] is a machine's own")
        node.main[0].bytes += Array("[Deadline]\nBudget=7s\n".utf8)
        #expect(node.id != sources().id)
        #expect(ConfigurationID(sources().id.description) == sources().id)
        for text in ["", "0123", "0123456789abcdeg", "0123456789abcdef0"] { #expect(ConfigurationID(text) == nil) }
    }

    @Test("that was cut at any place has another id, or none")
    func cut() {
        let text = sources().keptText
        for count in stride(from: 0, to: text.count, by: 7) {
            let read = ConfigurationSources(keptText: Array(text[..<count]))
            #expect(read?.id != sources().id, "\(count)")
        }
    }

    @Test("explains the same without secrets, comments and arguments")
    func secrets() throws {
        let shown = sources().forExplaining
        let text = String(decoding: shown.keptText, as: UTF8.self)
        #expect(!text.contains("s3cret"), "\(text)")
        let (whole, part) = (
            Settings.read(sources()).settings.routing,
            Settings.read(try #require(ConfigurationSources(keptText: shown.keptText))).settings.routing
        )
        #expect(part.handlers.keys.sorted() == whole.handlers.keys.sorted())
        #expect(part.routes == whole.routes && part.detection.providers == whole.detection.providers)
        #expect(part.budget == whole.budget)
    }

    @Test("stays while a stored request names it: the oldest that none names goes first")
    func bounds() {
        var kept = KeptConfigurations()
        func id(_ number: Int) -> ConfigurationID { ConfigurationID(digestOf: [UInt8(number)]) }
        func time(_ number: Int) -> WallTime { WallTime(milliseconds: Int64(number)) }
        for number in 0..<KeptConfigurations.countMax {
            kept.put(id(number), length: 100, at: time(number)) { _ in
                Issue.record("there is room")
                return false
            }
        }
        kept.put(id(100), length: 100, at: time(100)) { [0, 1, 3].map(id).contains($0) }
        #expect(kept.entries.count == KeptConfigurations.countMax)
        #expect(kept.entries.prefix(3).map(\.id) == [0, 1, 3].map(id))
        kept.put(id(101), length: 100, at: time(101)) { _ in true }
        #expect(kept.entries.first?.id == id(1), "all are named: the oldest goes")
        kept.put(id(102), length: KeptConfigurations.lengthMax - 150, at: time(102)) { _ in true }
        #expect(kept.entries.map(\.id) == [101, 102].map(id))
        kept.put(id(103), length: KeptConfigurations.lengthMaxOfOne, at: time(103)) { _ in true }
        #expect(kept.entries.map(\.id) == [id(103)], "the one in force stays, whatever its length")
        var full = KeptConfigurations()
        full.put(id(1), length: 100, at: time(1)) { _ in false }
        full.put(id(2), length: KeptConfigurations.lengthMax - 100, at: time(2)) { _ in false }
        #expect(full.entries.count == 2)
        full.put(id(3), length: 1, at: time(3)) { _ in false }
        #expect(full.entries.map(\.id) == [2, 3].map(id))
        for (length, count) in [(KeptConfigurations.lengthMaxOfOne, 1), (KeptConfigurations.lengthMaxOfOne + 1, 0)] {
            var one = KeptConfigurations()
            one.put(id(1), length: length, at: time(1)) { _ in false }
            #expect(KeptConfigurations(text: one.text).entries.count == count)
        }
    }

    @Test("keeps its time while it is in force, and gets another when it comes back")
    func times() {
        var kept = KeptConfigurations()
        let (a, b) = (ConfigurationID(digestOf: [1]), ConfigurationID(digestOf: [2]))
        for (id, at) in [(a, 1), (a, 2), (b, 3), (a, 4)] as [(ConfigurationID, Int64)] {
            kept.put(id, length: 9, at: WallTime(milliseconds: at)) { _ in false }
            if at == 2 { #expect(kept.last?.since.milliseconds == 1) }
        }
        #expect(kept.entries.map(\.id) == [b, a] && kept.entries.map(\.since.milliseconds) == [3, 4])
        #expect(KeptConfigurations(text: kept.text) == kept)
        #expect(KeptConfigurations(text: Array("x\n0123 4 5\n".utf8) + kept.text + Array("0".utf8)) == kept)
    }
}
