import Testing

@testable import PushSettings

@Suite("Routes behind an earlier one")
struct RouteReachTests {
    /// The diagnostics about `20-later` after `10-earlier` with this handler; `99-default` is masked.
    private func diagnostics(earlier: String, handler: String = "journal", later: String) -> [String] {
        load(
            handlers: ["program": "[Handler]\nType=exec\nExec=/bin/true"],
            routes: [
                "10-earlier": "[Match]\n\(earlier)\n[Route]\nHandler=\(handler)",
                "20-later": "[Match]\n\(later)\n[Route]\nHandler=program",
                "99-default": "",
            ]
        ).diagnostics
    }

    @Test(
        "give a warning when the earlier one matches everything that they match",
        arguments: [
            ("", "Platform=ios"), ("Platform=ios", "Platform=ios"), ("Platform=ios android", "Platform=ios"),
            ("Data=a", "Data=a\nData=b x"), ("App=com.*", "App=com.*\nProvider=none"),
            ("KeyValue=k v*", "KeyValue=k v*"),
        ])
    func covered(earlier: String, later: String) {
        #expect(
            diagnostics(earlier: earlier, later: later) == [
                "routes.d/20-later.route: warning: never applies: 10-earlier comes first and matches everything that "
                    + "this route matches, except for token and deleted-messages callbacks"
            ])
        #expect(
            diagnostics(earlier: earlier, later: later + "\nCallback=willPresent") == [
                "routes.d/20-later.route: warning: never applies: 10-earlier comes first and matches everything that this route matches"
            ])
    }

    @Test(
        "give no warning when a payload may be left for them",
        arguments: [
            ("Platform=ios", ""), ("Platform=ios", "Platform=ios android"), ("Data=a", "Data=b"),
            ("Data=a x", "Data=a"),
            ("App=com.*", "App=com.example"), ("Provider=none", "Platform=ios"), ("", "Callback=onNewToken"),
        ])
    func notCovered(earlier: String, later: String) {
        #expect(diagnostics(earlier: earlier, later: later) == [])
    }

    @Test("give no warning behind a program, which may decline, except when it takes everything")
    func programMayDecline() {
        #expect(diagnostics(earlier: "Platform=ios", handler: "program", later: "Platform=ios") == [])
        let warnings = diagnostics(earlier: "", handler: "program", later: "Platform=ios")
        #expect(
            warnings == [
                "routes.d/20-later.route: warning: applies only where the handler program declines (exit status 80): "
                    + "10-earlier comes first and matches everything"
            ])
        #expect(diagnostics(earlier: "", handler: "program", later: "Callback=onNewToken") == [])
    }

    @Test("give a warning when their platform has none of their callbacks")
    func foreignCallbacks() {
        let warnings = diagnostics(earlier: "Data=a", later: "Platform=android\nCallback=push willPresent")
        #expect(
            warnings == [
                "routes.d/20-later.route:3: warning: this route never runs: Callback=push willPresent is of iOS and the web, "
                    + "and Platform= names Android"
            ])
        #expect(diagnostics(earlier: "Data=a", later: "Platform=android web\nCallback=push") == [])
    }
}
