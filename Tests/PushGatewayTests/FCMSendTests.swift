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

    @Test(
        "that Google's JSON parser refuses has the field in the error, without an error of FCM",
        arguments: [
            (#"{"message":{"token":"t","notification":{"titel":"x"}}}"#, "message.notification.titel"),
            (#"{"message":{"token":"t","data":{"badge":1}}}"#, "message.data.badge"),
            (#"{"message":{"token":"t"},"dry_run":true}"#, "dry_run"),
            (#"{"message":{"token":7}}"#, "message.token"),
            (#"{}"#, "message"), (#"{"message":"x"}"#, "message"), ("[]", "message"),
        ])
    func malformed(_ body: String, _ field: String) throws {
        let error = try #require(fault(body))
        guard case .badRequest(let violations)? = error.details.first else {
            Issue.record("no field: \(error)")
            return
        }
        #expect(error.status == .invalidArgument)
        #expect(error.details.count == 1)
        #expect(violations.map(\.field) == [field])
        #expect(violations.first?.description == error.message)
    }

    @Test(
        "that FCM refuses has the field, beside FCM's own error",
        arguments: [
            (#"{"message":{"data":{"k":"v"}}}"#, "message"),
            (#"{"message":{"token":"t","topic":"u"}}"#, "message"),
            (#"{"message":{"token":""}}"#, "message.token"),
            (#"{"message":{"topic":"/topics/news"}}"#, "message.topic"),
            (#"{"message":{"token":"t","data":{"from":"x"}}}"#, "message.data.from"),
            (#"{"message":{"token":"t","data":{"google.x":"x"}}}"#, "message.data.google.x"),
            (#"{"message":{"token":"t","android":{"ttl":"-1s"}}}"#, "message.android.ttl"),
            (#"{"message":{"token":"t","apns":{"payload":{"x":1}}}}"#, "message.apns.payload.aps"),
            (#"{"message":{"condition":"'a' in topic"}}"#, "message.condition"),
            (#"{"message":{"token":"t","data":{"k":"\#(String(repeating: "x", count: 4096))"}}}"#, "message.data"),
            (#"{"message":{"topic":"t","data":{"k":"\#(String(repeating: "x", count: 2048))"}}}"#, "message.data"),
        ])
    func refused(_ body: String, _ field: String) throws {
        let error = try #require(fault(body))
        #expect(
            error.details == [
                .fcm(.invalidArgument),
                .badRequest([GoogleError.FieldViolation(field: field, description: error.message)]),
            ])
    }

    @Test("with a malformed condition is refused in Google's own words")
    func badCondition() throws {
        let error = try #require(fault(#"{"message":{"condition":"news in topics"}}"#))
        #expect(error.message == "Invalid condition expression provided.")
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
            answer.text == #"{"error":{"code":400,"message":"an object","status":"INVALID_ARGUMENT","details":["#
                + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"},"#
                + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":["#
                + #"{"field":"message.apns.payload.aps","description":"an object"}]}]}}"#)
    }

    @Test("whose device the daemon refuses has the registration in the error", arguments: ["token", "fid"])
    func refusedDevice(_ name: String) throws {
        let refusal = ProtocolError(.invalidValue, field: "device", message: "device is longer than 255 bytes")
        let answer = try Self.send(#"{"message":{"\#(name)":"t"}}"#).answer(to: .refused(refusal), messageID: Self.id)
        #expect(answer.status == 400)
        #expect(answer.text.has(#""field":"message.\#(name)""#))
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
            answer.text == #"{"error":{"code":503,"message":"later","status":"UNAVAILABLE","details":["#
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
        let limit = GoogleError(fcm: .quotaExceeded, "too many", retryAfter: 1).response
        #expect(limit.status == 429)
        #expect(limit.header("retry-after") == "1")
        #expect(limit.text.has(#""status":"RESOURCE_EXHAUSTED""#))
    }
}
