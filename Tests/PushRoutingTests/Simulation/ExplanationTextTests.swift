import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("The text of an explanation")
struct ExplanationTextTests {
    private func lines(
        _ payload: String, on platform: Platform = .android, state: AppState = .background,
        _ change: (inout RoutingTable) -> Void = { _ in }
    ) throws -> [String] {
        var table = RoutingTable.testing()
        change(&table)
        let deliver = DeliverRequest(state: state, payload: JSONDocument(test: payload).root)
        return try Explanation(deliver, platform: platform, table: table).lines().map(\.text)
    }

    /// A rule of a provider whose payloads have the key `k`.
    private static func rule(
        _ name: String, order: Int, _ confidence: ProviderRule.Confidence = .high,
        entry: ProviderRule.Entry = .service
    ) -> ProviderRule {
        let rule = ProviderRule.PlatformRule(
            order: order, confidence: confidence, entry: entry, all: [.value(at: ["k"], .present)])
        return ProviderRule(name: name, title: name, platforms: [.android: rule])
    }

    @Test(
        "has FCM's facts about the message, without those at their defaults",
        arguments: [
            (#""google.message_id":"m1","message_id":"m2","from":"77""#, "message m1, from 77"),
            (#""message_id":"m2","google.ttl":"0","google.sent_time":"0""#, "message m2"),
            (
                #""google.original_priority":"high","google.delivered_priority":"normal""#,
                "a message without an id, priority high, delivered as normal"
            ),
            (
                #""google.original_priority":"high","google.delivered_priority":"high""#,
                "a message without an id, priority high"
            ),
            (
                #""google.delivered_priority":"normal""#,
                "a message without an id, priority unknown, delivered as normal"
            ),
            (#""google.original_priority":"high""#, "a message without an id, priority high"),
            (#""google.ttl":"1","collapse_key":"c""#, "a message without an id, ttl 1 s, collapse key c"),
            (#""google.sent_time":"1""#, "a message without an id, sent at 1970-01-01T00:00:00.001Z"),
            (
                #""google.sent_time":"253402300799999""#,
                "a message without an id, sent at 9999-12-31T23:59:59.999Z"
            ),
            (#""google.sent_time":"253402300800000""#, "a message without an id, sent at 253402300800000 ms"),
            (#""google.sent_time":"-1""#, "a message without an id, sent at -1 ms"),
            (#""gcm.n.e":"1","gcm.n.title":"T""#, "a message without an id, notification \"T\""),
            (#""gcm.n.e":"1","gcm.n.body":"B""#, "a message without an id, notification without title"),
        ])
    func message(_ extras: String, _ line: String) throws {
        #expect(try lines(#"{"extras":{\#(extras)}}"#).contains("  \(line)"))
    }

    @Test(
        "begins with the provider, its confidence and the others that would match",
        arguments: [
            ([], "a push of no known provider"), ([rule("a", order: 1)], "a push of a"),
            ([rule("a", order: 1, .low)], "a push of a, by a rule of low confidence"),
            ([rule("a", order: 1), rule("b", order: 2)], "a push of a; ambiguous, b would match too"),
            ([rule("a", order: 2), rule("b", order: 1)], "a push of b; ambiguous, a would match too"),
        ] as [([ProviderRule], String)])
    func providers(_ rules: [ProviderRule], _ headline: String) throws {
        #expect(try lines(#"{"k":"v"}"#) { $0.detection.providers = rules }.first == headline)
    }

    @Test("begins with the campaign of a Braze push, and whether it counts for influenced opens")
    func braze() throws {
        let spring = try lines(#"{"_ab":"true","t":"T","a":"A","cid":"spring"}"#)
        #expect(spring.first == "a Braze push, visible, campaign spring; counts for influenced opens")
        let none = try lines(#"{"_ab":"true","t":"T","a":"A"}"#)[0]
        #expect(none.hasPrefix("a Braze push, visible, no campaign; does not count for influenced opens"), "\(none)")
    }

    @Test("says who runs if no callback of the app does")
    func nobody() throws {
        #expect(
            try lines(#"{"notification":{"title":"T"}}"#)
                .contains("  No callback of the app runs; the outcome is shown_by_system"))
        #expect(try lines(#"{"k":"v"}"#, on: .ios).contains("  No handler gets it; the outcome is swallowed"))
        let own = try lines(#"{"k":"v"}"#) { $0.detection.providers = [Self.rule("a", order: 1, entry: .ownReceiver)] }
        #expect(own.contains("  No service of the app runs; the outcome is own_receiver"))
    }

    @Test(
        "has what a tap on a Braze push opens, as the system or as Braze's SDK shows it",
        arguments: [
            (#","uri":"shop://x""#, AppState.foreground, "a tap opens shop://x"),
            (#","uri":"shop://x""#, .background, "a tap opens the app, and not Braze's link shop://x"),
            ("", .background, "a tap opens the app"),
            (
                #","uri":"shop://x","gcm.n.click_action":"OPEN""#, .background,
                "a tap opens the activity for OPEN, the block's click_action, and not Braze's link shop://x"
            ),
        ])
    func taps(_ more: String, _ state: AppState, _ line: String) throws {
        let payload = #"{"extras":{"_ab":"true","t":"T","a":"A","gcm.n.e":"1","gcm.n.title":"N"\#(more)}}"#
        let lines = try lines(payload, state: state)
        #expect(lines.filter { $0.hasPrefix("  a tap opens") } == ["  \(line)"])
    }

    @Test("has Braze's buttons, and the key-values")
    func buttons() throws {
        let payload =
            #"{"_ab":"true","t":"T","a":"A","extra":"{\"k\":\"v\"}","ab_a0_a":"ab_uri","ab_a0_id":"buy","#
            + #""ab_a0_t":"Buy","ab_a0_uri":"https://x","ab_a1_a":"ab_none","ab_a1_id":"no"}"#
        let lines = try lines(payload)
        let found = lines.filter { $0.hasPrefix("  button") || $0.hasPrefix("  key-value") }
        #expect(
            found == [
                "  button \"Buy\", id buy: uri https://x", "  button without text, id no: close", "  key-value k = v",
            ])
    }

    @Test("has the receiver of each callback: a handler, the copy for an observer, the tracker, or nobody")
    func callbacks() throws {
        let copy = Route(name: "copy", match: RouteMatch(), handler: "crm", observes: true)
        func callbacks(_ payload: String, _ routes: [Route]) throws -> [String] {
            try lines(payload) { $0 = .testing(routes: routes) }.filter { $0.hasPrefix("  onMessageReceived") }
        }
        #expect(
            try callbacks(#"{"k":"v"}"#, [.all(to: "crm", budget: .milliseconds(1500))]) == [
                "  onMessageReceived -> handler crm, by route all-crm, within 1500 ms"
            ])
        #expect(
            try callbacks(#"{"k":"v"}"#, [copy]) == [
                "  onMessageReceived -> nobody",
                "  onMessageReceived -> copy to handler crm, by route copy, within 9000 ms",
            ])
        let braze = #"{"_ab":"true","t":"T","a":"A"}"#
        #expect(try callbacks(braze, []) == ["  onMessageReceived -> tracker of opens"])
    }
}
