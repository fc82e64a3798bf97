import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Refused requests")
struct RefusalTests {
    /// A line, and the error that answers it.
    struct Example: CustomTestStringConvertible {
        var line: String
        var code: ProtocolError.Code
        var field: String?
        var message: String

        init(_ line: String, _ code: ProtocolError.Code, _ field: String?, _ message: String) {
            (self.line, self.code, self.field, self.message) = (line, code, field, message)
        }

        var testDescription: String { line }
    }

    static let deliverKeys =
        "app, at, device, external_id, headers, id, locked, message_id, notifications, op, os_version, payload, platform, "
        + "sdk, sender, state, "
        + "transport, wait"
    static let badTime =
        "at is an RFC 3339 time, such as 2026-11-21T09:00:00Z, or a whole number of Unix milliseconds, "
        + "within the years 1 to 9999"

    static let examples = [
        Example("[]", .invalidType, nil, "a request is one JSON object on one line; this is an array"),
        Example(
            "{}", .missingKey, "op",
            "op is missing: deliver, interact, session, token, log, topic, publish, device, topics or resolve"),
        Example(#"{"op":5}"#, .invalidType, "op", "op is a string; this is a number"),
        Example(
            #"{"op":"delete"}"#, .unknownOperation, "op",
            "inject.sock takes deliver, interact, session, token, log, topic, publish, device, topics or resolve"
        ),
        Example(#"{"op":"deliver"}"#, .missingKey, "payload", "payload is missing"),
        Example(#"{"op":"deliver","payload":[]}"#, .invalidType, "payload", "payload is an object; this is an array"),
        Example(#"{"op":"deliver","payload":null}"#, .invalidType, "payload", "payload is an object; this is null"),
        Example(
            #"{"op":"deliver","payload":{},"paylaod":{}}"#, .unknownKey, "paylaod",
            "this op has no such key; it has \(deliverKeys)"),
        Example(
            #"{"op":"deliver","payload":{},"kind":"opened"}"#, .unknownKey, "kind",
            "this op has no such key; it has \(deliverKeys)"),
        Example(
            #"{"op":"deliver","payload":{},"message_id":""}"#, .invalidValue, "message_id",
            "message_id is empty; leave it out instead"),
        Example(
            #"{"op":"deliver","payload":{},"platform":"android","headers":{}}"#, .invalidValue, "headers",
            "only platform ios has the headers of APNs; platform is android"),
        Example(
            #"{"op":"deliver","payload":{},"headers":{"apns-colour":"red"}}"#, .unknownKey, "headers.apns-colour",
            "headers has no such key; it has apns-collapse-id, apns-expiration, apns-id, apns-priority, apns-push-type, "
                + "apns-topic"),
        Example(
            #"{"op":"deliver","payload":{},"headers":{"apns-priority":5}}"#, .invalidType, "headers.apns-priority",
            "headers.apns-priority is a string; this is a number"),
        Example(
            #"{"op":"deliver","payload":{},"sender":{"client":5}}"#, .invalidType, "sender.client",
            "sender.client is a string; this is a number"),
        Example(
            #"{"op":"deliver","payload":{},"sender":{"answer":"200"}}"#, .invalidType, "sender.answer",
            "sender.answer is a whole number; this is a string"),
        Example(
            #"{"op":"deliver","payload":{},"sender":{"name":"x"}}"#, .unknownKey, "sender.name",
            "sender has no such key; it has client, account, project, team, key, urgency, topic, connection, method, path, "
                + "reason, cause, answer, ttl, times"),
        Example(
            #"{"op":"deliver","payload":{},"platform":"iOS"}"#, .invalidValue, "platform",
            "platform is one of android, ios, web"),
        Example(
            #"{"op":"deliver","payload":{},"state":"asleep"}"#, .invalidValue, "state",
            "state is one of foreground, background, terminated, force_quit, force_stopped"),
        Example(
            #"{"op":"deliver","payload":{},"sdk":"yes"}"#, .invalidValue, "sdk", "sdk is one of ready, nil, delayed"),
        Example(
            #"{"op":"deliver","payload":{},"notifications":"no"}"#, .invalidValue, "notifications",
            "notifications is one of allowed, denied"),
        Example(
            #"{"op":"deliver","payload":{},"locked":"true"}"#, .invalidType, "locked",
            "locked is true or false; this is a string"),
        Example(#"{"op":"deliver","payload":{},"app":7}"#, .invalidType, "app", "app is a string; this is a number"),
        Example(
            #"{"op":"deliver","payload":{},"device":""}"#, .invalidValue, "device",
            "device is empty; leave it out instead"),
        Example(
            #"{"op":"deliver","payload":{},"external_id":{}}"#, .invalidType, "external_id",
            "external_id is a string; this is an object"),
        Example(
            #"{"op":"deliver","payload":{},"os_version":18}"#, .invalidType, "os_version",
            "os_version is a string; this is a number"),
        Example(
            #"{"op":"deliver","payload":{},"os_version":"iOS 18"}"#, .invalidValue, "os_version",
            "os_version is major[.minor[.patch]] in digits, such as 17 or 17.4.1"),
        Example(#"{"op":"deliver","payload":{},"id":7}"#, .invalidType, "id", "id is a string; this is a number"),
        Example(
            #"{"op":"deliver","payload":{},"id":"\#(String(repeating: "x", count: 256))"}"#, .invalidValue, "id",
            "id is longer than 255 bytes"),
        Example(
            #"{"op":"deliver","payload":{},"wait":"yes"}"#, .invalidValue, "wait", "wait is \"outcome\", or left out"),
        Example(
            #"{"op":"deliver","payload":{},"wait":true}"#, .invalidType, "wait",
            "wait is the string \"outcome\", or left out; this is a boolean"),
        Example(
            #"{"op":"deliver","payload":{},"at":true}"#, .invalidType, "at",
            "at is an RFC 3339 time or Unix milliseconds; this is a boolean"),
        Example(#"{"op":"deliver","payload":{},"at":"yesterday"}"#, .invalidValue, "at", badTime),
        Example(#"{"op":"deliver","payload":{},"at":""}"#, .invalidValue, "at", badTime),
        Example(#"{"op":"deliver","payload":{},"at":1.5}"#, .invalidValue, "at", badTime),
        Example(#"{"op":"deliver","payload":{},"at":253402300800000}"#, .invalidValue, "at", badTime),
        Example(#"{"op":"deliver","payload":{},"at":-62135596800001}"#, .invalidValue, "at", badTime),
        Example(#"{"op":"deliver","payload":{},"at":99999999999999999999}"#, .invalidValue, "at", badTime),
        Example(#"{"op":"deliver","payload":{},"at":"0000-12-31T23:59:59Z"}"#, .invalidValue, "at", badTime),
        Example(#"{"op":"deliver","payload":{},"at":"0001-01-01T00:00:00+00:01"}"#, .invalidValue, "at", badTime),
        Example(#"{"op":"interact","message":1}"#, .missingKey, "kind", "kind is missing: opened, action, dismissed"),
        Example(
            #"{"op":"interact","kind":"seen","message":1}"#, .invalidValue, "kind",
            "kind is one of opened, action, dismissed"),
        Example(
            #"{"op":"interact","kind":"action","message":1}"#, .missingKey, "action",
            "action is missing: the id of the button that was pressed"),
        Example(
            #"{"op":"interact","kind":"action","message":1,"action":""}"#, .invalidValue, "action",
            "action is empty; leave it out instead"),
        Example(
            #"{"op":"interact","kind":"opened","message":1,"action":"yes"}"#, .invalidValue, "action",
            "only kind action has action; this is opened"),
        Example(
            #"{"op":"interact","kind":"dismissed","message":1,"text":"no"}"#, .invalidValue, "text",
            "only kind action has text; this is dismissed"),
        Example(
            #"{"op":"interact","kind":"action","message":1,"action":"a","text":1}"#, .invalidType, "text",
            "text is a string; this is a number"),
        Example(#"{"op":"session"}"#, .missingKey, "kind", "kind is missing: start, end"),
        Example(#"{"op":"session","kind":"pause"}"#, .invalidValue, "kind", "kind is one of start, end"),
        Example(
            #"{"op":"session","kind":"start","payload":{}}"#, .unknownKey, "payload",
            "this op has no such key; it has app, at, device, external_id, id, kind, op, platform, wait"),
        Example(
            #"{"op":"token","kind":"old","token":"t"}"#, .invalidValue, "kind",
            "kind is one of new, registered, unregistered"),
        Example(
            #"{"op":"token"}"#, .missingKey, "token", "token is missing; only kind unregistered may leave it out"),
        Example(
            #"{"op":"token","kind":"registered"}"#, .missingKey, "token",
            "token is missing; only kind unregistered may leave it out"),
        Example(#"{"op":"token","token":7}"#, .invalidType, "token", "token is a string; this is a number"),
        Example(
            #"{"op":"token","token":"\#(String(repeating: "x", count: 4097))"}"#, .invalidValue, "token",
            "token is longer than 4096 bytes"),
        Example(
            #"{"op":"log"}"#, .missingKey, "kind",
            "kind is missing: custom_event, custom_attributes, user_attributes"),
        Example(
            #"{"op":"log","kind":"event"}"#, .invalidValue, "kind",
            "kind is one of custom_event, custom_attributes, user_attributes"),
        Example(
            #"{"op":"log","kind":"custom_event","attributes":{}}"#, .unknownKey, "attributes",
            "kind custom_event has no attributes; it has name and properties"),
        Example(
            #"{"op":"log","kind":"user_attributes","attributes":{},"name":"n"}"#, .unknownKey, "name",
            "kind user_attributes has no name; it has attributes"),
        Example(
            #"{"op":"log","kind":"custom_event","payload":{}}"#, .unknownKey, "payload",
            "this op has no such key; it has app, at, attributes, braze_id, device, external_id, id, kind, name, "
                + "op, platform, properties, suite, wait"),
        Example(
            #"{"op":"log","kind":"custom_event","suite":""}"#, .invalidValue, "suite",
            "suite is empty; leave it out instead"),
        Example(
            #"{"op":"interact","kind":"opened"}"#, .missingKey, "message",
            "give message or payload to name the notification"),
        Example(
            #"{"op":"interact","kind":"opened","message":1,"payload":{}}"#, .invalidValue, "payload",
            "give message or payload, not both"),
        Example(
            #"{"op":"interact","kind":"opened","message":0}"#, .invalidValue, "message",
            "message as a number is a seq: a whole number above 0"),
        Example(
            #"{"op":"interact","kind":"opened","message":1.0}"#, .invalidValue, "message",
            "message as a number is a seq: a whole number above 0"),
        Example(
            #"{"op":"interact","kind":"opened","message":9223372036854775808}"#, .invalidValue, "message",
            "message as a number is a seq: a whole number above 0"),
        Example(
            #"{"op":"interact","kind":"opened","message":""}"#, .invalidValue, "message",
            "message is empty; leave it out instead"),
        Example(
            #"{"op":"interact","kind":"opened","message":[]}"#, .invalidType, "message",
            "message is a seq (a number) or a message id (a string); this is an array"),
        Example(
            #"{"op":"interact","kind":"opened","payload":1}"#, .invalidType, "payload",
            "payload is an object; this is a number"),
        Example(
            #"{"op":"interact","kind":"opened","message":1,"state":"foreground"}"#, .unknownKey, "state",
            "this op has no such key; it has "
                + "action, app, at, device, external_id, id, kind, message, op, payload, platform, sdk, text, wait"),
    ]

    @Test("report an error with its field and an advice", arguments: examples)
    func refusal(example: Example) {
        #expect(throws: ProtocolError(example.code, field: example.field, message: example.message)) {
            try read(example.line)
        }
    }

    @Test("return the request's id with every error")
    func echoesID() {
        let refused: [String] = Self.examples.map(\.line).filter { $0.hasPrefix("{\"op\"") && !$0.contains("\"id\"") }
        #expect(refused.count > 30)
        for line in refused {
            do {
                _ = try read(#"{"id":"a1","# + line.dropFirst())
                Issue.record("accepted: \(line)")
            } catch {
                #expect(error.id == "a1")
            }
        }
    }

    @Test("return no id that is not valid")
    func echoesNoID() {
        for id in ["7", "\"\"", "null", "{}"] {
            do {
                _ = try read(#"{"op":"deliver","id":\#(id)}"#)
                Issue.record("accepted: \(id)")
            } catch {
                #expect(error.id == nil)
            }
        }
    }

    @Test(
        "report the place where a line is not valid JSON",
        arguments: [
            ("{", ProtocolError.Code.invalidJSON), (#"{"a":1,"a":2}"#, .duplicateKey),
            (String(repeating: "[", count: 40), .tooDeep),
        ])
    func notJSON(line: String, code: ProtocolError.Code) {
        do {
            _ = try read(line)
            Issue.record("accepted")
        } catch {
            #expect(error.code == code)
            #expect(error.message.contains("at byte "))
            #expect(error.field == nil)
        }
    }

    @Test("report invalid UTF-8 as an error of its own")
    func notUTF8() {
        do {
            _ = try Request(line: [UInt8(ascii: "\""), 0xC0, 0xAF, UInt8(ascii: "\"")])
            Issue.record("accepted")
        } catch {
            #expect(error.code == .invalidUTF8)
        }
    }

    @Test("map the router's refusals to codes of the protocol")
    func refusals() {
        #expect(
            ProtocolError(.invalidPayload(field: "payload.aps", message: "no"), id: "a")
                == ProtocolError(.invalidPayload, field: "payload.aps", message: "no", id: "a"))
        #expect(
            ProtocolError(.overloaded(message: "full", retryAfter: .seconds(1)), id: nil)
                == ProtocolError(.overloaded, message: "full", retryAfter: .seconds(1)))
        #expect(ProtocolError(.draining, id: "a").code == .unavailable)
    }
}
