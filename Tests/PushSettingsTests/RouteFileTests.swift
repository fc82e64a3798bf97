import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("routes.d/*.route")
struct RouteFileTests {
    @Test("reads every condition; lists separated by spaces or repeated")
    func readsEverything() {
        let (settings, diagnostics) = route(
            """
            [Match]
            Provider=onesignal none
            Provider=appsflyer-uninstall
            Platform=android ios
            Callback=onMessageReceived willPresent
            App=com.example.* org.?x
            Data=campaign summer sale *
            Data=type
            KeyValue=screen  home
            [Route]
            Handler=journal
            Deadline=4s
            Observe=no
            """)
        #expect(diagnostics == [])
        let match = RouteMatch(
            providers: ["onesignal", "none", "appsflyer-uninstall"], platforms: [.android, .ios],
            callbacks: [.onMessageReceived, .willPresent], apps: [Glob("com.example.*"), Glob("org.?x")],
            data: [
                RouteMatch.KeyCondition(key: "campaign", pattern: Glob("summer sale *")),
                RouteMatch.KeyCondition(key: "type", pattern: nil),
            ], keyValues: [RouteMatch.KeyCondition(key: "screen", pattern: Glob("home"))])
        #expect(
            settings?.routing.routes.first
                == Route(name: "20-x", match: match, handler: "journal", budget: .seconds(4)))
    }

    @Test("an empty value resets a list")
    func resetsLists() {
        let (settings, diagnostics) = route("[Match]\nPlatform=ios\nPlatform=\nPlatform=web\n[Route]\nHandler=journal")
        #expect(diagnostics == [])
        #expect(settings?.routing.routes.first?.match.platforms == [.web])
    }

    @Test("routes apply in the order of their names, whatever the order of the files")
    func sortsByName() {
        let names = ["b", "10-z", "9-a", "B", "10-a"]
        let (settings, _) = load(
            routes: Dictionary(
                uniqueKeysWithValues: names.map { ($0, "[Match]\nApp=\($0)\n[Route]\nHandler=journal") }))
        #expect(settings?.routing.routes.map(\.name) == ["10-a", "10-z", "9-a", "99-default", "B", "b"])
    }

    @Test(
        "a fault in a route file is reported with file, line and reason",
        arguments: [
            ("[Match]\n", ": error: Handler= is missing; [Route] needs the name of a handler"),
            (
                "[Route]\nHandler=jurnal",
                ":2: error: Handler=jurnal: there is no handlers.d/jurnal.handler; did you mean Handler=journal?"
            ),
            ("[Route]\nHandler=crm", ":2: error: Handler=crm: there is no handlers.d/crm.handler"),
            ("[Route]\nHandler=../x", ":2: error: Handler=../x: must be a name of letters, digits, and - _ ."),
            (
                "[Route]\nHandler=journal\nDeadline=10s",
                ":3: error: Deadline=10s: must be from 1ms to 9s: "
                    + "push callbacks must be done within 9s, by Braze's rule for apps"
            ),
            (
                "[Match]\nProvider=OneSignal\n[Route]\nHandler=journal",
                ":2: error: Provider=OneSignal: a provider's name has lower case letters, digits and hyphens, "
                    + "such as onesignal or none"
            ),
            (
                "[Match]\nPlatform=ios windows\n[Route]\nHandler=journal",
                ":2: error: Platform=ios windows: must be android, ios or web"
            ),
            (
                "[Match]\nData=campaign \"summer\"\n[Route]\nHandler=journal",
                ":2: error: Data=campaign \"summer\": a pattern is not quoted; leave the quotes out, "
                    + "or write \\ before a literal quote"
            ),
            (
                "[Match]\nCallback=none\n[Route]\nHandler=journal",
                ":2: error: Callback=none: must be onMessageReceived, onDeletedMessages, onMessageSent, onSendError, "
                    + "onNewToken, onRegistered, onUnregistered, didReceiveRemoteNotification, willPresent, "
                    + "didReceiveResponse, serviceExtension, didRegister, push, notificationclick or notificationclose"
            ),
        ])
    func wrongFiles(lines: String, message: String) {
        let (settings, diagnostics) = route(lines)
        #expect(diagnostics == ["routes.d/20-x.route\(message)"])
        #expect(settings == nil)
    }

    @Test("a route may use the whole budget, and no more")
    func deadlineWithinBudget() {
        let lines = "[Route]\nHandler=journal\nDeadline=5s"
        let budget = "[Deadline]\nBudget=5s"
        #expect(load(main: budget, routes: ["99-default": lines]).diagnostics == [])
        #expect(
            load(main: budget, routes: ["99-default": lines + " 1ms"]).diagnostics == [
                "routes.d/99-default.route:3: error: Deadline=5s 1ms: more than Budget=5s; a route can only shorten the time"
            ])
    }

    @Test("a deadline not longer than its handler's grace is an error")
    func deadlineWithinGrace() {
        let crm = "[Handler]\nType=exec\nExec=/bin/true\nGrace=2s"
        func diagnostics(_ deadline: String) -> [String] {
            load(
                handlers: ["crm": crm], routes: ["10-a": "[Match]\nApp=a\n[Route]\nHandler=crm\nDeadline=\(deadline)"]
            ).diagnostics
        }
        #expect(diagnostics("2001ms") == [])
        #expect(
            diagnostics("2s") == [
                "routes.d/10-a.route:5: error: Deadline=2s: must be more than Grace=2s of the handler crm, "
                    + "or it gets SIGTERM before it starts"
            ])
    }

    @Test("accepts exactly the times that are compatible")
    func everyPairOfTimes() {
        for budget in 1...4 {
            for deadline in 1...5 {
                for grace in 1...5 {
                    let (settings, _) = load(
                        main: "[Deadline]\nBudget=\(budget)s",
                        handlers: ["crm": "[Handler]\nType=exec\nExec=/bin/true\nGrace=\(grace)s"],
                        routes: ["10-a": "[Match]\nApp=a\n[Route]\nHandler=crm\nDeadline=\(deadline)s"])
                    let fits = grace < deadline && deadline <= budget
                    #expect((settings != nil) == fits, "budget \(budget), deadline \(deadline), grace \(grace)")
                    guard let route = settings?.routing.routes.first else { continue }
                    #expect(route.budget == .seconds(deadline))
                    #expect(settings?.routing.handlers["crm"]?.grace == .seconds(grace))
                }
            }
        }
    }

    @Test("warns that Braze payloads never reach a route")
    func brazeRoutes() {
        let (settings, diagnostics) = route("[Match]\nProvider=braze\n[Route]\nHandler=journal")
        #expect(settings != nil)
        #expect(
            diagnostics == [
                "routes.d/20-x.route:2: warning: Provider=braze: Braze payloads go to the tracker; this route gets none, "
                    + "unless it has Observe=yes for a copy"
            ])
        #expect(route("[Match]\nProvider=braze onesignal\n[Route]\nHandler=journal").diagnostics == [])
    }

    @Test("warns of a key with an equals sign, usually meant as key and pattern")
    func equalsSigns() {
        let (settings, diagnostics) = route("[Match]\nData=kind=sale\nKeyValue=a=b c\n[Route]\nHandler=journal")
        #expect(settings?.routing.routes.first?.match.data.first?.key == "kind=sale")
        #expect(
            diagnostics == [
                "routes.d/20-x.route:2: warning: Data=kind=sale: asks for a key with that name; did you mean Data=kind sale?"
            ])
        #expect(route("[Match]\nData=kind sale=1\nData==\n[Route]\nHandler=journal").diagnostics == [])
    }

    @Test("reports no error of a route for errors of its handler's file")
    func brokenHandler() {
        let diagnostics = handler("Type=exec\nExec=relative").diagnostics
        #expect(diagnostics.count == 1)
    }

    @Test("an empty file masks a route")
    func maskedRoutes() {
        let (settings, diagnostics) = load(routes: ["99-default": ""])
        #expect(settings?.routing.routes == [])
        #expect(
            diagnostics == [
                "routes.d: warning: no *.route files: every invocation that is not Braze's ends as unrouted"
            ])
    }
}
