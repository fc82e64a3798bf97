import Glibc
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("etc/pushrouterd, as shipped")
struct ShippedConfigurationTests {
    private static let directory = {
        let components = #filePath.split(separator: "/").dropLast(3)
        return "/" + components.joined(separator: "/") + "/etc/pushrouterd"
    }()

    private func read(_ path: String) throws -> ConfigurationFile {
        let stream = try #require(fopen("\(Self.directory)/\(path)", "r"), "cannot open \(path)")
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, stream))
        return ConfigurationFile(path: path, bytes: bytes)
    }

    private func sources() throws -> ConfigurationSources {
        ConfigurationSources(
            main: [try read("pushrouterd.conf")],
            handlers: [try read("handlers.d/journal.handler"), try read("handlers.d/discard.handler")],
            routes: [try read("routes.d/99-default.route")])
    }

    @Test("makes a comment of a text's first sentence, and a manual page of the text")
    func manualText() {
        let text = ManualText(
            "How many, `Key=` or /etc/x.conf (see pushrouterd(8)), at `1 s` (`no`). It's `PUSH_N`, `\\`; .x is \\.")
        #expect(text.comment == #"# How many, Key= or /etc/x.conf (see pushrouterd(8)), at "1 s" ("no")."#)
        #expect(
            text.manual == #"""
                How many,
                .Cm Key=
                or
                .Pa /etc/x.conf
                (see
                .Xr pushrouterd 8 ) ,
                at
                .Ql 1 s
                .Ql ( no ) .
                It's
                .Ev PUSH_N ,
                .Ql \&\e ;
                \&.x is \e.
                """#)
    }

    @Test("has the defaults, the built-in handlers and one route to the journal, without a diagnostic")
    func givesDefaults() throws {
        let (loaded, diagnostics) = Settings.load(try sources())
        #expect(diagnostics == [])
        let settings = try #require(loaded)
        #expect(mainValues(of: settings) == mainValues(of: Settings()))
        #expect(
            settings.routing.handlers == [
                "journal": Handler(name: "journal", kind: .journal),
                "discard": Handler(name: "discard", kind: .discard),
            ])
        #expect(settings.routing.routes == [Route(name: "99-default", match: RouteMatch(), handler: "journal")])
    }

    @Test(
        "has every key of the files with hand-written lists in pushrouterd.conf(5)",
        arguments: [
            Schema<RouteDraft>.route.keys.map(\.name), Schema<TrackDraft>.track.keys.map(\.name),
            Schema<ProviderDraft>.provider.keys.map(\.name), Schema<RegistrationDraft>.registration.keys.map(\.name),
            Schema<ProducerRuleDraft>.producer.keys.map(\.name),
        ])
    func manualPageHasEveryKey(names: [String]) throws {
        let page = try read("../../packaging/man/pushrouterd.conf.5")
        let words = Set(
            String(decoding: page.bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }.filter { $0.hasSuffix("=") })
        #expect(names.filter { !words.contains("\($0)=") } == [])
    }

    @Test(
        "has each key in pushrouterd.conf(5) under a section that accepts it",
        arguments: [
            ("PROVIDER FILES", Schema<ProviderDraft>.provider.keys.map { "[\($0.section)]\($0.name)=" }),
            ("ROUTE FILES", Schema<RouteDraft>.route.keys.map { "[\($0.section)]\($0.name)=" }),
            ("TRACK FILES", Schema<TrackDraft>.track.keys.map { "[\($0.section)]\($0.name)=" }),
            (
                "REGISTRATION FILES",
                Schema<RegistrationDraft>.registration.keys.map { "[\($0.section)]\($0.name)=" }
            ),
            ("PRODUCER FILES", Schema<ProducerRuleDraft>.producer.keys.map { "[\($0.section)]\($0.name)=" }),
        ])
    func manualPageHasKeysInTheirSections(heading: String, known: [String]) throws {
        let page = try read("../../packaging/man/pushrouterd.conf.5")
        var (isInside, sections, misplaced, count) = (false, [Substring](), [String](), 0)
        for line in String(decoding: page.bytes, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix(".Sh ") { (isInside, sections) = (line == ".Sh \(heading)", []) }
            if line.hasPrefix(".Ss ") {
                sections = line.dropFirst(4).split { $0 == "," || $0 == " " }.filter { $0.hasPrefix("[") }
            }
            guard isInside, !sections.isEmpty, line.hasPrefix(".It Cm ") else { continue }
            for word in line.split(separator: " ") where word.hasSuffix("=") && word.count > 1 {
                count += 1
                let isKnown = sections.contains { known.contains("\($0)\(word)") }
                if !isKnown { misplaced.append("\(sections) \(word)") }
            }
        }
        #expect(misplaced == [] && count > 0)
    }

    @Test("has the length limit of a file in pushrouterd.conf(5)")
    func manualPageHasLength() throws {
        let page = String(decoding: try read("../../packaging/man/pushrouterd.conf.5").bytes, as: UTF8.self)
        #expect(page.contains("A file is at most \(INIFile.lengthMax >> 20) MiB long."))
        let longest = [UInt8](repeating: UInt8(ascii: "#"), count: INIFile.lengthMax)
        for (bytes, isRead) in [(longest, true), (longest + longest.prefix(1), false)] {
            var sources = try sources()
            sources.main = [ConfigurationFile(path: "pushrouterd.conf", bytes: bytes)]
            #expect((Settings.load(sources).0 != nil) == isRead)
        }
    }

    @Test("has an example of a track that is inactive as shipped, and valid once it is active")
    func exampleTrack() throws {
        var file = try read("tracks.d/50-push-opened.track.example")
        #expect(!file.path.hasSuffix(".track"))
        var sources = try sources()
        // The comments of the file contain more lines: with them it is also valid.
        let text = String(decoding: file.bytes, as: UTF8.self)
        let lines = text.split(separator: "\n").map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }
        file.bytes = Array(lines.joined(separator: "\n").utf8)
        sources.main.append(ConfigurationFile("endpoint", "[UsersTrack]\nEndpoint=https://rest.fra-01.braze.eu"))
        sources.tracks = [file]
        let (settings, diagnostics) = Settings.load(sources)
        #expect(diagnostics == [])
        let track = try #require(settings?.routing.tracks.first)
        #expect(track.occasions == [.opened, .action])
        #expect(track.match.apps == [Glob("com.example.*")])
        #expect(track.event?.properties.count == 4)
        #expect(track.attributes.count == 1)
    }

    @Test("equals the built-in default that applies without installed files")
    func standsIn() throws {
        let (installed, _) = Settings.load(try sources())
        let (standIn, diagnostics) = Settings.load(.shipped)
        #expect(diagnostics == [])
        #expect(standIn?.routing.routes == installed?.routing.routes)
        #expect(standIn?.routing.handlers == installed?.routing.handlers)
    }

    @Test("has every provider compiled in unchanged, and each loads without a diagnostic")
    func providers() throws {
        let folder = try #require(opendir("\(Self.directory)/providers.d"))
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        let shipped = ConfigurationSources.shippedProviders
        #expect(shipped.map { $0.path } == names.sorted().map { "(shipped) providers.d/\($0)" })
        for (file, name) in zip(shipped, names.sorted()) {
            #expect(file.bytes == (try read("providers.d/\(name)")).bytes, "\(name)")
        }
        let (settings, diagnostics) = Settings.load(.shipped)
        #expect(diagnostics == [])
        #expect(settings?.routing.detection.providers.map { "\($0.name).provider" }.sorted() == names.sorted())
    }

    @Test("has an explanation for every key, alone or with the one before it")
    func meanings() {
        for keys in [
            Schema.main.keys.map { ($0.section, $0.meaning) }, Schema.handler.keys.map { ($0.section, $0.meaning) },
        ] {
            for (before, key) in zip([("", "")] + keys, keys) where key.1.isEmpty { #expect(before.0 == key.0) }
            for (_, meaning) in keys where !meaning.isEmpty { #expect(meaning.hasSuffix("."), "\(meaning)") }
        }
    }

    @Test("has the true default of every key of pushrouterd.conf", arguments: Schema.main.keys.indices)
    func declaresDefault(_ index: Int) throws {
        let key = Schema.main.keys[index]
        let (section, shown) = ("[\(key.section)]", "\(key.name)=\(key.standard)")
        // Starts from another value, so that a key without an effect fails.
        let changed = try #require(everythingChanged.first { $0.hasPrefix("\(key.name)=") })
        let (settings, diagnostics) = Settings.load(
            ConfigurationSources(main: [
                ConfigurationFile("changed", "\(section)\n\(changed)"),
                ConfigurationFile("shown", "\(section)\n\(shown)"),
            ]))
        #expect(diagnostics.map(\.file) == ["routes.d"], "\(shown)")
        #expect(mainValues(of: try #require(settings)) == mainValues(of: Settings()), "\(shown)")
        let before = Settings.load(
            ConfigurationSources(main: [ConfigurationFile("changed", "\(section)\n\(changed)")]))
        var new = try #require(before.settings)
        #expect(mainValues(of: new) != mainValues(of: Settings()), "\(changed)")
        // The messages of a reload about the changed key.
        let said = new.keepUntilRestart(of: Settings())
        #expect(
            said.count == (key.waitsForRestart ? 1 : 0)
                && said.allSatisfy { $0.hasPrefix("\(key.name)= in \(section) ") })
        #expect((mainValues(of: new) == mainValues(of: Settings())) == key.waitsForRestart)
        #expect(new.keepUntilRestart(of: Settings()) == [])
    }

    /// All settings of the main file, in a form that can be compared.
    private func mainValues(of settings: Settings) -> [String] {
        [
            "\(settings.daemon)", "\(settings.routing.mode)", "\(settings.routing.limits)",
            "\(settings.routing.retry)", "\(settings.routing.budget)", "\(settings.routing.publishTimeMax)",
            "\(settings.store)",
            "\(settings.journal)", "\(settings.routing.tracking)", "\(settings.routing.completion)",
            "\(settings.routing.interaction)", "\(settings.routing.detection.brazeKeys)",
            "\(settings.routing.detection.runsServiceExtensionInForeground)", "\(settings.campaignIDRule)",
            "\(settings.routing.customData)", "\(settings.usersTrack)", "\(String(describing: settings.objective))",
        ]
    }

    /// For each key a value that is not its default.
    private let everythingChanged = [
        "RequestLengthMax=2K", "JSONDepthMax=5", "ConnectionsMax=2", "ConnectionsMaxPerPeer=2", "InjectSocketMode=0600",
        "RequestsInFlightSizeMax=2M", "RequestsInFlightSizeMaxPerPeer=2M", "PayloadMemoryMax=2M",
        "InvocationMemoryMax=2M", "InvocationMemoryMaxPerPeer=2M",
        "DeviceMemoryMax=2M", "FanOutMax=9", "PublishTimeMax=2s",
        "InputSizeMax=2M", "InputSizeMaxPerPeer=2M", "OutputSizeMax=2M", "OutputSizeMaxPerPeer=2M", "LineTimeout=2s",
        "WriteTimeout=2s", "IdleTimeout=2s", "LogSizeMax=65M", "SlowCommit=2s",
        "Log=postgresql://db.example/push", "Durability=engine", "Node=a", "Lease=2s", "SnapshotEvery=2d",
        "SnapshotRate=2M",
        "InjectSocketGroup=x", "ControlSocketMode=0600", "ControlSocketGroup=x", "ReadSocketMode=0600",
        "ReadSocketGroup=x", "HTTPSocket=/x", "Mode=relay", "HandlersMax=2",
        "ObserversMax=2",
        "RequestsInFlightMax=2", "RequestsInFlightMaxPerPeer=2", "RetryDelay=1s", "RetryDelayMax=3s", "Budget=1s",
        "Objective=99%",
        "Retention=1h", "MaxSize=65M", "DeadLetterRetention=2h", "FiguresRetention=2h", "DeadLetterSizeMax=1M",
        "SuccessLevel=debug", "HandlerOutput=yes", "QueueMax=2", "Remember=1h", "RememberMax=2",
        "InfluencedWindow=1h", "InfluencedWindowRule=min", "InfluencedCredit=latest", "Grace=1s",
        "AndroidSessionTimeout=1s",
        "IosSessionTimeout=1s", "WebSessionTimeout=1s", "IosForeground=yes", "CampaignEventsOff=x",
        "RememberUsersMax=2", "CampaignIdRule=decode",
        "PresentationOptions=none",
        "DismissActionCategories=a*", "ReceiverApps=b*", "ServiceExtensionInForeground=yes", "FetchResult=newData",
        "RefreshFeatureFlagsKey=x", "RefreshBannersKey=x",
        "UniqueIdKey=x",
        "EventTime=flushed", "Endpoint=https://x", "KeyFile=/x", "BatchSize=2", "CombinedLimit=2", "Flush=2s",
        "RateLimit=2", "RateInterval=2s", "Timeout=2s", "Connections=3", "OnUnknown=retry", "SendFlushed=yes",
        "MaxPending=2", "MaxPendingSize=1M", "ArrayElementsMax=2",
    ]
}
