import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("A pasted payload with a fault that has one repair")
struct RepairedPayloadTests {
    private static func repaired(_ text: String) -> RepairedPayload? { RepairedPayload(Array(text.utf8)) }

    @Test(
        "is read, and a remark has the line",
        arguments: [
            // Closing brackets that are cut off, also before the end of a block of Markdown.
            (
                #"{"aps":{"alert":{"title":"Hi""#, #"{"aps":{"alert":{"title":"Hi"}}}"#, 0,
                "3 closing brackets are missing"
            ),
            (
                "{\"message\":{\"token\":\"t\",\n\"data\":{}}\n```\n", #"{"message":{"token":"t","data":{}}}"#, 1,
                "1 closing bracket is"
            ),
            // A comma between two lines.
            (
                "{\n\"notification\": {\"title\": \"x\"}\n\"to\": \"t\"\n}",
                #"{"notification":{"title":"x"},"to":"t"}"#, 1, "the comma at the end of this line is missing"
            ),
            (
                "{\"to\": \"t\", \"data\": {\n\"a\": 1\n\"b\": true\n\"c\": \"x\"}}",
                #"{"to":"t","data":{"a":1,"b":true,"c":"x"}}"#, 1, "the comma at the end of this line"
            ),
            // Behind a text, at the end of a line and in it.
            (
                "{\"aps\": {\"alert\": {\"title\": \"x\"\n\"body\": \"y\"}}}",
                #"{"aps":{"alert":{"title":"x","body":"y"}}}"#, 0, "the comma at the end of this line is missing"
            ),
            (
                #"{"to": "t", "priority": "high" "data": {"a": 1 "b": "2"}}"#,
                #"{"to":"t","priority":"high","data":{"a":1,"b":"2"}}"#, 0, "a comma between two members is missing"
            ),
            // In single quotation marks, too.
            (
                "{'to': 't'\n'data': {'a': '1'}}", #"{"to":"t","data":{"a":"1"}}"#, 0,
                "the comma at the end of this line is missing"
            ),
            (
                "{'to': 't' 'data': {'a': '1'}}", #"{"to":"t","data":{"a":"1"}}"#, 0,
                "a comma between two members is missing"
            ),
            // Masked values, variables and calls.
            (
                #"{"messageId": xxxxx, "data": {"_ab":"true"}}"#, #"{"messageId":"xxxxx","data":{"_ab":"true"}}"#, 0,
                "xxxxx is no value of JSON"
            ),
            (#"{"to": ***, "data": {"k":"v"}}"#, #"{"to":"***","data":{"k":"v"}}"#, 0, "*** is no value of JSON"),
            (
                #"{"to": <YOUR TOKEN>, "data": {"n": Number(count)}}"#,
                #"{"to":"<YOUR TOKEN>","data":{"n":"Number(count)"}}"#, 0, "Number(count) is no"
            ),
            // A call on an object of source code, and a header that is a variable.
            (
                "{\n default: text(x),\n APNS: { aps: { alert: title } }.to_json\n}",
                #"{"default":"text(x)","APNS":{"aps":{"alert":"<title>"}}}"#, 1, "text(x) is no value of JSON"
            ),
            (
                #"{"apns": {"headers": {"apns-expiration": String(time)}, "payload": {"aps": {}}}}"#,
                #"{"apns":{"headers":{},"payload":{"aps":{}}}}"#, 0, "apns-expiration is a variable, String(time)"
            ),
            (
                "{\nforeground: true\ntitle: \"T\"\nuserInteraction: false\n}",
                #"{"foreground":true,"title":"T","userInteraction":false}"#, 1, "the comma at the end of this line is"
            ),
            // Members of JavaScript that are a name alone, and variables in the place of data.
            (
                "{ notification: { title, body }, data, tokens }",
                #"{"notification":{"title":"<title>","body":"<body>"},"data":{},"tokens":["<tokens>"]}"#, 0,
                "title is no value of JSON"
            ),
            (
                "{ notification: { title: 'T' },\n data: event.data }", #"{"notification":{"title":"T"},"data":{}}"#, 1,
                "data is a variable, event.data"
            ),
            // A mail program broke a link.
            (
                "{\"to\":\"t\",\"notification\":{\"image\":\"\nhttps://x.example/\n  a.png\n\",\"body\":\"one\ntwo\"}}",
                #"{"to":"t","notification":{"image":"https://x.example/a.png","body":"one\u000atwo"}}"#, 0,
                "a text goes on in the next line"
            ),
        ])
    func isRead(_ text: String, _ payload: String, _ line: Int, _ remark: String) throws {
        let found = try #require(Self.repaired(text), "\(text)")
        #expect(String(decoding: found.json, as: UTF8.self) == payload)
        let first = try #require(found.remarks.first)
        #expect(first.line == line && first.text.has(remark), "\(found.remarks)")
    }

    @Test("tells of three values, and the number of the others")
    func manyValues() throws {
        let found = try #require(Self.repaired(#"{"to":a1,"data":{"a":b1,"b":b2,"c":b3,"d":b4}}"#))
        #expect(found.remarks.count == 4)
        #expect(found.remarks.last?.text == "2 more values are read as texts")
    }

    @Test(
        "is none if it is about no push, is cut within a value or between members, or has another fault",
        arguments: [
            "{\n\"a\": 1\n\"b\": 2\n}", #"{"name":"x","version":{"#, #"{"data":{"user":{"id":xxxx}}}"#,
            #"{"aps":{"alert":"Hi"#, #"{"aps":{"alert":"Hi"},"#, #"{"aps":{"alert":"Hi"},"ab":"#,
            #"{"aps":{"alert" "Hi"}}"#,
            #"{"data":"{"key":"v"}","to":"t"}"#, #"{"to":"t" "data"}"#, #"{"to":"t","to":"u","data":{}}"#,
            "{ const x = 1; send(message) }", "[1, 2", "{",
        ])
    func isNone(_ text: String) { #expect(Self.repaired(text) == nil, "\(text)") }

    @Test("has the decision of the whole payload in JSON, or is refused")
    func sameDecision() throws {
        func decided(_ json: [UInt8]) throws -> String {
            let root = try JSONDocument(scanning: json).root
            let decision = try decide(
                Delivery(platform: root.isApplePayload ? .ios : .android, payload: root), settings: .shipped)
            return "\(decision.provider ?? "-") \(decision.callbacks) \(decision.outcome as Outcome?)"
        }
        let payloads = [
            #"{"aps":{"alert":{"title":"T","body":"B"},"mutable-content":1},"ab":{"c":"x"},"k":"v, w"}"#,
            #"{"to":"t","priority":"high","notification":{"title":"T"},"data":{"k":"v {","n":"1"}}"#,
            #"{"message":{"token":"t","data":{"_ab":"true","t":"T","a":"A"},"android":{"priority":"HIGH"}}}"#,
            #"{"data":{"_ab":"true","extra":"{\"a\":\"b\"}"},"messageId":"m","from":"1"}"#,
            #"{"aps":{"content-available":1},"_k":"x"}"#,
        ]
        var repairs = 0
        for seed in Search.seeds(20_000) {
            var random = SeededGenerator(seed: seed)
            let payload = payloads[Int.random(in: 0..<payloads.count, using: &random)]
            var text = String(
                decoding: payload.utf8.flatMap {
                    $0 == UInt8(ascii: ",") && Bool.random(using: &random) ? [$0, 10] : [$0]
                },
                as: UTF8.self)
            // One fault: a cut, a comma or a quotation mark that is missing, a bracket that is doubled.
            var bytes = Array(text.utf8)
            let marks = bytes.indices.filter { "\",{}[]".utf8.contains(bytes[$0]) }
            let place = marks.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.removeLast(Int.random(in: 1...4, using: &random))
            case 1: bytes = Array(bytes[...place])
            case 2: bytes.remove(at: place)
            default: bytes.insert(bytes[place], at: place)
            }
            text = String(decoding: bytes, as: UTF8.self)
            guard (try? JSONDocument(scanning: bytes)) == nil, let found = RepairedPayload(bytes) else { continue }
            repairs += 1
            // A cut behind a whole member leaves a payload that is right and shorter; its remark says so.
            let isCut = found.remarks.contains { $0.text.has("missing at the end") }
            let isOfWord = found.remarks.contains { $0.text.has("is no value of JSON") }
            guard !isCut, !isOfWord else { continue }
            guard let decision = try? decided(found.json) else { continue }
            #expect(try decision == decided(Array(payload.utf8)), "seed \(seed): \(text)")
        }
        #expect(repairs > 20)
    }

    @Test(
        "is known by a name that says what else it is, also without its end, or by the keys of a push",
        arguments: [
            (#"{"reason":"BadDeviceToken"}"#, true, true), (#"{"aps":{"alert":"x"}}"#, true, false),
            (#"[{"reason":"BadDeviceToken"}]"#, true, true), (#"{"message":{"k":"v"}}"#, true, false),
            (#"{"message":{"k":"v"},"x":"y"}"#, true, false), (#"{"message":{"k":"v"},"x":"y","z":"a"}"#, false, false),
            (#"{"notification":{"k":"v"},"x":"y","z":"a"}"#, true, false), (#"{"message":"k","x":"y"}"#, false, false),
            (#"{"x":"y"}"#, false, false), ("{}", false, false), ("[]", false, false), ("1", false, false),
        ])
    func isKnown(_ text: String, _ isKnown: Bool, _ isKnownWhenCut: Bool) throws {
        #expect(RepairedPayload.isKnown(try json(text)) == isKnown)
        #expect(RepairedPayload.isKnown(try json(text), isCut: true) == isKnownWhenCut)
    }
}
