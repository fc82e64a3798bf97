import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("An expectation on an explanation")
struct ExplainExpectationTests {
    private static let explanation = """
        {"provider":"braze","platform":"ios","outcome":null,"braze":{"campaign_id":"spring-1","kind":"visible"},\
        "invocations":[{"callback":"willPresent","route":null,"handler":null},{"callback":"push","handler":"crm"}],\
        "reason_codes":["owner"],"warnings":[],"confidence":"high","tap":{"verdict":"opened"}}
        """

    private func failure(_ text: String) throws -> String? {
        let object = try JSONDocument(scanning: Array(Self.explanation.utf8)).root
        return try #require(ExplainExpectation(text)).failure(in: explain(#"{"k":"v"}"#), object)
    }

    private func explain(_ payload: String, on platform: Platform = .android, sdk: SDKState = .ready) throws
        -> Explanation
    {
        let deliver = DeliverRequest(state: .foreground, sdk: sdk, payload: JSONDocument(test: payload).root)
        return try Explanation(deliver, platform: platform, table: .testing())
    }

    @Test(
        "holds for a value, a pattern, one of several values, and for null",
        arguments: [
            "provider=braze", "campaign=spring-*", "callback=push", "handler=crm", "outcome=handler crm",
            "warning=none",
            "reason=owner", "kind=visible", "platform=*", "confidence=high", "tap=opened",
        ])
    func holds(_ text: String) throws {
        #expect(try failure(text) == nil)
    }

    @Test("a failed expectation on an explanation reports the actual value")
    func fails() throws {
        #expect(try failure("provider=crm") == "provider is braze, not crm")
        #expect(try failure("callback=none") == "callback is willPresent, push, not none")
        #expect(try failure("tap=duplicate") == "tap is opened, not duplicate")
        #expect(try failure("route=a") == "route is none, not a")
        #expect(try failure("outcome=handled") == "outcome is handler crm, not handled")
    }

    @Test("on the outcome compares the end in the explanation, also where no platform decides it")
    func outcome() throws {
        for (sdk, word) in [(SDKState.ready, "handed_to_tracker"), (.missing, "sdk_not_ready")] {
            let explanation = try explain(Payload.brazeIOS(contentAvailable: true), on: .ios, sdk: sdk)
            let object = try JSONDocument(scanning: explanation.json).root
            #expect(explanation.outcomeWord == word)
            #expect(ExplainExpectation("outcome=\(word)")?.failure(in: explanation, object) == nil)
            #expect(
                ExplainExpectation("outcome=none")?.failure(in: explanation, object) == "outcome is \(word), not none")
        }
    }

    @Test(
        "on a word that no payload can have says what there is",
        arguments: [
            ("platform=none", nil), ("platform=*", nil), ("platform=web", nil), ("campaign=any", nil),
            ("warning=any", nil), ("outcome=handler crm", nil), ("outcome=handled", nil), ("route=all-crm", nil),
            ("handler=crm", nil), ("kind=silent", nil), ("tap=opened", nil), ("confidence=low", nil),
            ("callback=push", nil), ("provider=braze", nil), ("reason=\(ReasonCode.allCases[0].rawValue)", nil),
            ("provider=qqqq", "there is no provider qqqq; one of braze"),
            ("provider=brase", "there is no provider brase; did you mean braze?"),
            ("confidence=zzzzzz", "there is no confidence zzzzzz; one of high, low"),
            ("handler=zzzz", "there is no handler zzzz; one of crm"),
            ("reason=zzzzzz", "there is no reason zzzzzz"),
        ] as [(String, String?)])
    func complaints(_ text: String, _ complaint: String?) throws {
        #expect(try #require(ExplainExpectation(text)).complaint(under: .testing()) == complaint)
    }

    @Test("lists at most 20 words", arguments: [(20, true), (21, false)])
    func list(_ count: Int, _ isListed: Bool) throws {
        let table = RoutingTable.testing(routes: [], handlers: (1...count).map { .exec("handler-\($0)") })
        let complaint = try #require(ExplainExpectation("handler=zzzz")?.complaint(under: table))
        #expect(complaint.hasPrefix("there is no handler zzzz"))
        #expect(complaint.hasSuffix("handler-8, handler-9") == isListed)
    }

    @Test("is an error without a known key")
    func unknown() {
        for text in ["provider", "=braze", "colour=red", ""] { #expect(ExplainExpectation(text) == nil) }
    }
}
