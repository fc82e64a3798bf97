import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import pushrouter_http

@Suite("Signatures of requests")
struct SigningTests {
    private func keys(_ text: String) throws -> SigningKeys {
        try Array(text.utf8).withUnsafeBytes { bytes in try SigningKeys(bytes) }
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
        "are refused with a wrong secret file, and the reason repeats none of it",
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

    @Test("cover the id of the request, the time and the exact body")
    func request() throws {
        let line = #"{"id":5,"delivery":{"seq":41,"n":1,"accepted_at":"2026-11-21T03:08:00.120Z"},"payload":{"a":"b"}}"#
        guard case .post(let invocation) = try HTTPLine(Array(line.utf8), at: Instant(nanoseconds: 0)) else {
            Issue.record("the line is no invocation")
            return
        }
        let keys = try keys("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        for format in HTTPEndpoint.Format.allCases {
            var endpoint = HTTPEndpoint(url: "https://crm.example/")
            endpoint.format = format
            var request = invocation.request(to: endpoint, source: "pushrouterd://relay")
            request.sign(by: keys, at: WallTime(milliseconds: 1_700_000_000_999))
            let signature = keys.signature(id: "41-1-20261121030800120", timestamp: 1_700_000_000, body: request.body)
            #expect(
                request.headers.lines.suffix(3) == [
                    "webhook-id: 41-1-20261121030800120", "webhook-timestamp: 1700000000",
                    "webhook-signature: \(signature)",
                ])
        }
    }

    @Test("use Base64, which round-trips at every length")
    func base64() {
        for count in 0..<50 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
            #expect(Base64.decoded(Base64.encoded(bytes).utf8) == bytes)
        }
    }
}
