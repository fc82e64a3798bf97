import PushModel
import PushRouter
import TestSupport
import Testing

@testable import PushGateway
@testable import pushrouter_gateway

private let cryptography = OpenSSLWebPush()

private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decoded(text.utf8)) }

/// The subscription of a private key.
private func decrypting(_ privateKey: String, auth: String) throws -> WebPushSubscription {
    let number = try bytes(privateKey)
    return WebPushSubscription(
        id: "", publicKey: cryptography.publicKey(of: number), privateKey: number, secret: try bytes(auth))
}

private func base64(_ text: String) throws -> [UInt8] {
    let digits = text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
    return try bytes(String(digits))
}

/// The message of RFC 8291, appendix A.
private enum Appendix {
    static let privateKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    static let publicKey =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
    static let message =
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK"
        + "6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    static let text = "When I grow up, I want to be a watermelon"

    static func subscription() throws -> WebPushSubscription {
        try decrypting(privateKey, auth: auth)
    }
}

@Suite("The encryption of web push")
struct WebPushVectorTests {
    private func cause(_ message: [UInt8], _ subscription: WebPushSubscription) -> UnreadableBody? {
        do throws(UnreadableBody) {
            _ = try WebPushBody(message).text(for: subscription, cryptography)
            return nil
        } catch {
            return error
        }
    }

    @Test("decrypts the message of RFC 8291, appendix A")
    func appendix() throws {
        let subscription = try Appendix.subscription()
        #expect(Base64URL.encoded(subscription.publicKey) == Appendix.publicKey)
        let text = try WebPushBody(try bytes(Appendix.message)).text(for: subscription, cryptography)
        #expect(String(decoding: text, as: UTF8.self) == Appendix.text)
    }

    @Test("decrypts what pywebpush sent, in both encodings")
    func pywebpush() throws {
        let root = try recording("pywebpush-2.5.0.json")
        let steps = try #require(root["steps"]).elements
        let keys = try #require(steps.last?["subscription"])
        let own = try decrypting(
            try #require(keys["private_key"]?.string), auth: try #require(keys["auth"]?.string))
        #expect(Base64URL.encoded(own.publicKey) == keys["p256dh"]?.string)
        let text = try #require(steps.last?["plaintext"]?.string)
        for step in steps.prefix(2) {
            let request = try #require(step["requests"]?.elements.first)
            var headers: [String: String] = [:]
            for header in request["headers"]?.elements ?? [] {
                headers[header.elements[0].string?.lowercased() ?? ""] = header.elements[1].string
            }
            let salt = WebPushSend.parameter("salt", of: headers["encryption"])
            let key = WebPushSend.parameter("dh", of: headers["crypto-key"])
            #expect((salt == nil) == (headers["content-encoding"] == "aes128gcm"))
            let body = try WebPushBody(
                try base64(try #require(request["body"]?["base64"]?.string)), salt: salt, senderKey: key)
            #expect(String(decoding: try body.text(for: own, cryptography), as: UTF8.self) == text)
        }
    }

    @Test("names the cause of each body that no browser can read")
    func causes() throws {
        let subscription = try Appendix.subscription()
        let good = try bytes(Appendix.message)
        func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var message = good
            change(&message)
            return message
        }
        #expect(cause(good, subscription) == nil)
        for size in [0, 17] as [UInt8] {
            #expect(cause(changed { $0[18...19] = [0, size] }, subscription) == .recordSize(Int(size)))
        }
        #expect(cause(changed { $0[18...19] = [0, 20] }, subscription) == .severalRecords(20))
        #expect(cause(changed { $0[20] = 64 }, subscription) == .keyLength(64))
        #expect(cause(changed { $0[22...85] = ArraySlice(repeating: 1, count: 64) }, subscription) == .noPoint)
        #expect(cause(changed { $0.removeLast() }, subscription) == .damaged)
        #expect(cause(changed { $0[good.count - 1] ^= 1 }, subscription) == .damaged)
        #expect(cause(changed { $0[0] ^= 1 }, subscription) == .otherKeys)
        #expect(cause(Array(good.prefix(102)), subscription) == .truncated(102))
        for length in 0...21 { #expect(cause(Array(good.prefix(length)), subscription) == .truncated(length)) }
        var other = subscription
        other = WebPushSubscription(
            id: "", publicKey: other.publicKey, privateKey: other.privateKey, secret: [UInt8](repeating: 1, count: 16))
        #expect(cause(good, other) == .otherKeys)
    }

    @Test("never stops at damaged bodies, whatever their bytes")
    func noise() throws {
        let subscription = try Appendix.subscription()
        let good = try bytes(Appendix.message)
        var random = SeededGenerator(seed: 52)
        for _ in 0..<500 {
            var message = Array(good.prefix(Int.random(in: 0...good.count, using: &random)))
            for _ in 0..<Int.random(in: 1...4, using: &random) where !message.isEmpty {
                message[Int.random(in: 0..<message.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if message != good { #expect(message.count > 100 || cause(message, subscription) != nil) }
            _ = cause(message, subscription)
        }
    }
}

/// A recording of `Tests/Fixtures/recordings/webpush`.
func recording(_ name: String) throws -> JSONNode {
    try JSONDocument(scanning: Fixture.bytes("recordings/webpush/\(name)")).root
}
