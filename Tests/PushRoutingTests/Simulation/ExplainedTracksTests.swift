import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Tracks in an explanation")
struct ExplainedTracksTests {
    private func explain(
        _ extra: String = #"{\"braze_id\":\"b1\"}"#, event: TrackRule.Event? = nil, attributes: [TrackField] = [],
        userAttributes: [TrackField] = []
    ) throws -> Explanation {
        var table = RoutingTable(routes: [], handlers: [:])
        table.tracks = [
            TrackRule(
                name: "t", occasions: [.received], identifier: .brazeID(keyValue: "braze_id"), event: event,
                attributes: attributes, userAttributes: userAttributes)
        ]
        let payload = try JSONDocument(
            scanning: Array(#"{"_ab":"true","t":"T","a":"A","cid":"c","extra":"\#(extra)"}"#.utf8)
        ).root
        return try Explanation(DeliverRequest(payload: payload), platform: .android, table: table)
    }

    /// The lines below the heading.
    private func lines(_ explanation: Explanation) -> [String] {
        explanation.text.split(separator: "\n").drop { $0 != "Sent to /users/track" }.dropFirst()
            .prefix { $0.hasPrefix("  ") && !$0.hasPrefix("  - ") }.map { String($0.dropFirst(2)) }
    }

    @Test("name the profile, for each way to identify one")
    func profile() throws {
        let line = try lines(explain(event: .init(name: .constant("x")))).first
        #expect(line == #"custom_event {"name":"x"} for braze_id b1, by track t"#)
    }

    @Test(
        "reject the user attributes that the daemon would reject, with the reason",
        arguments: [
            (TrackField("email", .number, .constant("12")), "attributes.email: must be "),
            (TrackField("country", .string, .constant("Germany")), "attributes.country: "),
        ])
    func userAttributes(wrong: TrackField, reason: String) throws {
        let explanation = try explain(userAttributes: [wrong, TrackField("first_name", .string, .constant("Ann"))])
        let lines = lines(explanation)
        #expect(lines.count == 2, "\(lines)")
        #expect(lines.first == #"user_attributes {"attributes":{"first_name":"Ann"}} for braze_id b1, by track t"#)
        #expect(lines.last?.contains("for braze_id b1, by track t: rejected: \(reason)") == true, "\(lines)")
        let tracks = try JSONDocument(scanning: explanation.json).root["tracks"]?.elements ?? []
        #expect(tracks.map { $0["rejected"]?.kind } == [.null, .object])
        #expect(tracks.map { $0["attributes"]?.count } == [1, 1])
        #expect(reason.hasPrefix((tracks.last?["rejected"]?["field"]?.string ?? "?") + ": "))
    }

    @Test("reject an array in an array and a text that is too long; without valid attributes nothing else is listed")
    func customAttributes() throws {
        let wrong = [
            TrackField("list", .array, .constant("[[1]]")),
            TrackField("long", .string, .constant(String(repeating: "a", count: 300))),
        ]
        let found = try explain(attributes: wrong).tracked
        #expect(found.map { $0.fault?.field } == ["attributes.list[0]", "attributes.long"])
    }

    @Test("reject an event as a whole")
    func event() throws {
        let long = TrackField("long", .string, .constant(String(repeating: "a", count: 300)))
        let found = try explain(event: .init(name: .constant("x"), properties: [long])).tracked
        #expect(found.map { $0.fault?.field } == ["properties.long"])
        #expect(found.first?.object["name"]?.string == "x")
    }

    @Test("list the entries of a tap, each button and a dismissal, if any")
    func acts() throws {
        var table = RoutingTable(routes: [], handlers: [:])
        let properties = [TrackField("what", .string, .fact(.occasion)), TrackField("button", .string, .fact(.action))]
        table.tracks = [
            TrackRule(
                name: "t", occasions: [.opened, .action], buttons: [Glob("b*")],
                identifier: .brazeID(keyValue: "braze_id"), event: .init(name: .constant("x"), properties: properties))
        ]
        let buttons = #""ab_a0_a":"ab_none","ab_a0_id":"buy","ab_a1_a":"ab_none","ab_a1_id":"later""#
        func explain(_ payload: String) throws -> Explanation {
            let payload = try JSONDocument(scanning: Array(payload.utf8)).root
            return try Explanation(DeliverRequest(payload: payload), platform: .android, table: table)
        }
        let shown = try explain(
            #"{"_ab":"true","t":"T","a":"A",\#(buttons),"extra":"{\"braze_id\":\"b1\"}"}"#)
        #expect(shown.tracked.isEmpty)
        #expect(
            shown.text.hasSuffix(
                """
                Sent to /users/track by a tap
                  custom_event {"name":"x","properties":{"what":"opened"}} for braze_id b1, by track t
                Sent to /users/track by the button buy
                  custom_event {"name":"x","properties":{"what":"action","button":"buy"}} for braze_id b1, by track t

                """), "\(shown.text)")
        let tracks = try JSONDocument(scanning: shown.json).root["tracks"]?.elements ?? []
        #expect(tracks.map { $0["on"]?.string } == ["opened", "action"])
        #expect(tracks.map { $0["action"]?.string } == [nil, "buy"])
        let silent = try explain(#"{"_ab":"true","extra":"{\"braze_id\":\"b1\"}"}"#)
        #expect(silent.trackedActs.isEmpty, "nothing is shown, so nothing can be tapped")
    }

    @Test("have a place for the fault in JSON, with or without one")
    func members() throws {
        let track = try JSONDocument(
            scanning: explain(event: .init(name: .constant("x"))).json
        ).root["tracks"]?.elements.first
        #expect(track?.members.map(\.key) == ["track", "on", "kind", "braze_id", "name", "rejected"])
    }

    @Test(
        "name the key that was probably meant: another in case, hyphens, underscores and spaces, at most 8 longer",
        arguments: [
            ("Braze_id", true), ("_braze_id", true), ("-braze-id", true), (" braze_id", true), ("BRAZEID", true),
            (#"\\u0042raze_id"#, true), ("b-r-a-z-e-_-i--d", true), ("b-r-a-z-e-_-i---d", false), ("brazen_id", false),
        ])
    func nearKey(_ key: String, _ isNear: Bool) throws {
        let line = try lines(explain(#"{\"\#(key)\":\"b1\"}"#, event: .init(name: .constant("x")))).first
        #expect(line?.contains("the payload has no key-value braze_id; it has ") == isNear, "\(line ?? "")")
    }

    @Test("report a missing identifier as the only fault")
    func nobody() throws {
        let explanation = try explain("{}", event: .init(name: .constant("x")))
        #expect(
            lines(explanation) == [
                #"custom_event {"name":"x"}, by track t: rejected: braze_id: the payload has no key-value braze_id"#
            ])
    }
}
