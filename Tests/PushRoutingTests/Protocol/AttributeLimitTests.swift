import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The limits of attributes and entries")
struct AttributeLimitTests {
    private func attributes(_ count: Int) -> String {
        "{" + (0..<count).map { #""a\#($0)":1"# }.joined(separator: ",") + "}"
    }

    private func read(_ line: String) throws -> Request { try Request(line: Array(line.utf8)) }

    private func log(_ kind: String, _ count: Int) -> String {
        #"{"op":"log","id":"a","kind":"\#(kind)","app":"shop","device":"phone","attributes":\#(attributes(count))}"#
    }

    private func content(_ entries: [String]) throws -> HandlerAnswer.Content {
        let answer = #"{"status":"handled","log":[\#(entries.joined(separator: ","))]}"#
        return HandlerAnswer.Content(answer: try JSONDocument(scanning: Array(answer.utf8)).root)
    }

    @Test("a request has at most 1,000 attributes", arguments: ["custom_attributes", "user_attributes"])
    func request(kind: String) throws {
        #expect(throws: Never.self) { try read(log(kind, 1000)) }
        let error = try #require(throws: ProtocolError.self) { try read(log(kind, 1001)) }
        #expect(error.code == .invalidValue && error.field == "attributes" && error.id == "a")
        #expect(error.message == "attributes has 1001 members; one request has at most 1000")
    }

    @Test("of an answer 256 entries are kept, and the number of the others is reported")
    func entries() throws {
        let entry = #"{"kind":"custom_event","name":"bought"}"#
        let full = try content(Array(repeating: entry, count: 256))
        #expect(full.log.count == 256 && full.remarks.isEmpty)
        let more = try content(Array(repeating: entry, count: 300))
        #expect(more.log.count == 256)
        #expect(more.remarks == ["log: 44 entries are not kept: one answer has at most 256"])
        #expect(more.status == .handled)
    }

    @Test("of an answer's entries those with 1,000 attributes together are kept, and the others are reported")
    func attributesOfAnswer() throws {
        let entry = #"{"kind":"custom_attributes","attributes":\#(attributes(400))}"#
        let event = #"{"kind":"custom_event","name":"bought"}"#
        let answer = try content([entry, entry, entry, event])
        #expect(answer.log.count == 2)
        #expect(
            answer.remarks == [
                "log: 2 entries are not kept: the entries of one answer have at most 1000 attributes together"
            ]
        )
        let one = try content([#"{"kind":"custom_attributes","attributes":\#(attributes(1001))}"#])
        #expect(one.log.isEmpty)
        #expect(one.remarks == ["log[0].attributes: attributes has 1001 members; one request has at most 1000"])
    }
}
