import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel
@testable import PushRouter

/// How a sender gets a reason without an error on demand.
private enum Way {
    /// By a request, to a gateway with these rules and verdicts.
    case request(GatewayRequest, (inout DeskRules) -> Void = { _ in }, SignatureVerdict = .good)
    /// By the daemon's reply to a good request, or by its answer about the token.
    case reply(String?, device: String? = nil)
    /// Not at all, because of this.
    case none(String)
}

@Suite("Each reason of the services' tables")
struct ReasonTests {
    private static let token = String(repeating: "ab12", count: 16)
    private static let now: Int64 = 1_795_537_418

    private static func apns(
        _ headers: [(String, String)] = [], body: String = #"{"aps":{"alert":"hi"}}"#, path: String? = nil,
        topic: String? = "com.example.shop"
    ) -> GatewayRequest {
        .post(
            path ?? "/3/device/\(token)", body,
            headers: [("host", "api.push.apple.com")] + (topic.map { [("apns-topic", $0)] } ?? []) + headers)
    }

    /// A provider token with a signature that the test's verdict judges.
    private static func bearer(issued: Int64 = now) -> (String, String) {
        let claims = #"{"iss":"TEAM123456","iat":\#(issued)}"#
        return ("authorization", "bearer \(webToken(#"{"alg":"ES256","kid":"ABC123DEFG"}"#, claims))")
    }

    private static func strict(_ rules: inout DeskRules) { rules.providers = .strict }

    private static func refused(_ code: String, _ field: String? = nil) -> Way {
        let field = field.map { #""field":"\#($0)","# } ?? ""
        return .reply(#"{"ok":false,"error":{"code":"\#(code)",\#(field)"message":"x"}}"#)
    }

    private func way(to reason: APNsReason) -> Way {
        switch reason {
        case .badCollapseID: .request(Self.apns([("apns-collapse-id", String(repeating: "x", count: 65))]))
        case .badDeviceToken: .request(Self.apns(path: "/3/device/zz"))
        case .badExpirationDate: .request(Self.apns([("apns-expiration", "soon")]))
        case .badMessageID: .request(Self.apns([("apns-id", "1")]))
        case .badPriority: .request(Self.apns([("apns-priority", "7")]))
        case .badTopic: .request(Self.apns(topic: String(repeating: "x", count: 256)))
        case .deviceTokenNotForTopic:
            .reply(
                nil, device: #"{"ok":true,"known":true,"platform":"ios","app":"com.example.other","device":"iphone"}"#)
        case .duplicateHeaders: .request(Self.apns([("apns-priority", "5"), ("apns-priority", "10")]))
        case .invalidPushType: .request(Self.apns([("apns-push-type", "silent")]))
        case .missingDeviceToken: .request(Self.apns(path: "/3/device/"))
        case .missingTopic: .request(Self.apns(topic: nil))
        case .payloadEmpty: .request(Self.apns(body: ""))
        case .topicDisallowed: .request(Self.apns(), { $0.apns.topics = ["com.example.mail"] })
        case .expiredProviderToken: .request(Self.apns([Self.bearer(issued: Self.now - 3600)]), Self.strict)
        case .invalidProviderToken: .request(Self.apns([Self.bearer()]), Self.strict, .bad)
        case .missingProviderToken: .request(Self.apns(), Self.strict)
        case .badPath: .request(Self.apns(path: "/4/device/\(Self.token)"))
        case .methodNotAllowed:
            .request(
                GatewayRequest(
                    method: "GET", target: "/3/device/\(Self.token)", headers: [("host", "api.push.apple.com")]))
        case .unregistered:
            .reply(
                nil,
                device: #"{"ok":true,"known":false,"platform":"ios","device":"abcd","ended":"2026-11-24T16:23:38Z"}"#)
        case .payloadTooLarge:
            .request(Self.apns(body: #"{"aps":{"alert":"\#(String(repeating: "x", count: 4096))"}}"#))
        case .internalServerError: Self.refused("unknown_key", "headers")
        case .serviceUnavailable: .reply(nil)
        case .tooManyProviderTokenUpdates: .none("it takes two requests: the test of updates has them")
        case .idleTimeout: .none("no request gets it: Apple ends an idle connection, and so does the gateway")
        case .badCertificate, .badCertificateEnvironment:
            .none("the gateway takes each certificate that its authorities signed, for both hosts")
        case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken:
            .none("a key's file does not say for which of Apple's hosts it is")
        case .forbidden: .none("Apple does not say when it answers it")
        case .unrelatedKeyIDInToken: .none("a key's file does not say of which team and topics it is")
        case .expiredToken: .none("Apple does not say how it differs from Unregistered")
        case .tooManyRequests:
            .none("Apple names no limit; the journal has a remark beyond Quotas' AppleDevicePerMinute=")
        case .shutdown: .none("a gateway that stops answers what it has, and sends GOAWAY before the next request")
        }
    }

    /// The answer to the request of a way; `nil` if there is none.
    ///
    /// - Parameter good: the request whose answer the daemon decides.
    private func answer(by way: Way, good: GatewayRequest) throws -> GatewayResponse? {
        switch way {
        case .request(let request, let change, let verdict):
            var scene = Scene(change, verdict: verdict)
            return try scene.answer(request)
        case .reply(let reply, let device):
            var scene = Scene()
            if let device { scene.device = { _ in device } }
            return try scene.exchange(good, reply: reply).1
        case .none: return nil
        }
    }

    @Test("of Apple's is the answer to a request, or cannot be", arguments: APNsReason.allCases)
    func apple(_ reason: APNsReason) throws {
        guard let answer = try answer(by: way(to: reason), good: Self.apns()) else { return }
        #expect(answer.status == reason.status && answer.text.has(#""reason":"\#(reason.rawValue)""#), "\(answer.text)")
    }

    private static func fcm(_ message: String, path: String = "/v1/projects/demo/messages:send") -> GatewayRequest {
        .post(path, #"{"message":\#(message)}"#, headers: [("host", "fcm.googleapis.com")])
    }

    private func way(to code: FCMErrorCode) -> Way {
        switch code {
        case .invalidArgument: .request(Self.fcm(#"{"token":"a b","data":{"a":"b"}}"#))
        case .unregistered:
            .reply(
                nil,
                device:
                    #"{"ok":true,"known":false,"platform":"android","device":"t","ended":"2026-11-24T16:23:38Z"}"#)
        case .unavailable: .reply(nil)
        case .internalError: Self.refused("unknown_key", "sender")
        case .unspecified: .none("Google's reference says that there is no more information about it")
        case .unregisteredFID: .none("the gateway knows tokens, and no installation ids")
        case .senderIDMismatch: .none("a registration names the app, and not the project that may send to it")
        case .quotaExceeded: .none("the journal has a remark: a test that sends much would fail by chance")
        case .thirdPartyAuthError, .apnsAuthError:
            .none("the gateway sends nothing on to APNs, and needs no key for it")
        }
    }

    @Test("of Google's is the answer to a request, or cannot be", arguments: FCMErrorCode.allCases)
    func google(_ code: FCMErrorCode) throws {
        guard let answer = try answer(by: way(to: code), good: Self.fcm(#"{"token":"t","data":{"a":"b"}}"#)) else {
            return
        }
        #expect(
            answer.status == code.status.code && answer.text.has(#""errorCode":"\#(code.rawValue)""#),
            "\(answer.text)")
    }
}
