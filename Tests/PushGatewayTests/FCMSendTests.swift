import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel
@testable import PushRouter

@Suite("A send of FCM v1")
struct FCMSendTests {
    static let id = "0:1795537418266089%5705a637d64b4dd2"

    static func send(_ body: String) throws(GoogleError) -> FCMSend {
        try FCMSend(project: "demo", body: Array(body.utf8))
    }

    private func fault(_ body: String) -> GoogleError? {
        do {
            _ = try Self.send(body)
            return nil
        } catch {
            return error
        }
    }

    private func answer(to line: String, _ body: String = #"{"message":{"token":"tok"}}"#) throws -> GatewayResponse {
        try Self.send(body).answer(to: DaemonReply(line: Array(line.utf8)), messageID: Self.id)
    }

    @Test("becomes one line, with the id of the answer and the body unchanged")
    func line() throws {
        let body = "{\n \"message\": {\"token\": \"tok\",\r\n \"data\": {\"k\": \"a\\nb\"}}\n}"
        let send = try Self.send(body)
        let line = send.line(to: Target(platform: .ios, app: "com.example.shop", device: "iphone"), messageID: Self.id)
        let text = String(decoding: line.bytes, as: UTF8.self)
        #expect(
            text == #"{"op":"deliver","platform":"ios","app":"com.example.shop","#
                + #""device":"iphone","message_id":"\#(Self.id)","payload":{  "message": {"token": "tok",   "data": {"k": "a\nb"}} }}"#
                + "\n")
        let request = try read(line)
        #expect(request.target == Target(platform: .ios, app: "com.example.shop", device: "iphone"))
    }

    @Test("is answered with the name once the daemon has it on disk")
    func accepted() throws {
        let answer = try answer(to: #"{"ok":true,"seq":41}"#)
        #expect(answer.status == 200)
        #expect(answer.header("retry-after") == nil)
        #expect(answer.text == #"{"name":"projects/demo/messages/\#(Self.id)"}"#)
    }

    @Test(
        "that is a dry run has a line without a delivery, and a name of its own",
        arguments: [
            "validate_only", "validateOnly",
        ])
    func dryRun(_ spelling: String) throws {
        let send = try Self.send(#"{"message":{"token":"tok"},"\#(spelling)":true}"#)
        #expect(send.body.isDryRun)
        let answer = send.answer(to: .accepted(SequenceNumber(1)), messageID: Self.id)
        #expect(answer.text == #"{"name":"projects/demo/messages/fake_message_id"}"#)
        #expect(String(decoding: send.line(to: Target(), messageID: Self.id).bytes, as: UTF8.self).has(spelling))
    }

    @Test("has its registration, topic or condition")
    func recipients() throws {
        for (name, value) in [("token", "tok"), ("fid", "fid1")] {
            guard case .registration(value) = try Self.send(#"{"message":{"\#(name)":"\#(value)"}}"#).recipient else {
                Issue.record("\(name) is no registration")
                continue
            }
        }
        guard case .topic("news") = try Self.send(#"{"message":{"topic":"news"}}"#).recipient else {
            Issue.record("no topic")
            return
        }
        let condition = try Self.send(#"{"message":{"condition":"'a' in topics && !('b' in topics)"}}"#)
        guard case .condition(let condition) = condition.recipient else {
            Issue.record("no condition")
            return
        }
        #expect(condition.topics == ["a", "b"])
    }

    @Test("to an unknown registration is for the platform of its one part")
    func presumedTarget() throws {
        func target(_ more: String) throws -> Target {
            try Self.send(#"{"message":{"token":"tok"\#(more)}}"#).presumedTarget(ofRegistration: "tok")
        }
        let apns = #""apns":{"payload":{"aps":{}}}"#
        #expect(try target("") == Target(platform: .android, app: "demo", device: "tok"))
        #expect(try target(",\(apns)") == Target(platform: .ios, app: "demo", device: "tok"))
        #expect(try target(#","webpush":{}"#).platform == .web)
        #expect(try target(#",\#(apns),"webpush":{}"#).platform == .android)
        #expect(try target(#",\#(apns),"android":{}"#).platform == .android)
        #expect(try target(#","android":{"restricted_package_name":"com.example.shop"}"#).app == "com.example.shop")
        #expect(try target(#","android":{"restrictedPackageName":"com.example.shop"}"#).app == "com.example.shop")
    }

    // davideast/pyric, observations/messaging-admin; Google's "REST error codes for the HTTP v1 API"; eladnava/fcm-v1-http2#5;
    // vincedevendra/firebase_cloud_messenger#15; beste/firebase-php#341; decolua/9router#1876.
    @Test(
        "that Google's JSON parser refuses has the parser's words and places, and no error of FCM",
        arguments: [
            (
                #""token":"t","data":{"a":"b","count":1017}"#, "message.data[1].value",
                "Invalid value at 'message.data[1].value' (TYPE_STRING), 1017", "message.data.count: "
            ),
            (
                #""token":"t","android":{"data":{"ok":true}}"#, "message.android.data[0].value",
                "Invalid value at 'message.android.data[0].value' (TYPE_STRING), true", "message.android.data.ok: "
            ),
            (
                #""token":"t","data":{"meta":{"metadata":"x"}}"#, "message.data[0].value",
                #"Invalid JSON payload received. Unknown name "metadata" at 'message.data[0].value': Cannot find field."#,
                "message.data.meta: "
            ),
            (
                #""token":"t","foo":1"#, "message",
                #"Invalid JSON payload received. Unknown name "foo" at 'message': Cannot find field."#, "message.foo: "
            ),
            (
                #""token":"t","notification":[]"#, "message",
                #"Invalid JSON payload received. Unknown name "notification" at 'message': "#
                    + "Proto field is not repeating, cannot start list.", "message.notification: "
            ),
            (#""token":7"#, "message.token", "Invalid value at 'message.token' (TYPE_STRING), 7", "message.token: "),
            // No answer of Google's was seen.
            (#""token":"t","apns":true"#, "message.apns", "Request contains an invalid argument.", "message.apns: "),
        ])
    func malformed(_ members: String, _ field: String, _ text: String, _ cause: String) throws {
        let error = try #require(fault(#"{"message":{\#(members)}}"#))
        #expect(error.status == .invalidArgument)
        #expect(error.message == text)
        let told = try #require(error.response.refusal?.cause)
        #expect(told.hasPrefix(cause), "our own explanation goes to the journal")
        // Google's path does not name the key of a map.
        let debug: [GoogleError.Detail] = field.contains("[") ? [.debug(told)] : []
        #expect(error.details == [.badRequest([V1Answer.Violation(field: field, description: text)])] + debug)
    }

    @Test("with several unknown names has a line and a field for each, and none for the body itself")
    func unknownNames() throws {
        let error = try #require(fault(#"{"message":{"token":"t","foo":1,"android":{"bar":2}},"dry_run":true}"#))
        let texts = ["\"foo\" at 'message'", "\"bar\" at 'message.android'", "\"dry_run\""].map {
            "Invalid JSON payload received. Unknown name \($0): Cannot find field."
        }
        #expect(error.message == texts.joined(separator: "\n"))
        #expect(
            error.details == [
                .badRequest(
                    zip(["message", "message.android", nil], texts).map {
                        V1Answer.Violation(field: $0, description: $1)
                    })
            ])
        #expect(!error.response.text.has(#""field":null"#))
        let root = try #require(fault("[]"))
        #expect(root.message == #"Invalid JSON payload received. Unknown name "": Root element must be a message."#)
        #expect(fault(#"{"token":"t"}"#)?.message.has(#"Unknown name "token": Cannot"#) == true)
    }

    private static func text(_ length: Int) -> String { String(repeating: "x", count: length) }

    // davideast/pyric; ids of the texts: V1Answer.
    @Test(
        "that FCM refuses has Google's words and field, and then FCM's own error",
        arguments: [
            ("{}", "message", "Recipient of the message is not set."),
            (#"{"message":{"data":{"k":"v"}}}"#, "message", "Recipient of the message is not set."),
            (#"{"message":{"topic":"a b"}}"#, "message", "Topic name contains invalid characters."),
            (#"{"message":{"topic":"/topics/news"}}"#, "message", "Topic name contains invalid characters."),
            (#"{"message":{"token":"t","data":{"from":"x"}}}"#, "message.data", "Invalid data payload key: from"),
            (
                #"{"message":{"token":"t","android":{"data":{"google.x":"x"}}}}"#, "message.android.data",
                "Invalid data payload key: google.x"
            ),
            (
                #"{"message":{"token":"t","apns":{"payload":{"x":1}}}}"#, "message.apns.payload.aps",
                "Payload of Apple Push Notification Service must contain an [aps] key."
            ),
            (
                #"{"message":{"token":"t","webpush":{"headers":{"TTL":"abc"}}}}"#, "message.webpush.headers.TTL",
                "TTL must be a non-negative integer."
            ),
            (
                #"{"message":{"token":"t","webpush":{"headers":{"ttl":"-1"}}}}"#, "message.webpush.headers.ttl",
                "TTL must be a non-negative integer."
            ),
            // No answer of Google's was seen.
            (#"{"message":{"token":"t","topic":"u"}}"#, "message", "Request contains an invalid argument."),
            (
                #"{"message":{"token":"t","android":{"ttl":"-1s"}}}"#, "message.android.ttl",
                "Request contains an invalid argument."
            ),
        ])
    func refused(_ body: String, _ field: String, _ text: String) throws {
        let error = try #require(fault(body))
        #expect(error.message == text)
        #expect(
            error.details == [
                .badRequest([V1Answer.Violation(field: field, description: text)]), .fcm(.invalidArgument),
            ])
        #expect(error.response.refusal?.cause != nil)
    }

    @Test(
        "without a registration token has FCM's error before the field",
        arguments: [("token", ""), ("token", "a b"), ("token", "tökén"), ("token", "a\\nb"), ("fid", "a b")])
    func badToken(_ name: String, _ token: String) throws {
        let error = try #require(fault(#"{"message":{"\#(name)":"\#(token)"}}"#))
        let text = "The registration token is not a valid FCM registration token"
        #expect(error.message == text)
        #expect(
            error.details == [
                .fcm(.invalidArgument), .badRequest([V1Answer.Violation(field: "message.\(name)", description: text)]),
            ])
    }

    @Test(
        "with more than 4,096 bytes for a device is too large, whatever block has them",
        arguments: [
            (#""notification":{"title":"\#(text(5000))"}"#, true),
            (#""notification":{"body":"\#(text(2500))"},"data":{"k":"\#(text(2500))"}"#, true),
            (#""notification":{"body":"\#(text(2500))"},"android":{"data":{"k":"\#(text(2500))"}}"#, true),
            (#""android":{"notification":{"title":"\#(text(2500))"}},"data":{"k":"\#(text(2500))"}"#, true),
            (#""webpush":{"notification":{"body":"\#(text(2500))"}},"data":{"k":"\#(text(2500))"}"#, true),
            (#""data":{"k":"\#(text(4095))"}"#, false), (#""data":{"k":"\#(text(4096))"}"#, true),
            // The platform's own data and fields replace the common ones.
            (#""data":{"k":"\#(text(2500))"},"android":{"data":{"k":"\#(text(2500))"}}"#, false),
            (#""notification":{"body":"\#(text(2500))"},"android":{"notification":{"body":"\#(text(2500))"}}"#, false),
            // The part for APNs has a limit of its own.
            (#""data":{"k":"\#(text(2500))"},"apns":{"payload":{"aps":{"alert":"\#(text(2500))"}}}"#, false),
        ])
    func size(_ members: String, _ isTooLarge: Bool) throws {
        for target in [#""token":"t""#, #""topic":"t""#] {
            let error = fault(#"{"message":{\#(target),\#(members)}}"#)
            guard isTooLarge else {
                #expect(error == nil)
                continue
            }
            #expect(error?.message == "Message is too large. The maximum is 4K (4096 bytes).")
            #expect(error?.details == [.badRequest([]), .fcm(.invalidArgument)])
            #expect(
                error?.response.text.has(#"[{"@type":"type.googleapis.com/google.rpc.BadRequest"},{"@type""#) == true)
        }
    }

    @Test("with a malformed condition is refused without details, and the journal has the place of the fault")
    func badCondition() throws {
        for condition in ["news in topics", ""] {
            let error = try #require(fault(#"{"message":{"condition":"\#(condition)"}}"#))
            #expect(error.message == "Request contains an invalid argument.")
            #expect(error.details == [])
            #expect(error.response.refusal?.cause?.hasPrefix("message.condition: ") == true)
        }
    }

    @Test(
        "that is no JSON is refused without a field",
        arguments: [
            "", "no JSON", #"{"message":{"token":"t"}"#, #"{"message":{"token":"t","token":"t"}}"#, "{\"a\":\"\u{1}\"}",
        ])
    func noJSON(_ body: String) throws {
        let error = try #require(fault(body))
        #expect(error.status == .invalidArgument)
        #expect(error.details.isEmpty)
        #expect(error.message.hasPrefix("Invalid JSON payload received. "))
    }

    @Test("as deep as a line allows makes a line that the daemon reads, and a deeper one is refused")
    func depth() throws {
        func body(_ depth: Int) -> String {
            let inner = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return #"{"message":{"token":"t","webpush":{"notification":{"a":\#(inner)}}}}"#
        }
        let line = try Self.send(body(27)).line(to: Target(), messageID: Self.id)
        #expect(throws: Never.self) { try read(line) }
        #expect(fault(body(28))?.message.hasPrefix("Invalid JSON payload received.") == true)
    }

    @Test("whose payload the daemon refuses is 400 with the daemon's path as the field")
    func invalidPayload() throws {
        let refusal = ProtocolError(.invalidPayload, field: "payload.message.apns.payload.aps", message: "an object")
        let answer = try answer(to: String(decoding: Reply.refused(refusal).dropLast(), as: UTF8.self))
        #expect(answer.status == 400)
        #expect(
            answer.text == #"{"error":{"code":400,"message":"Request contains an invalid argument.","#
                + #""status":"INVALID_ARGUMENT","details":["#
                + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":["#
                + #"{"field":"message.apns.payload.aps","description":"Request contains an invalid argument."}]},"#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#)
        #expect(answer.refusal?.cause == "message.apns.payload.aps: an object")
    }

    @Test("whose device the daemon refuses has the registration in the error", arguments: ["token", "fid"])
    func refusedDevice(_ name: String) throws {
        let refusal = ProtocolError(.invalidValue, field: "device", message: "device is longer than 255 bytes")
        let answer = try Self.send(#"{"message":{"\#(name)":"t"}}"#).answer(to: .refused(refusal), messageID: Self.id)
        #expect(answer.status == 400)
        #expect(answer.text.has(#""field":"message.\#(name)""#))
    }

    @Test("that a rule for producers does not allow is 403, and the cause is told to the operator alone")
    func notAllowed() throws {
        let refusal = ProtocolError(.notAllowed, field: "app", message: "the rule x", rule: "10-shop")
        let answer = try answer(to: String(decoding: Reply.refused(refusal).dropLast(), as: UTF8.self))
        #expect(answer.status == 403)
        #expect(answer.text.has(#""status":"PERMISSION_DENIED""#) && !answer.text.has("the rule x"))
    }

    @Test(
        "that may be accepted later is 503, with whole seconds",
        arguments: [
            (ProtocolError.Code.overloaded, Duration.milliseconds(1500), "2"), (.overloaded, .zero, "1"),
            (.unavailable, nil, "1"), (.unavailable, .milliseconds(30_000), "30"),
        ] as [(ProtocolError.Code, Duration?, String)])
    func later(_ code: ProtocolError.Code, _ after: Duration?, _ seconds: String) throws {
        let refusal = ProtocolError(code, message: "later", retryAfter: after, leader: "node2")
        let answer = try answer(to: String(decoding: Reply.refused(refusal).dropLast(), as: UTF8.self))
        #expect(answer.status == 503)
        #expect(answer.header("retry-after") == seconds)
        #expect(
            answer.text == #"{"error":{"code":503,"message":"The service is currently unavailable.","#
                + #""status":"UNAVAILABLE","details":["#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNAVAILABLE"}]}}"#)
    }

    @Test(
        "is 503, and never 200, while it is unknown whether the daemon has it",
        arguments: [
            "", "no JSON", #"{"ok":true}"#, #"{"ok":false}"#, #"{"seq":1}"#, #"{"ok":false,"error":{"code":"new"}}"#,
        ])
    func noReply(_ line: String) throws {
        let answer = try answer(to: line)
        #expect(answer.status == 503)
        #expect(answer.header("retry-after") == "1")
    }

    @Test(
        "is 500 if the gateway's line was wrong",
        arguments: [
            ProtocolError.Code.unknownKey, .missingKey, .invalidType, .unknownOperation, .idConflict, .invalidValue,
        ])
    func gatewaysFault(_ code: ProtocolError.Code) throws {
        let refusal = ProtocolError(code, field: "message_id", message: "wrong")
        let answer = try Self.send(#"{"message":{"token":"t"}}"#).answer(to: .refused(refusal), messageID: Self.id)
        #expect(answer.status == 500)
        #expect(answer.text.has(#""errorCode":"INTERNAL""#))
    }

    @Test("the ids of sends have the form of FCM's message names")
    func messageID() {
        #expect(
            FCMSend.messageID(microseconds: 1_795_537_418_266_089, random: 0x0005_a637_d64b_4dd2)
                == "0:1795537418266089%0005a637d64b4dd2")
    }

    @Test("has an error for each code of FCM, with the HTTP status that clients map")
    func statuses() {
        let codes: [FCMErrorCode: Int] = [
            .unspecified: 400, .invalidArgument: 400, .unregistered: 404, .unregisteredFID: 404, .senderIDMismatch: 403,
            .quotaExceeded: 429, .unavailable: 503, .internalError: 500, .thirdPartyAuthError: 401,
            .apnsAuthError: 401,
        ]
        for code in FCMErrorCode.allCases { #expect(code.status.code == codes[code]) }
        let limit = GoogleError(fcm: .quotaExceeded, retryAfter: 1).response
        #expect(limit.status == 429)
        #expect(limit.header("retry-after") == "1")
        #expect(limit.text.has(#""status":"RESOURCE_EXHAUSTED""#))
    }
}
