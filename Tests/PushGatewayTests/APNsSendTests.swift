import Testing

@testable import PushGateway
@testable import PushModel
@testable import PushRouter

@Suite("A send of APNs")
struct APNsSendTests {
    private static let token = String(repeating: "ab12", count: 16)
    private static let id = "35597c7e-9cde-479d-b639-15bd6cbf7391"

    private func request(_ headers: [String: String] = [:], _ body: String = #"{"aps":{"alert":"hi"}}"#)
        -> GatewayRequest
    {
        let all = ["apns-topic": "com.example.shop", "authorization": "bearer x"].merging(headers) { $1 }
        let list = all.sorted { $0.key < $1.key }.filter { !$0.value.isEmpty }
        return .post("/3/device/\(Self.token)", body, headers: list.map { (name: $0.key, value: $0.value) })
    }

    private func send(
        _ request: GatewayRequest, token: String = token, from provider: APNsSend.Provider = .token,
        _ rules: APNsRules = APNsRules()
    ) throws(APNsRejection) -> APNsSend {
        try APNsSend(token: token, request, from: provider, rules)
    }

    private func reason(
        _ request: GatewayRequest, token: String = token, from provider: APNsSend.Provider = .token,
        _ rules: APNsRules = APNsRules()
    ) -> APNsReason? {
        do {
            _ = try send(request, token: token, from: provider, rules)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("becomes one line, with the headers that affect its delivery")
    func line() throws {
        let headers = [
            "apns-id": Self.id, "apns-push-type": "alert", "apns-priority": "5", "apns-expiration": "1795541647",
            "apns-collapse-id": "c1", "user-agent": "x",
        ]
        let send = try send(request(headers, "{\"aps\":\n{\"alert\":\"hi\"}}"))
        #expect(send.priority == 5)
        #expect(send.expiration == 1_795_541_647)
        #expect(send.collapseID == "c1")
        #expect(send.pushType == "alert")
        let line = send.line(to: send.presumedTarget)
        #expect(
            String(decoding: line.bytes, as: UTF8.self) == #"{"op":"deliver","platform":"ios","#
                + #""app":"com.example.shop","device":"\#(Self.token)","transport":"apns","#
                + #""headers":{"apns-collapse-id":"c1","#
                + #""apns-expiration":"1795541647","apns-id":"\#(Self.id)","apns-priority":"5","#
                + #""apns-push-type":"alert","apns-topic":"com.example.shop"},"#
                + #""payload":{"aps": {"alert":"hi"}}}"# + "\n")
        let request = try read(line)
        #expect(request.target == Target(platform: .ios, app: "com.example.shop", device: Self.token))
    }

    @Test(
        "without aps is put into userInfo, so that no other form is detected in it",
        arguments: [
            #"{"call":"1"}"#, #"{"message":{"token":"t","data":{}}}"#, #"{"userInfo":{"aps":{}}}"#, "{}",
        ])
    func withoutAPS(_ body: String) throws {
        let send = try send(request(["apns-topic": "com.example.shop.voip", "apns-push-type": "voip"], body))
        let line = send.line(to: send.presumedTarget)
        #expect(String(decoding: line.bytes, as: UTF8.self).has(#""payload":{"userInfo":\#(body)}"#))
        #expect(throws: Never.self) { try read(line) }
    }

    @Test("as deep as a line allows makes a line that the daemon reads, and a deeper one is refused")
    func depth() throws {
        func body(_ depth: Int) -> String {
            #"{"a":\#(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))}"#
        }
        let send = try send(request([:], body(29)))
        #expect(throws: Never.self) { try read(send.line(to: send.presumedTarget)) }
        #expect(reason(request([:], body(30))) == .payloadEmpty)
    }

    @Test(
        "is answered with its id unchanged once the daemon has it on disk",
        arguments: [
            "35597c7e-9cde-479d-b639-15bd6cbf7391", "35597C7E-9CDE-479D-B639-15BD6CBF7391",
            "35597c7e-9CDE-479d-b639-15bd6cbf7391",
        ])
    func echo(_ id: String) throws {
        let send = try send(request(["apns-id": id]))
        let answer = send.answer(to: .accepted(SequenceNumber(1)), uniqueID: UUID128(high: 1, low: 2))
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(
            answer.headers == [
                GatewayRequest.Header("apns-id", id),
                GatewayRequest.Header("apns-unique-id", "00000000-0000-0001-0000-000000000002"),
            ])
    }

    @Test(
        "is refused for a header as by APNs",
        arguments: [
            (["apns-collapse-id": String(repeating: "x", count: 65)], APNsReason.badCollapseID),
            (["apns-expiration": "soon"], .badExpirationDate), (["apns-expiration": "1.5"], .badExpirationDate),
            (["apns-id": "x"], .badMessageID), (["apns-priority": "11"], .badPriority),
            (["apns-push-type": "background"], .badPriority),
            (["apns-push-type": "background", "apns-priority": "10"], .badPriority),
            (["apns-push-type": "silent"], .invalidPushType), (["apns-topic": ""], .missingTopic),
            (["apns-topic": ".voip"], .badTopic), (["apns-topic": String(repeating: "x", count: 256)], .badTopic),
            (["authorization": ""], .missingProviderToken),
        ] as [([String: String], APNsReason)])
    func headers(_ headers: [String: String], _ expected: APNsReason) {
        #expect(reason(request(headers)) == expected)
    }

    @Test(
        "APNs takes each push type",
        arguments: [
            "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity",
            "pushtotalk",
            "widgets", "controls",
        ])
    func pushTypes(_ type: String) {
        let suffix = APNsTopic.Suffix.allCases.first { $0.pushType == type }?.rawValue ?? ""
        let headers = ["apns-push-type": type, "apns-priority": "5", "apns-topic": "com.example.shop\(suffix)"]
        #expect(reason(request(headers)) == nil)
    }

    @Test(
        "with a repeated header of Apple's is refused, and the answer has its id",
        arguments: [
            ("APNs-Topic", true), ("Authorization", true), ("Cookie", false),
        ])
    func duplicates(_ name: String, _ isRefused: Bool) {
        let request = GatewayRequest.post(
            "/3/device/\(Self.token)", #"{"aps":{}}"#,
            headers: [
                ("apns-topic", "a"), ("cookie", "a"), ("authorization", "bearer x"), ("apns-id", Self.id), (name, "a"),
            ])
        guard isRefused else {
            #expect(reason(request) == nil)
            return
        }
        do {
            _ = try send(request)
            Issue.record("it is taken")
        } catch {
            #expect(error.response(to: request).text == #"{"reason":"DuplicateHeaders"}"#)
            #expect(error.response(to: request).header("apns-id") == Self.id)
        }
    }

    @Test(
        "is refused for its token in the path",
        arguments: [
            ("", APNsReason.missingDeviceToken), ("abc", .badDeviceToken), ("zz", .badDeviceToken),
            (String(repeating: "a", count: 202), .badDeviceToken),
        ])
    func tokens(_ token: String, _ expected: APNsReason) {
        #expect(reason(request(), token: token) == expected)
        var rules = APNsRules()
        rules.takesOnlyHexadecimalTokens = false
        #expect(reason(request(), token: "ios-anna", rules) == nil)
    }

    @Test("APNs refuses a payload that is too long, empty or malformed")
    func payloads() {
        #expect(reason(request([:], "")) == .payloadEmpty)
        for body in ["no JSON", "[]", "7", #"{"a":1,"a":2}"#] { #expect(reason(request([:], body)) == .payloadEmpty) }
        var rules = APNsRules()
        rules.unreadablePayload = .badTopic
        #expect(reason(request([:], "[]"), rules) == .badTopic)
        func body(_ size: Int) -> String { #"{"aps":{"alert":"\#(String(repeating: "x", count: size - 20))"}}"# }
        #expect(reason(request([:], body(4096))) == nil)
        #expect(reason(request([:], body(4097))) == .payloadTooLarge)
        let voip = ["apns-push-type": "voip", "apns-topic": "com.example.shop.voip"]
        #expect(reason(request(voip, body(5120))) == nil)
        #expect(reason(request(voip, body(5121))) == .payloadTooLarge)
    }

    @Test("with a certificate needs no token, and may use the certificate's topics")
    func certificates() throws {
        let certificate = APNsSend.Provider.certificate(topics: ["com.example.shop", "com.example.shop.voip"])
        let send = try send(request(["authorization": "", "apns-topic": ""]), from: certificate)
        #expect(send.topic.text == "com.example.shop")
        #expect(send.headers.contains(GatewayRequest.Header("apns-topic", "com.example.shop")))
        #expect(send.headers.map(\.name) == send.headers.map(\.name).sorted())
        #expect(reason(request(["apns-topic": "com.example.shop.voip"]), from: certificate) == nil)
        #expect(reason(request(["apns-topic": "com.example.other"]), from: certificate) == .topicDisallowed)
        #expect(reason(request(["apns-topic": ""]), from: .certificate(topics: [])) == .missingTopic)
    }

    @Test("with Anyone= needs neither token nor certificate")
    func anybody() {
        #expect(reason(request(["authorization": ""]), from: .any) == nil)
    }

    @Test("may be restricted to topics")
    func topicRules() {
        var rules = APNsRules()
        rules.topics = ["com.example.shop"]
        #expect(reason(request(), rules) == nil)
        #expect(reason(request(["apns-topic": "com.example.other"]), rules) == .topicDisallowed)
    }

    @Test(
        "with a push type needs the topic of this type",
        arguments: [
            ("voip", "", nil), ("liveactivity", "", nil), ("alert", ".voip", APNsReason.invalidPushType),
            ("voip", ".push-type.liveactivity", .invalidPushType),
            ("alert", "", nil), ("voip", ".voip", nil), ("liveactivity", ".push-type.liveactivity", nil),
            ("mdm", "", nil), (nil, ".voip", nil),
        ] as [(String?, String, APNsReason?)])
    func topicOfType(_ type: String?, _ suffix: String, _ expected: APNsReason?) throws {
        let request = request(["apns-push-type": type ?? "", "apns-topic": "com.example.shop\(suffix)"])
        #expect(reason(request) == expected)
        var rules = APNsRules()
        rules.suffixOfAnotherType = nil
        #expect(reason(request, rules) == nil)
        rules.topicWithoutSuffix = .deviceTokenNotForTopic
        let isDoubtful = ["voip", "liveactivity"].contains(type) && suffix.isEmpty
        #expect((reason(request, rules) == .deviceTokenNotForTopic) == isDoubtful)
        if expected == nil { #expect((try send(request).doubt != nil) == isDoubtful) }
    }

    @Test(
        "has the app in its topic, and the push type in the topic's suffix",
        arguments: [
            ("com.example.shop", "com.example.shop", nil, "alert"),
            ("com.example.shop.voip", "com.example.shop", .voip, "voip"),
            ("com.example.shop.voip-ptt", "com.example.shop", .pushToTalk, "pushtotalk"),
            ("com.example.shop.complication", "com.example.shop", .complication, "complication"),
            ("com.example.shop.pushkit.fileprovider", "com.example.shop", .fileProvider, "fileprovider"),
            ("com.example.shop.location-query", "com.example.shop", .locationQuery, "location"),
            ("com.example.shop.push-type.liveactivity", "com.example.shop", .liveActivity, "liveactivity"),
            ("com.example.shop.push-type.widgets", "com.example.shop", .widgets, "widgets"),
            ("com.example.shop.push-type.controls", "com.example.shop", .controls, "controls"),
        ] as [(String, String, APNsTopic.Suffix?, String)])
    func topics(_ text: String, _ app: String, _ suffix: APNsTopic.Suffix?, _ type: String) throws {
        let topic = try #require(APNsTopic(text))
        #expect(topic.app == app)
        #expect(topic.suffix == suffix)
        #expect(topic.suits(pushType: type))
        #expect(topic.suits(pushType: nil) == (suffix == nil))
        #expect(!topic.suits(pushType: suffix == .voip ? "pushtotalk" : "voip"))
    }

    @Test(
        "that the daemon refuses is answered in APNs' words",
        arguments: [
            (
                ProtocolError(.overloaded, message: "x", retryAfter: .milliseconds(2500)),
                APNsReason.serviceUnavailable, "3"
            ),
            (ProtocolError(.unavailable, message: "x", leader: "node2"), .serviceUnavailable, "1"),
            (ProtocolError(.tooLong, message: "x"), .payloadTooLarge, nil),
            (ProtocolError(.invalidPayload, field: "payload.aps", message: "x"), .payloadEmpty, nil),
            (ProtocolError(.invalidValue, field: "device", message: "x"), .badDeviceToken, nil),
            (ProtocolError(.invalidValue, field: "app", message: "x"), .badTopic, nil),
            (ProtocolError(.notAllowed, field: "app", message: "x", rule: "10-shop"), .forbidden, nil),
            (ProtocolError(.unknownKey, field: "headers", message: "x"), .internalServerError, nil),
        ] as [(ProtocolError, APNsReason, String?)])
    func refused(_ refusal: ProtocolError, _ expected: APNsReason, _ seconds: String?) throws {
        let send = try send(request(["apns-id": Self.id]))
        let line = Array(Reply.refused(refusal).dropLast())
        let answer = send.answer(to: DaemonReply(line: line), uniqueID: UUID128(high: 1, low: 2))
        #expect(answer.status == expected.status)
        #expect(answer.text == #"{"reason":"\#(expected.rawValue)"}"#)
        #expect(answer.header("apns-id") == Self.id)
        #expect(answer.header("apns-unique-id") == nil)
        #expect(answer.header("retry-after") == seconds)
    }

    @Test("gets 503, and never 200, while it is unknown whether the daemon has it")
    func noReply() throws {
        let answer = try send(request(["apns-id": Self.id])).answer(to: .none, uniqueID: nil)
        #expect(answer.status == 503)
        #expect(answer.header("apns-id") == Self.id)
    }

    @Test(
        "that is 410 has the timestamp of the unregistration, and no other answer has it",
        arguments: APNsReason.allCases)
    func timestamps(_ reason: APNsReason) {
        let time = WallTime(milliseconds: 1_764_000_000_000)
        let answer = APNsRejection(reason, timestamp: time).response(id: nil)
        #expect(answer.status == reason.status)
        #expect(answer.text.has("timestamp") == (answer.status == 410))
        let unknown = APNsRejection(reason).response(id: nil).text
        #expect(unknown.has("timestamp") == (answer.status == 410))
        #expect(unknown.has(#""timestamp":0}"#) == (answer.status == 410))
        #expect(answer.headers.isEmpty)
    }
}
