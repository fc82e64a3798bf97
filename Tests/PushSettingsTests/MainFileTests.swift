import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("pushrouterd.conf")
struct MainFileTests {
    @Test("reads every key into its setting")
    func readsEveryKey() throws {
        let (loaded, diagnostics) = load(
            main: """
                [Daemon]
                RequestLengthMax=1M
                JSONDepthMax=16
                ConnectionsMax=10
                ConnectionsMaxPerPeer=5
                InjectSocketMode=0666
                InjectSocketGroup=push
                ControlSocketMode=0600
                ControlSocketGroup=1000
                [Dispatch]
                Mode=relay
                HandlersMax=3
                RequestsInFlightMax=100
                RequestsInFlightMaxPerPeer=50
                RetryDelay=1s
                PresentationOptions=list badge
                DismissActionCategories=news-* chat
                [Braze]
                FetchResult=newData
                [Deadline]
                Budget=8s 500ms
                [Store]
                Retention=1w
                [Journal]
                SuccessLevel=debug
                HandlerOutput=yes
                QueueMax=7
                [Tracker]
                Remember=2d
                RememberMax=99
                [Braze]
                RefreshFeatureFlagsKey=flags
                RefreshBannersKey=banners
                UniqueIdKey=id
                """)
        #expect(diagnostics == [])
        let settings = try #require(loaded)
        #expect(settings.daemon.requestLengthMax == 1 << 20)
        #expect(settings.daemon.jsonDepthMax == 16)
        #expect(settings.daemon.connectionsMax == 10)
        #expect(settings.daemon.connectionsMaxPerPeer == 5)
        #expect(settings.daemon.injectSocket.mode == 0o666)
        #expect(settings.daemon.injectSocket.group == "push")
        #expect(settings.daemon.controlSocket.mode == 0o600)
        #expect(settings.daemon.controlSocket.group == "1000")
        #expect(settings.routing.mode == .relay)
        var limits = RoutingLimits(handlers: 3, inFlight: 100, inFlightPerPeer: 50)
        // The rows of a request follow its length.
        limits.batchLength = BatchLimits.longestRows(requestLength: 1 << 20)
        #expect(settings.routing.limits == limits)
        #expect(settings.routing.retry.delay == .seconds(1))
        #expect(
            settings.routing.completion
                == CompletionRules(brazeFetchResult: .newData, presentationOptions: [.list, .badge]))
        #expect(settings.routing.interaction.dismissActionCategories == [Glob("news-*"), Glob("chat")])
        #expect(settings.routing.budget == .milliseconds(8500))
        #expect(settings.store.retention == .seconds(7 * 86_400))
        #expect(settings.journal.successLevel == .debug)
        #expect(settings.journal.hasHandlerOutput)
        #expect(settings.journal.queueMax == 7)
        #expect(settings.routing.tracking.remember == .seconds(2 * 86_400))
        #expect(settings.routing.tracking.rememberMax == 99)
        #expect(
            settings.routing.detection.brazeKeys
                == BrazeKeys(refreshFeatureFlags: "flags", refreshBanners: "banners", uniqueID: "id"))
    }

    @Test("bounds the rows of a request by the default length of one, and allows one request in flight")
    func bounds() {
        let fresh = Settings()
        #expect(
            fresh.routing.limits.batchLength == BatchLimits.longestRows(requestLength: fresh.daemon.requestLengthMax))
        let one = ConfigurationFile("pushrouterd.conf", "[Dispatch]\nRequestsInFlightMax=1\n")
        #expect(Settings.load(ConfigurationSources(main: [one])).settings?.routing.limits.inFlight == 1)
    }

    @Test("lets a drop-in replace single values without a warning, and an empty value restore the default")
    func dropIns() throws {
        let (loaded, diagnostics) = Settings.load(
            ConfigurationSources(
                main: [
                    ConfigurationFile(
                        "pushrouterd.conf", "[Deadline]\nBudget=5s\n[Dispatch]\nHandlersMax=2\nMode=relay"),
                    ConfigurationFile("pushrouterd.conf.d/10-a.conf", "[Deadline]\nBudget=4s\n"),
                    ConfigurationFile("pushrouterd.conf.d/20-b.conf", "[Dispatch]\nHandlersMax=\n"),
                    ConfigurationFile("pushrouterd.conf.d/30-masked.conf", ""),
                ]))
        #expect(diagnostics.map(\.file) == ["routes.d"])
        let settings = try #require(loaded)
        #expect(settings.routing.budget == .seconds(4))
        #expect(settings.routing.limits.handlers == 64)
        #expect(settings.routing.mode == .relay)
    }

    @Test(
        "reports file, line and reason of a wrong value",
        arguments: [
            (
                "Deadline", "Budget=12s",
                "Budget=12s: must be from 1ms to 9s: push callbacks must be done within 9s, by Braze's rule for apps"
            ),
            (
                "Deadline", "Budget=0",
                "Budget=0: must be from 1ms to 9s: push callbacks must be done within 9s, by Braze's rule for apps"
            ),
            ("Deadline", "Objective=100%", "Objective=100%: must be a percentage above 0 and below 100, such as 99.9%"),
            ("Deadline", "Objective=most", "Objective=most: must be a percentage above 0 and below 100, such as 99.9%"),
            ("Deadline", "Budget=soon", "Budget=soon: must be a time span, such as 250ms, 9s or 1min 30s"),
            (
                "Deadline", "Budget=5s # quick",
                "Budget=5s # quick: must be a time span, such as 250ms, 9s or 1min 30s; a comment needs a line of its own"
            ),
            ("Dispatch", "Mode=relai", "Mode=relai: must be device or relay; did you mean relay?"),
            ("Dispatch", "HandlersMax=0", "HandlersMax=0: must be from 1 to 10000"),
            ("Daemon", "RequestLengthMax=1G", "RequestLengthMax=1G: must be from 1K to 16M"),
            ("Daemon", "ControlSocketGroup=a b", "ControlSocketGroup=a b: must be the name or number of a group"),
            ("Store", "Retention=infinity", "Retention=infinity: is too long a time"),
        ])
    func wrongValues(section: String, line: String, message: String) {
        let (settings, diagnostics) = main(section, line)
        #expect(diagnostics == ["pushrouterd.conf:2: error: \(message)"])
        #expect(settings == nil)
    }

    @Test(
        "warns about unknown keys, and reads the rest",
        arguments: [
            ("Deadline", "Budgt=5s", "2: warning: unknown key Budgt= in [Deadline], ignored; did you mean Budget=?"),
            ("Deadline", "budget=5s", "2: warning: unknown key budget= in [Deadline], ignored; did you mean Budget=?"),
            (
                "Dispatch", "Budget=5s",
                "2: warning: unknown key Budget= in [Dispatch], ignored; it belongs in [Deadline]"
            ),
            ("Store", "Colour=red", "2: warning: unknown key Colour= in [Store], ignored"),
            (
                "Deadlines", "Budget=5s",
                "1: warning: unknown section [Deadlines], ignored with all its keys; did you mean [Deadline]?"
            ),
            ("Unit", "After=x\nWants=y", "1: warning: unknown section [Unit], ignored with all its keys"),
            (
                "Deadline", "Budget=5s\nBudget=9s",
                "3: warning: Budget=9s: replaces the Budget= of line 2"
            ),
        ])
    func warnings(section: String, line: String, message: String) {
        let (settings, diagnostics) = main(section, line)
        #expect(diagnostics == ["pushrouterd.conf:\(message)"])
        #expect(settings?.routing.budget == .seconds(9))
    }

    @Test("pushrouterd.conf: every error is reported, by line")
    func saysEverything() {
        let (settings, diagnostics) = load(main: "[Deadline]\nBudget=0\n[Dispatch]\nMode=x\nHandlersMax=0\nnonsense")
        #expect(settings == nil)
        #expect(diagnostics.count == 4)
        #expect(diagnostics.map { $0.prefix(20) } == [2, 4, 5, 6].map { "pushrouterd.conf:\($0): " })
    }

    @Test("has the shipped limits without any file, and warns that nothing is routed")
    func withoutFiles() throws {
        let (loaded, diagnostics) = Settings.load(ConfigurationSources())
        #expect(
            diagnostics.map(\.description) == [
                "routes.d: warning: no *.route files: every invocation that is not Braze's ends as unrouted"
            ])
        let settings = try #require(loaded)
        #expect(settings.routing.budget == .seconds(9))
        #expect(settings.routing.limits == RoutingLimits(handlers: 64, inFlight: 50_000, inFlightPerPeer: 20_000))
        #expect(settings.daemon.requestLengthMax == 262_144)
        #expect(settings.daemon.jsonDepthMax == 32)
        #expect(settings.store.retention == .seconds(2_592_000))
    }

    @Test("lets no control character of a file reach the terminal")
    func printsNoControlCharacters() {
        let diagnostics = main("Deadline", "Budget=\u{1B}]0;x\u{07}\u{85}").diagnostics
        #expect(
            diagnostics == [
                #"pushrouterd.conf:2: error: Budget=\x1b]0;x\x07\x85: must be a time span, such as 250ms, 9s or 1min 30s"#
            ])
    }

    @Test("warns of a log that is smaller than four of the longest batches, which then gets their size")
    func smallLog() throws {
        let (settings, diagnostics) = load(main: "[Daemon]\nRequestLengthMax=16M\n[Store]\nLogSizeMax=64M\n")
        #expect(
            diagnostics == [
                "pushrouterd.conf:4: warning: LogSizeMax=: the log holds at least 4 batches, and with "
                    + "RequestLengthMax=16M a batch may have 17 MiB: the log may grow to 68 MiB"
            ])
        #expect(settings?.store.logLength == BatchLimits.shortestLog)
        #expect(load(main: "[Daemon]\nRequestLengthMax=15M\n[Store]\nLogSizeMax=64M\n").diagnostics == [])
        #expect(main("Store", "LogSizeMax=64M").diagnostics == [])
        #expect(main("Store", "LogSizeMax=1G").settings?.store.logLength == 1 << 30)
    }
}
