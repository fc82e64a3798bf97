import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Tracks")
struct TracksTests {
    private static let brazeID = TrackIdentifier.brazeID(keyValue: "braze_id")

    private static func keys(_ payload: String, _ platform: Platform = .ios) throws -> PayloadKeys {
        let node = try JSONDocument(scanning: Array(payload.utf8)).root
        return try decide(Delivery(DeliverRequest(payload: node), platform: platform)).keys
    }

    private static func facts(
        _ payload: String, act: UserAct? = nil, platform: Platform = .ios
    ) throws -> TrackFacts {
        TrackFacts(
            act: act, provider: "braze", campaignID: "c1", messageID: "m1", platform: platform, app: "com.example",
            device: "phone", externalID: "u1", keys: try keys(payload, platform))
    }

    private static func table(_ tracks: TrackRule...) -> RoutingTable {
        var table = RoutingTable(routes: [], handlers: [:])
        table.tracks = tracks
        return table
    }

    private static func text(_ data: TrackedData) -> String { String(decoding: data.object.rawBytes, as: UTF8.self) }

    // MARK: Matching

    @Test("a track applies to the occasions of its On=, and to no other", arguments: TrackRule.Occasion.allCases)
    func occasions(occasion: TrackRule.Occasion) throws {
        let acts: [UserAct?] = [nil, .opened, .button(id: "buy", text: nil), .dismissed]
        let table = Self.table(
            TrackRule(
                name: "t", occasions: [occasion], identifier: Self.brazeID,
                event: TrackRule.Event(name: .fact(.occasion))))
        let found = try acts.flatMap { table.tracked(try Self.facts(#"{"braze_id":"b"}"#, act: $0)) }
        #expect(found.map(Self.text) == [#"{"name":"\#(occasion.rawValue)"}"#])
        #expect(TrackRule.Occasion.allCases.filter(table.hasTrack) == [occasion])
    }

    @Test("Action= selects buttons, and does not affect other acts")
    func buttons() throws {
        let table = Self.table(
            TrackRule(
                name: "t", occasions: [.opened, .action], buttons: [Glob("buy*"), Glob("later")],
                identifier: Self.brazeID,
                event: TrackRule.Event(
                    name: .constant("e"),
                    properties: [
                        TrackField("button", .string, .fact(.action)), TrackField("typed", .string, .fact(.text)),
                    ])))
        func found(_ act: UserAct) throws -> [String] {
            table.tracked(try Self.facts(#"{"braze_id":"b"}"#, act: act)).map(Self.text)
        }
        #expect(
            try found(.button(id: "buy_now", text: "two"))
                == [#"{"name":"e","properties":{"button":"buy_now","typed":"two"}}"#])
        #expect(try found(.button(id: "later", text: nil)) == [#"{"name":"e","properties":{"button":"later"}}"#])
        #expect(try found(.button(id: "rebuy", text: nil)) == [])
        #expect(try found(.opened) == [#"{"name":"e"}"#])
    }

    @Test("every track that matches applies, in the order of the table")
    func matches() throws {
        func track(_ name: String, _ match: RouteMatch) -> TrackRule {
            TrackRule(
                name: name, match: match, occasions: [.received], identifier: Self.brazeID,
                event: TrackRule.Event(name: .constant("e")))
        }
        let table = Self.table(
            track("all", RouteMatch()), track("provider", RouteMatch(providers: ["none"])),
            track("platform", RouteMatch(platforms: [.ios])), track("app", RouteMatch(apps: [Glob("org.*")])),
            track("data", RouteMatch(data: [.init(key: "kind", pattern: Glob("s*"))])),
            track("key-value", RouteMatch(keyValues: [.init(key: "missing", pattern: nil)])))
        let found = table.tracked(try Self.facts(#"{"braze_id":"b","kind":"sale"}"#))
        #expect(found.map(\.rule) == ["all", "platform", "data"])
        #expect(found.allSatisfy { $0.kind == .customEvent && $0.identifier == .brazeID("b") && $0.fault == nil })
    }

    @Test(
        "a push was received if a program can observe it",
        arguments: [
            (Platform.android, AppState.background, #"{"_ab":"true","t":"x","a":"y"}"#, true),
            (.android, .background, #"{"kind":"sale"}"#, true),
            (.ios, .background, #"{"aps":{"alert":"x"},"ab":{"c":"c"}}"#, true),
            (.android, .background, #"{"_ab":"true","appboy_uninstall_tracking":"true"}"#, false),
            (.ios, .background, #"{"aps":{"alert":"x"},"kind":"sale"}"#, false),
            (.ios, .foreground, #"{"aps":{"alert":"x"},"kind":"sale"}"#, true),
            (.android, .forceStopped, #"{"_ab":"true","t":"x","a":"y"}"#, false),
            (.android, .background, #"{"extras":{"message_type":"deleted_messages"}}"#, false),
        ])
    func received(platform: Platform, state: AppState, payload: String, isReceived: Bool) throws {
        let node = try JSONDocument(scanning: Array(payload.utf8)).root
        let deliver = DeliverRequest(target: Target(app: "com.example"), state: state, payload: node)
        let decision = try decide(Delivery(deliver, platform: platform))
        let facts = TrackFacts(
            receiving: decision, messageID: "m1", platform: platform, device: "phone", externalID: "u1")
        #expect((facts != nil) == isReceived)
        guard let facts else { return }
        #expect(facts.occasion == .received)
        #expect(facts.app == "com.example")
        #expect(facts.provider == decision.provider)
        #expect([facts.messageID, facts.device, facts.externalID] == ["m1", "phone", "u1"])
    }

    // MARK: Profiles

    @Test(
        "the braze_id is found in each platform's key-values",
        arguments: [
            (Platform.android, #"{"_ab":"true","extra":"{\"braze_id\":\"b1\"}"}"#),
            (.android, #"{"data":{"_ab":"true","extra":"{\"braze_id\":\"b1\"}"}}"#),
            (.android, #"{"braze_id":"b1"}"#),
            (.ios, #"{"aps":{"alert":"x"},"ab":{"c":"c"},"braze_id":"b1"}"#),
            (.web, #"{"t":"x","ab_ids":{"cid":"c"},"e":{"braze_id":"b1"}}"#),
        ])
    func everyPlatform(platform: Platform, payload: String) throws {
        let table = Self.table(
            TrackRule(
                name: "t", occasions: [.received], identifier: Self.brazeID,
                event: TrackRule.Event(name: .constant("e"))))
        let found = table.tracked(try Self.facts(payload, platform: platform))
        #expect(found.map(\.identifier) == [.brazeID("b1")])
        #expect(found.map(\.fault) == [nil])
    }

    @Test(
        "a missing braze_id has a reason, with a likely correction",
        arguments: [
            (#"{}"#, "the payload has no key-value braze_id"),
            (#"{"brazeid2":"b"}"#, "the payload has no key-value braze_id"),
            (#"{"braze_id":""}"#, "key-value braze_id is empty"),
            (#"{"Braze_id":"b"}"#, "the payload has no key-value braze_id; it has Braze_id: names are case-sensitive"),
            (#"{"BRAZE_ID":"b"}"#, "the payload has no key-value braze_id; it has BRAZE_ID: names are case-sensitive"),
            (
                #"{"braze-id":"b"}"#,
                "the payload has no key-value braze_id; it has \"braze-id\": names must match exactly"
            ),
            (
                #"{"brazeId":"b"}"#,
                "the payload has no key-value braze_id; it has \"brazeId\": names must match exactly"
            ),
            (
                #"{" braze_id":"b"}"#,
                "the payload has no key-value braze_id; it has \" braze_id\": names must match exactly"
            ),
        ])
    func nearMisses(payload: String, reason: String) throws {
        let table = Self.table(
            TrackRule(
                name: "t", occasions: [.received], identifier: Self.brazeID,
                event: TrackRule.Event(name: .constant("e"))))
        var android = JSONWriter()
        android.object { $0.member("extra", payload) }
        for (platform, text) in [
            (Platform.ios, payload), (.web, #"{"t":"x","e":\#(payload)}"#),
            (.android, String(decoding: android.bytes, as: UTF8.self)),
        ] {
            let found = table.tracked(try Self.facts(text, platform: platform))
            #expect(found.map(\.fault) == [EntryProblem(.notInPayload, reason, field: "braze_id")], "\(platform)")
            #expect(found.map(\.identifier) == [nil])
            #expect(found.map(Self.text) == [#"{"name":"e"}"#])
        }
    }

    @Test("an interaction with an unknown payload is rejected, if a track matches it at all")
    func withoutPayload() {
        let facts = TrackFacts(act: .opened, provider: "braze", platform: .web, keys: nil)
        let event = TrackRule.Event(
            name: .constant("e"), properties: [TrackField("p", .string, .keyValue("p"))])
        let table = Self.table(
            TrackRule(name: "a", occasions: [.opened], identifier: Self.brazeID, event: event),
            TrackRule(
                name: "b", match: RouteMatch(keyValues: [.init(key: "braze_id", pattern: nil)]), occasions: [.opened],
                identifier: Self.brazeID, event: event))
        let found = table.tracked(facts)
        #expect(found.map(\.rule) == ["a"])
        #expect(
            found.map(\.fault?.message) == [
                "key-value braze_id is unknown: the interaction does not carry the payload, and the payload is not known"
            ])
    }

    @Test("other identifiers are found, or have a reason")
    func otherIdentifiers() throws {
        func resolve(_ identifier: TrackIdentifier, _ facts: TrackFacts) -> TrackedData? {
            Self.table(
                TrackRule(
                    name: "t", occasions: [.received], identifier: identifier,
                    event: TrackRule.Event(name: .constant("e")))
            ).tracked(facts).first
        }
        var facts = try Self.facts(#"{"crm":"7"}"#)
        #expect(resolve(.externalID(.fact(.externalID)), facts)?.identifier == .externalID("u1"))
        #expect(resolve(.externalID(.data("crm")), facts)?.identifier == .externalID("7"))
        #expect(
            resolve(.alias(label: "crm_id", name: .keyValue("crm")), facts)?.identifier
                == .alias(name: "7", label: "crm_id"))
        #expect(
            resolve(.alias(label: "d", name: .fact(.device)), facts)?.identifier == .alias(name: "phone", label: "d"))
        facts.externalID = nil
        facts.device = nil
        #expect(
            resolve(.externalID(.fact(.externalID)), facts)?.fault
                == EntryProblem(
                    .notInPayload, "the user is not known: no external_id was given, and the device had none before",
                    field: "external_id"))
        #expect(
            resolve(.externalID(.data("user")), facts)?.fault?.message == "the payload has no key user")
        #expect(
            resolve(.alias(label: "d", name: .fact(.device)), facts)?.fault
                == EntryProblem(.notInPayload, "device is not known", field: "alias"))
    }

    // MARK: Facts

    @Test("every fact has its value")
    func everyFact() throws {
        let facts = try Self.facts(#"{"braze_id":"b"}"#, act: .button(id: "buy", text: "hello"), platform: .ios)
        let event = TrackRule.Event(
            name: .constant("e"),
            properties: TrackSource.Fact.allCases.map { TrackField($0.rawValue, .string, .fact($0)) })
        let found = Self.table(
            TrackRule(name: "t", occasions: [.action], identifier: Self.brazeID, event: event)
        ).tracked(facts)
        #expect(
            found.map(Self.text) == [
                #"{"name":"e","properties":{"provider":"braze","campaign_id":"c1","message_id":"m1","#
                    + #""platform":"ios","app":"com.example","device":"phone","external_id":"u1","#
                    + #""occasion":"action","action":"buy","text":"hello"}}"#
            ])
    }

    @Test("an event takes its name from the payload, and is rejected without one")
    func eventNames() throws {
        let table = Self.table(
            TrackRule(
                name: "t", occasions: [.received], identifier: Self.brazeID,
                event: TrackRule.Event(name: .keyValue("event_name"))))
        let named = table.tracked(try Self.facts(#"{"braze_id":"b","event_name":"bought"}"#))
        #expect(named.map(Self.text) == [#"{"name":"bought"}"#])
        #expect(named.map(\.fault) == [nil])
        let nameless = table.tracked(try Self.facts(#"{"braze_id":"b","eventName":"bought"}"#))
        #expect(nameless.map(Self.text) == ["{}"])
        #expect(nameless.map(\.identifier) == [.brazeID("b")])
        #expect(
            nameless.map(\.fault) == [
                EntryProblem(
                    .notInPayload,
                    "the payload has no key-value event_name; it has \"eventName\": names must match exactly",
                    field: "name")
            ])
    }

    @Test("an event is rejected whole for one wrong property; of attributes only the wrong ones are")
    func wrongValues() throws {
        let fields = [
            TrackField("a", .integer, .keyValue("a")), TrackField("b", .integer, .keyValue("b")),
            TrackField("c", .boolean, .keyValue("c")), TrackField("none", .integer, .keyValue("none")),
            TrackField("empty", .integer, .keyValue("empty")), TrackField("text", .string, .keyValue("empty")),
        ]
        let table = Self.table(
            TrackRule(
                name: "t", occasions: [.received], identifier: Self.brazeID,
                event: TrackRule.Event(name: .constant("e"), properties: fields), attributes: fields,
                userAttributes: [TrackField("email", .string, .keyValue("mail"))]))
        let found = table.tracked(try Self.facts(#"{"braze_id":"b","a":"12","b":"1\"2","c":"maybe","empty":""}"#))
        #expect(found.map(\.kind) == [.customAttributes, .customAttributes, .customAttributes, .customEvent])
        #expect(
            found.map(Self.text) == [
                #"{"attributes":{"a":12,"text":""}}"#, #"{"attributes":{"b":"1\"2"}}"#,
                #"{"attributes":{"c":"maybe"}}"#,
                #"{"name":"e","properties":{"a":12,"b":"1\"2","c":"maybe","text":""}}"#,
            ])
        let whole = "key-value b must be a whole number, such as 12"
        #expect(
            found.map(\.fault) == [
                nil, EntryProblem(.invalidValue, whole, field: "attributes.b"),
                EntryProblem(.invalidValue, "key-value c must be true or false", field: "attributes.c"),
                EntryProblem(.invalidValue, whole, field: "properties.b"),
            ])
    }

    @Test("attributes that the payload lacks give no entry")
    func noAttributes() throws {
        let table = Self.table(
            TrackRule(
                name: "t", occasions: [.received], identifier: Self.brazeID,
                attributes: [TrackField("a", .string, .keyValue("a"))],
                userAttributes: [TrackField("email", .string, .keyValue("email"))]))
        #expect(table.tracked(try Self.facts(#"{"braze_id":"b"}"#)).isEmpty)
        let found = table.tracked(try Self.facts(#"{"braze_id":"b","email":"a@b.c"}"#))
        #expect(found.map(\.kind) == [.userAttributes])
        #expect(found.map(Self.text) == [#"{"attributes":{"email":"a@b.c"}}"#])
    }

    // MARK: Types

    @Test(
        "a text of a payload is read as the declared type",
        arguments: [
            (TrackValueType.string, "a \"b\"\n", #""a \"b\"\u000a""#), (.string, "", #""""#), (.string, "12", #""12""#),
            (.number, "12", "12"), (.number, "-0.5e3", "-0.5e3"), (.number, " 7 ", "7"),
            (.integer, "-9223372036854775808", "-9223372036854775808"), (.integer, "0", "0"),
            (.boolean, "true", "true"), (.boolean, "TRUE", "true"), (.boolean, "1", "true"),
            (.boolean, "False", "false"), (.boolean, "0", "false"),
            (.date, "2026-11-21", #""2026-11-21""#), (.date, "2024-02-29", #""2024-02-29""#),
            (.date, "2026-11-21T09:00:00Z", #""2026-11-21T09:00:00Z""#),
            (.date, "2026-11-21 09:00:00", #""2026-11-21T09:00:00Z""#),
            (.date, "2026-11-21T09:00:00.5+01:30", #""2026-11-21T07:30:00.500Z""#),
            (.date, "3000-12-31", #""3000-12-31""#), (.date, "0001-01-01", #""0001-01-01""#),
            (.array, "[1, \"a b\"]", #"[1,"a b"]"#), (.array, "[]", "[]"),
            (.object, "{ \"a\" : {} }", #"{"a":{}}"#),
            (.json, "null", "null"), (.json, " \"x\" ", #""x""#), (.json, "[true]", "[true]"),
        ])
    func conversions(type: TrackValueType, text: String, json: String) {
        #expect(type.json(of: text).map { String(decoding: $0, as: UTF8.self) } == json)
    }

    @Test(
        "a text that does not parse as the type is refused",
        arguments: [
            (TrackValueType.number, ["", "x", "1,5", "+1", ".5", "0x10", "1e999", "NaN", "Infinity", "\"1\"", "007"]),
            (.integer, ["", "1.0", "1e3", "9223372036854775808", "12x", "--1"]),
            (.boolean, ["", "yes", "2", "tru", " true"]),
            (
                .date,
                [
                    "", "2026-02-29", "2026-13-01", "26-11-21", "21.11.2026", "11/21/2026", "3001-01-01", "0000-01-01",
                    "2026-11-21T09:00Z", "2026-11-21T25:00:00Z", "2026-11-21x09:00:00", "1795251600", "2026-11-2é",
                ]
            ),
            (.array, ["", "{}", "a,b", "[1,]", "[1] [2]"]),
            (.object, ["", "[]", "{a:1}", #"{"a":1,"a":2}"#]),
            (.json, ["", "x", "'x'", "{", #""\ud800""#, String(repeating: "[", count: 33)]),
        ])
    func refusals(type: TrackValueType, texts: [String]) {
        for text in texts { #expect(type.json(of: text) == nil, "\(text)") }
    }

    @Test("a value may be as deep as a payload")
    func deepValues() throws {
        let depth = 32
        let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let table = Self.table(
            TrackRule(
                name: "t", occasions: [.received], identifier: Self.brazeID,
                event: TrackRule.Event(
                    name: .constant("e"), properties: [TrackField("deep", .array, .keyValue("deep"))])))
        let found = table.tracked(try Self.facts(#"{"braze_id":"b","deep":"\#(value)"}"#))
        #expect(found.map(Self.text) == [#"{"name":"e","properties":{"deep":\#(value)}}"#])
    }
}
