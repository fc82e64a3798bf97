import Testing

@testable import PushModel

@Suite("The topics of a device as one text")
struct SubscriptionTextTests {
    @Test("are read as they were written")
    func roundTrip() throws {
        var topics: [Subscription] = []
        #expect(topics.columnText == nil && [Subscription](columnText: "") == [])
        for (place, names) in [("shop", "news"), ("-", "sport"), ("other", "a.b")].enumerated() {
            let name = try #require(TopicName(project: names.0, topic: names.1))
            topics.append(Subscription(topic: name, since: Int64(place) * 1000))
            #expect([Subscription](columnText: try #require(topics.columnText)) == topics)
        }
        #expect(topics.columnText == "shop/news/0 -/sport/1000 other/a.b/2000")
    }

    @Test(
        "are refused if a part is missing, or no time",
        arguments: ["shop/news", "shop/news/1/2", "shop/news/x", "shop/news/-1", "shop//1", "/news/1", "a/b/1 c"])
    func malformed(_ text: String) { #expect([Subscription](columnText: text) == nil) }

    @Test("have times up to a limit")
    func times() {
        #expect([Subscription](columnText: "a/b/\(Subscription.secondsMax)")?.count == 1)
        #expect([Subscription](columnText: "a/b/\(Subscription.secondsMax + 1)") == nil)
    }
}
