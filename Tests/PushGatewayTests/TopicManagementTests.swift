import Testing

@testable import PushGateway
@testable import PushModel

@Suite("Subscriptions to topics")
struct TopicManagementTests {
    private static let path = TopicPath(project: "demo", registration: "a:b/c", topic: nil)
    private static let one = TopicPath(project: "demo", registration: "a:b/c", topic: "news")

    private func operation(
        _ path: TopicPath, _ action: TopicPath.Action, query: String = ""
    ) throws(GoogleError) -> TopicSubscriptionRequest.Operation {
        try TopicSubscriptionRequest(path, action, .post("/x\(query)")).operation
    }

    @Test(
        "are requested in both spellings of the queries",
        arguments: [
            ("topic_name", "allow_missing", "page_size", "page_token"),
            ("topicName", "allowMissing", "pageSize", "pageToken"),
        ])
    func spellings(_ topic: String, _ missing: String, _ size: String, _ page: String) throws {
        #expect(
            try operation(Self.path, .create, query: "?alt=json&\(topic)=n%7Ews")
                == .subscribe(topic: "n~ws", isNew: true)
        )
        #expect(try operation(Self.one, .get) == .show(topic: "news"))
        #expect(try operation(Self.one, .delete) == .unsubscribe(topic: "news", allowsMissing: false))
        #expect(
            try operation(Self.one, .delete, query: "?\(missing)=true")
                == .unsubscribe(topic: "news", allowsMissing: true))
        #expect(try operation(Self.one, .patch) == .show(topic: "news"))
        #expect(
            try operation(Self.one, .patch, query: "?\(missing)=true") == .subscribe(topic: "news", isNew: false))
        #expect(try operation(Self.path, .list) == .showAll(limit: 1000, page: nil))
        #expect(
            try operation(Self.path, .list, query: "?\(size)=5000&\(page)=p1") == .showAll(limit: 2000, page: "p1"))
        #expect(try operation(Self.path, .list, query: "?\(size)=7") == .showAll(limit: 7, page: nil))
    }

    @Test("to a malformed topic are refused, with the field")
    func badTopics() {
        for query in ["", "?topic_name=", "?topic_name=%2Ftopics%2Fnews", "?topic_name=a+b"] {
            #expect(throws: GoogleError.self, "\(query)") { try operation(Self.path, .create, query: query) }
        }
        let bad = TopicPath(project: "demo", registration: "t", topic: "a b")
        for action in [TopicPath.Action.get, .patch, .delete] {
            do {
                _ = try operation(bad, action)
                Issue.record("it is taken")
            } catch {
                #expect(error.response.status == 400)
                #expect(error.response.text.has("fieldViolations"))
            }
        }
    }

    @Test("are answered as the discovery document says")
    func answers() {
        var subscription = TopicSubscription(project: "demo", registration: "a:b/c", topic: "news")
        let name = #""name":"projects/demo/registrations/a:b/c/topicSubscriptions/news""#
        #expect(TopicSubscriptionOutcome.subscribed(subscription).response.text == "{\(name)}")
        subscription.created = WallTime(milliseconds: 1_795_537_418_000)
        let whole = #"{\#(name),"topicName":"news","createTime":"2026-11-24T16:23:38Z"}"#
        #expect(TopicSubscriptionOutcome.subscribed(subscription).response.text == whole)
        #expect(
            TopicSubscriptionOutcome.all([subscription], next: "p2").response.text
                == #"{"topicSubscriptions":[\#(whole)],"nextPageToken":"p2"}"#)
        #expect(TopicSubscriptionOutcome.all([], next: nil).response.text == "{}")
        #expect(TopicSubscriptionOutcome.unsubscribed.response.text == "{}")
        #expect(TopicSubscriptionOutcome.exists.response.status == 409)
        #expect(TopicSubscriptionOutcome.missing.response.status == 404)
    }

    @Test("of many tokens at once are answered in order")
    func batch() throws {
        let body = #"{"to":"/topics/news","registration_tokens":["t1","t2","t3"]}"#
        let batch = try TopicBatch(isAdding: true, body: Array(body.utf8))
        #expect(batch.topic == "news")
        #expect(batch.tokens == ["t1", "t2", "t3"])
        let answer = batch.response([nil, .tooManyTopics, nil])
        #expect(answer.text == #"{"results":[{},{"error":"TOO_MANY_TOPICS"},{}]}"#)
    }

    @Test(
        "of many tokens need a topic, and 1 to 1,000 tokens",
        arguments: [
            "", "[]", #"{"registration_tokens":["t"]}"#, #"{"to":"/topics/a b","registration_tokens":["t"]}"#,
            #"{"to":"/topics/news"}"#, #"{"to":"/topics/news","registration_tokens":[]}"#,
            #"{"to":"/topics/news","registration_tokens":[1]}"#, #"{"to":"/topics/news","registration_tokens":"t"}"#,
            #"{"to":"/topics/news","registration_tokens":["t"\#(String(repeating: #","t""#, count: 1000))]}"#,
        ])
    func badBatches(_ body: String) {
        do {
            _ = try TopicBatch(isAdding: false, body: Array(body.utf8))
            Issue.record("it is taken")
        } catch {
            #expect(error.response.status == 400)
            #expect(error.response.text == #"{"error":"InvalidArgument"}"#)
        }
    }
}
