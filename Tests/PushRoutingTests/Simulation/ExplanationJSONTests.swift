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
}
