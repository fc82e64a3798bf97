import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

/// Loads a provider file `crm` with these lines.
private func provider(_ lines: String) -> (rule: ProviderRule?, diagnostics: [String]) {
    let (settings, diagnostics) = load(providers: ["crm": lines])
    return (settings?.routing.detection.providers.first { $0.name == "crm" }, diagnostics)
}

@Suite("providers.d/*.provider")
struct ProviderFileTests {
    @Test("reads every condition, for each platform; a platform's section overrides [Provider]")
    func readsEverything() {
        let (rule, diagnostics) = provider(
            """
            [Provider]
            Title=The CRM
            Purpose=messages
            Order=150
            Confidence=low

            [Android]
            Entry=own-receiver
            All=present crm
            All=equals type "a b"
            All=equals-ignoring-case body _sid SFMC
            Any=json custom i
            Any=prefix crm_
            Any=members 2

            [iOS]
            Order=250
            Confidence=high
            All=present body _k
            All=string a
            All=object b
            All=non-empty-object com.crm
            All=truthy c

            [Web]
            Any=string cid
            """)
        #expect(diagnostics == [])
        #expect(
            rule
                == ProviderRule(
                    name: "crm", title: "The CRM",
                    platforms: [
                        .android: ProviderRule.PlatformRule(
                            order: 150, confidence: .low, entry: .ownReceiver,
                            all: [
                                .value(at: ["crm"], .present), .value(at: ["type"], .equals("a b")),
                                .value(at: ["body", "_sid"], .equalsIgnoringCase("SFMC")),
                            ],
                            any: [
                                .value(at: ["custom"], .jsonText(key: "i")), .keyBeginning(with: "crm_"), .keyCount(2),
                            ]),
                        .ios: ProviderRule.PlatformRule(
                            order: 250,
                            all: [
                                .value(at: ["body", "_k"], .present), .value(at: ["a"], .string),
                                .value(at: ["b"], .object), .value(at: ["com.crm"], .nonEmptyObject),
                                .value(at: ["c"], .truthy),
                            ]),
                        .web: ProviderRule.PlatformRule(
                            order: 150, confidence: .low, any: [.value(at: ["cid"], .string)]),
                    ]))
    }

    @Test("reads conditions within a text, conditions that hold together, probes, origin and remarks")
    func readsMore() {
        let (rule, diagnostics) = provider(
            """
            [Provider]
            Source=the CRM's code

            [Android]
            Origin=reading
            Any=string a && not-empty b c && equals k "&&"
            Any=json-text custom present a k.message
            Any=json-text custom json-text inner not-blank x
            Any=contains crm
            Probe=not-null probe
            RemarkOn=present old
            Remark=ask the CRM
            """)
        #expect(diagnostics == [])
        var expected = ProviderRule.PlatformRule(
            order: 200,
            any: [
                .every([
                    .value(at: ["a"], .string), .value(at: ["b", "c"], .notEmpty), .value(at: ["k"], .equals("&&")),
                ]),
                .inText(of: "custom", .value(at: ["a", "k.message"], .present)),
                .inText(of: "custom", .inText(of: "inner", .value(at: ["x"], .notBlank))),
                .keyContaining("crm"),
            ])
        expected.probes = [.value(at: ["probe"], .notNull)]
        expected.origin = .reading
        expected.source = "the CRM's code"
        expected.remark = "ask the CRM"
        expected.remarkConditions = [.value(at: ["old"], .present)]
        #expect(rule?.platforms == [.android: expected])
        #expect(provider("[Web]\nProbe=present x").rule?.platforms[.web]?.probes == [.value(at: ["x"], .present)])
    }

    @Test("needs only a condition: the default title is the name, and the default order that of presence")
    func defaults() {
        let (rule, diagnostics) = provider("[Android]\nAll=present crm")
        #expect(diagnostics == [])
        #expect(
            rule
                == ProviderRule(
                    name: "crm", title: "crm",
                    platforms: [.android: ProviderRule.PlatformRule(order: 200, all: [.value(at: ["crm"], .present)])]))
        #expect(provider("[Provider]\nPurpose=uninstall-probe\n[iOS]\nAny=present x").rule?.purpose == .uninstallProbe)
    }

    @Test(
        "a fault in a provider file is reported with file, line and reason",
        arguments: [
            ("[Provider]\nTitle=x", ": error: no condition; [Android], [iOS] or [Web] needs All= or Any="),
            (
                "[Web]\nAll=present x\n[iOS]\nOrder=100",
                ":4: error: [iOS] has neither All= nor Any=, so it matches nothing"
            ),
            (
                "[Android]\nAll=presnt x",
                ":2: error: All=presnt x: must begin with present, not-null, equals, equals-ignoring-case, "
                    + "string, not-empty, not-blank, object, non-empty-object, truthy, json, json-text, prefix, contains "
                    + "or members; did you mean present?"
            ),
            (
                "[Android]\nAll=present",
                ":2: error: All=present: must be \"present KEY...\"; quote a word with spaces"
            ),
            (
                "[Android]\nAny=equals push_from",
                ":2: error: Any=equals push_from: must be \"equals KEY... TEXT\"; quote a word with spaces"
            ),
            (
                "[Android]\nAny=json custom",
                ":2: error: Any=json custom: must be \"json KEY... KEY-IN-THE-TEXT\"; quote a word with spaces"
            ),
            (
                "[Android]\nAny=prefix a b",
                ":2: error: Any=prefix a b: must be \"prefix TEXT\"; quote a word with spaces"
            ),
            (
                "[Android]\nAny=json-text custom",
                ":2: error: Any=json-text custom: must be \"json-text KEY CONDITION\"; quote a word with spaces"
            ),
            (
                "[Android]\nAny=contains message",
                ":2: error: Any=contains message: message can match a key of FCM, which carries pushes of every provider"
            ),
            (
                "[Android]\nAll=present x\nRemarkOn=present y",
                ":3: error: RemarkOn= in [Android]: Remark= is missing"
            ),
            (
                "[Android]\nAll=present x\nOrigin=SDK",
                ":3: error: Origin=SDK: must be sdk, reading, documentation, copy or interpretation; did you mean sdk?"
            ),
            ("[Android]\nAll=members x", ":2: error: All=members x: must be a whole number"),
            ("[Android]\nAll=equals k \"v", ":2: error: All=equals k \"v: a quote \" is not closed"),
            (
                "[iOS]\nAll=present gcm.message_id",
                ":2: error: All=present gcm.message_id: gcm.message_id can match a key of FCM, "
                    + "which carries pushes of every provider"
            ),
            (
                "[iOS]\nAll=prefix g",
                ":2: error: All=prefix g: g can match a key of FCM, which carries pushes of every provider"
            ),
            (
                "[Provider]\nOrder=0\n[iOS]\nAll=present x",
                ":2: error: Order=0 is for Braze alone, which comes before all others; use 1 or more"
            ),
            (
                "[Provider]\nOrder=1001\n[iOS]\nAll=present x",
                ":2: error: Order=1001: must be from 0 to 1000"
            ),
            (
                "[Provider]\nConfidence=medium\n[iOS]\nAll=present x",
                ":2: error: Confidence=medium: must be high or low"
            ),
            (
                "[iOS]\nEntry=receiver\nAll=present x",
                ":2: error: Entry=receiver: must be service or own-receiver; did you mean own-receiver?"
            ),
            (
                "[Provider]\nEntry=own-receiver\n[iOS]\nAll=present x",
                ":2: warning: unknown key Entry= in [Provider], ignored; it belongs in [Android]"
            ),
            (
                "[Ios]\nAll=present x\n[Android]\nAll=present x",
                ":1: warning: unknown section [Ios], ignored with all its keys; did you mean [iOS]?"
            ),
            (
                "[iOS]\nEntry=service\nEntry=own-receiver\nAll=present x\n[Android]\nEntry=service\nAll=present x",
                ":3: warning: Entry=own-receiver: replaces the Entry= of line 2"
            ),
        ])
    func errors(_ lines: String, _ expected: String) {
        let (rule, diagnostics) = provider(lines)
        #expect(diagnostics == ["providers.d/crm.provider" + expected])
        #expect((rule == nil) == expected.contains(": error: "))
    }

    @Test("a file's name is the provider's, and the name none is reserved")
    func names() {
        #expect(
            load(providers: ["Crm": "[iOS]\nAll=present x"]).diagnostics == [
                "providers.d/Crm.provider: error: the file's name without its extension is no provider's: a provider's "
                    + "name has lower case letters, digits and hyphens, such as onesignal or none"
            ])
        #expect(
            load(providers: ["none": "[iOS]\nAll=present x"]).diagnostics == [
                "providers.d/none.provider: error: none stands for a payload of no known provider; "
                    + "give the file another name"
            ])
    }

    @Test("Braze keeps its order, but its conditions may change")
    func braze() {
        func said(_ lines: String) -> [String] { load(providers: ["braze": lines]).diagnostics }
        #expect(said("[Provider]\nTitle=Braze\nOrder=0\n[Web]\nAny=present ab_marker") == [])
        #expect(
            said("[Provider]\nPurpose=uninstall-probe\n[Android]\nOrder=5\nEntry=own-receiver\nAll=present x") == [
                "providers.d/braze.provider:2: error: Purpose=: Braze's payloads go to the tracker; remove it",
                "providers.d/braze.provider:4: error: Order= of Braze must be 0: it comes before all others",
                "providers.d/braze.provider:5: error: Entry=: Braze's payloads go to the tracker; remove it",
            ])
    }

    @Test("a file replaces the shipped one of its name, an empty one masks it, and any other adds to them")
    func layers() throws {
        let (loaded, diagnostics) = load(providers: [
            "crm": "[iOS]\nAll=present crm", "klaviyo": "[Web]\nAll=present k", "iterable": "",
        ])
        #expect(diagnostics == [])
        let rules = try #require(loaded).routing.detection.providers
        #expect(rules.count == ConfigurationSources.shippedProviders.count)
        #expect(rules.contains { $0.name == "crm" } && !rules.contains { $0.name == "iterable" })
        #expect(rules.first { $0.name == "klaviyo" }?.platforms.keys.map(\.rawValue) == ["web"])
    }
}

