import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("A scenario's line names the file of its payload")
struct PayloadReferenceTests {
    private func read(_ line: String) throws -> PayloadReference? { try PayloadReference(Array(line.utf8), number: 3) }

    private func line(_ line: String, payload: String, isAPNs: Bool = false) throws -> String {
        let reference = try #require(try read(line))
        let document = try JSONDocument(scanning: Array(payload.utf8))
        return String(decoding: reference.line(with: document.root, isAPNs: isAPNs), as: UTF8.self)
    }

    @Test("the payload replaces the file's name, and the other members stay unchanged")
    func replaced() throws {
        #expect(try read(#"{"op":"deliver","payload_file":"a/push.json"}"#)?.file == "a/push.json")
        #expect(
            try line(#"{"op":"deliver","at":1.0,"payload_file":"p","id":"\u0061"}"#, payload: #"{"k": 1}"#)
                == #"{"op":"deliver","at":1.0,"payload":{"k": 1},"id":"\u0061"}"#)
        #expect(
            try line(#"{"op":"interact","kind":"opened","payload_file":"p"}"#, payload: "{}")
                == #"{"op":"interact","kind":"opened","payload":{}}"#)
    }

    @Test("an .apns file is for iOS, unless the line names a platform")
    func apns() throws {
        let payload = #"{"aps":{}}"#
        #expect(
            try line(#"{"op":"deliver","payload_file":"p"}"#, payload: payload, isAPNs: true)
                == #"{"op":"deliver","payload":{"aps":{}},"platform":"ios"}"#)
        let named = #"{"op":"deliver","payload_file":"p","platform":"web"}"#
        #expect(try line(named, payload: payload, isAPNs: true).hasSuffix(#""platform":"web"}"#))
    }

    @Test(
        "a line without a payload's file, and an operation without a payload, stay unchanged",
        arguments: [
            #"{"op":"deliver","payload":{}}"#, #"{"op":"session","payload_file":"p"}"#, #"{"payload_file":"p"}"#,
            #"{"expect":{"payload_file":"p"}}"#, "{", "[]", "",
        ])
    func others(line: String) throws { #expect(try read(line) == nil) }

    @Test(
        "a missing file, or a payload beside it, is an error of its line",
        arguments: [
            (#""payload_file":7"#, "payload_file: must be the path of a file, in a string"),
            (#""payload_file":"""#, "payload_file: must be the path of a file, in a string"),
            (#""payload_file":"a\u0000b""#, "payload_file: must be the path of a file, in a string"),
            (#""payload_file":"p","payload":{}"#, "payload_file: stands in place of payload; leave one of them out"),
        ])
    func wrong(members: String, message: String) {
        #expect(throws: ScenarioError(line: 3, message: message)) { try read(#"{"op":"deliver",\#(members)}"#) }
    }
}
