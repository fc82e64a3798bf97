import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("The JSON of an explanation")
struct ExplanationJSONTests {
    @Test("has each member, of the push, of its message and of its buttons, in their order")
    func members() throws {
        let payload = """
            {"from":"77","messageId":"m1","notification":{"title":"x"},"data":{"_ab":"true","t":"T","a":"A","cid":"c",\
            "ab_a0_id":"buy","ab_a0_a":"ab_uri","ab_a0_t":"Buy","ab_a0_uri":"shop://buy"}}
            """
        let root = try JSONDocument(
            scanning: Explanation(
                DeliverRequest(payload: JSONDocument(scanning: Array(payload.utf8)).root), platform: .android,
                table: RoutingTable(routes: [], handlers: [:])
            ).json
        ).root
        #expect(
            root.members.map(\.key) == [
                "platform", "transport", "state", "mode", "provider", "matches", "ambiguous", "braze", "message",
                "invocations", "outcome", "reasons", "reason_codes", "warnings", "confidence", "rules", "remarks",
                "tracks", "shown", "tap",
            ])
        #expect(root["tap"]?.members.map(\.key) == ["possible", "verdict", "campaign_id"])
        let message = try #require(root["message"])
        #expect(
            message.members.map(\.key) == [
                "message_id", "message_type", "from", "to", "sender_id", "collapse_key", "sent_time", "ttl",
                "original_priority", "priority", "notification",
            ])
        #expect(message["message_id"]?.string == "m1" && message["from"]?.string == "77")
        let button = try #require(root["braze"]?["actions"]?.elements.first)
        #expect(button.members.map(\.key) == ["id", "kind", "title", "uri"])
        #expect(["id", "title", "uri"].map { button[$0]?.string } == ["buy", "Buy", "shop://buy"])
        #expect(root["shown"]?.members.map(\.key) == ["by", "reason", "title", "body", "image", "buttons"])
    }

    @Test("is ambiguous where more than one rule of a provider matches", arguments: 0...3)
    func ambiguous(count: Int) throws {
        let names = ["a", "b", "c"].prefix(count)
        var table = RoutingTable.testing()
        table.detection.providers = names.enumerated().map { order, name in
            let rule = ProviderRule.PlatformRule(order: order, all: [.value(at: ["k"], .present)])
            return ProviderRule(name: name, title: name, platforms: [.android: rule])
        }
        let push = DeliverRequest(payload: JSONDocument(test: #"{"k":"v"}"#).root)
        let root = try JSONDocument(scanning: Explanation(push, platform: .android, table: table).json).root
        #expect(root["ambiguous"]?.bool == (count > 1))
        #expect(root["matches"]?.elements.compactMap(\.string) == Array(names))
        #expect(root["provider"]?.string == names.first)
    }
}