@Suite("Routes and the providers they name")
struct RouteProviderTests {
    /// The diagnostics about a route with these conditions to a handler that may decline.
    private func said(_ match: String, providers: [String: String] = [:]) -> [String] {
        load(providers: providers, routes: ["20-x": "[Match]\n\(match)\n[Route]\nHandler=journal"]).diagnostics
    }

    @Test("an unknown provider gives a warning with the nearest name")
    func unknown() {
        #expect(
            said("Provider=onesingal") == [
                "routes.d/20-x.route:2: warning: Provider=onesingal: there is no providers.d/onesingal.provider, "
                    + "or it is empty; did you mean Provider=onesignal?"
            ])
        #expect(
            said("Provider=iterable", providers: ["iterable": ""]) == [
                "routes.d/20-x.route:2: warning: Provider=iterable: there is no providers.d/iterable.provider, "
                    + "or it is empty"
            ])
        #expect(said("Provider=crm none", providers: ["crm": "[Web]\nAll=present crm"]) == [])
    }

    @Test("a provider whose payloads never reach a route gives a warning")
    func neverCalled() {
        #expect(
            said("Platform=android\nProvider=onesignal adjust-uninstall") == [
                "routes.d/20-x.route:3: warning: Provider=onesignal adjust-uninstall: this route never runs: the SDK of "
                    + "OneSignal takes the message itself, and a handler that showed it would show it twice"
            ])
        #expect(
            said("Provider=adjust-uninstall") == [
                "routes.d/20-x.route:2: warning: Provider=adjust-uninstall: this route never runs: "
                    + "such a payload only tests whether the app is installed"
            ])
        for match in [
            "Provider=onesignal", "Platform=ios\nProvider=onesignal", "Platform=android ios\nProvider=onesignal",
            "Platform=android\nProvider=onesignal klaviyo", "Platform=android\nProvider=onesignal none",
        ] {
            #expect(said(match) == [], "\(match)")
        }
    }
}
