import PushModel
import PushRouting
import Testing

@Suite("An expectation on an explanation")
struct ExplainExpectationTests {
    private static let explanation = """
        {"provider":"braze","platform":"ios","outcome":null,"braze":{"campaign_id":"spring-1","kind":"visible"},\
        "invocations":[{"callback":"willPresent","route":null,"handler":null},{"callback":"push","handler":"crm"}],\
        "reason_codes":["owner"],"warnings":[],"confidence":"high"}
        """

    private func failure(_ text: String) throws -> String? {
        let object = try JSONDocument(scanning: Array(Self.explanation.utf8)).root
        return try #require(ExplainExpectation(text)).failure(in: object)
    }

    @Test(
        "holds for a value, a pattern, one of several values, and for nothing at all",
        arguments: [
            "provider=braze", "campaign=spring-*", "callback=push", "handler=crm", "outcome=none", "warning=none",
            "reason=owner", "kind=visible", "platform=*", "confidence=high",
        ])
    func holds(_ text: String) throws {
        #expect(try failure(text) == nil)
    }

    @Test("says what is so instead")
    func fails() throws {
        #expect(try failure("provider=crm") == "provider is braze, not crm")
        #expect(try failure("callback=none") == "callback is willPresent, push, not none")
        #expect(try failure("route=a") == "route is none, not a")
        #expect(try failure("outcome=handled") == "outcome is none, not handled")
    }

    @Test("is none without a known key")
    func unknown() {
        for text in ["provider", "=braze", "colour=red", ""] { #expect(ExplainExpectation(text) == nil) }
    }
}
