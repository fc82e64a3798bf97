import Testing

@testable import PushRouting

@Suite("Signatures of requests")
struct SigningTests {
    private func keys(_ text: String) throws -> SigningKeys {
        try Array(text.utf8).withUnsafeBytes { bytes in try SigningKeys(bytes) }
    }

    @Test(
        "SHA-256 is that of FIPS 180-4, at every edge of a block",
        arguments: [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"),
            (56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"),
            (63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"),
            (64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"),
            (65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"),
        ])
    func digests(count: Int, digest: String) {
        let message = [UInt8](repeating: UInt8(ascii: "x"), count: count)
        for split in [0, count / 2, count] {
            var hash = SHA256()
            hash.update(message[..<split])
            hash.update(message[split...])
            #expect(hash.digest().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == digest)
        }
    }

    @Test("are those of Standard Webhooks, one for each secret of the file")
    func signs() throws {
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        let secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        for text in [secret, "whsec_\(secret)\n", "\n  whsec_\(secret) \r\n\n"] {
            #expect(try keys(text).signature(id: id, timestamp: 1_614_265_330, body: body) == expected)
        }
        let two = try keys("whsec_\(secret)\nwhsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX\n")
        let signatures = two.signature(id: id, timestamp: 1_614_265_330, body: body).split(separator: " ")
        #expect(signatures.count == 2 && signatures[0] == expected && signatures[1].hasPrefix("v1,"))
    }

    @Test(
        "are refused with a secret file that is wrong, and the reason repeats none of it",
        arguments: [
            ("", "has no secret"),
            ("\n \n", "has no secret"),
            ("whsec_!secret!", "has something in line 1 that is not Base64, with or without whsec_"),
            ("whsec_c2hvcnQ=", "has a secret of 5 bytes in line 1; it must have from 16 to 128"),
            ("whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "has an asymmetric key in line 1; only whsec_ secrets are used"),
            (
                String(repeating: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", count: 5),
                "has 5 secrets; at most 4 may be in use at once"
            ),
        ])
    func refuses(text: String, reason: String) {
        #expect(throws: SigningKeysFault(description: reason)) { try keys(text) }
    }

    @Test("Base64 of every length comes back")
    func base64() {
        for count in 0..<50 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
            #expect(Base64.decoded(Base64.encoded(bytes).utf8) == bytes)
        }
    }
}
