import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel
@testable import PushRouter

/// An unsigned token with these parts.
func webToken(_ header: String, _ claims: String, signature: String = "c2ln") -> String {
    "\(base64URL(header)).\(base64URL(claims)).\(signature)"
}

private func base64URL(_ text: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let bits = text.utf8.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    return String(
        stride(from: 0, to: bits.count, by: 6).map { start in
            alphabet[(0..<6).reduce(0) { $0 << 1 | (start + $1 < bits.count ? Int(bits[start + $1]) : 0) }]
        })
}

private let now = WallTime(milliseconds: 1_795_537_418_500)

@Suite("Access tokens of Google")
struct AccessTokenTests {
    private static let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"

    private func recordedAssertion() throws -> WebToken {
        let recorded = try #require(RecordedRequest.all(in: "fcm").first { $0.request.target.description == "/token" })
        let request = try AccessTokenRequest(body: recorded.request.body)
        #expect(request.account == "push@demo.iam.gserviceaccount.com")
        guard case .assertion(let token) = request else { throw AccessTokenError.badSignature }
        return token
    }

    private func problem(_ claims: String, _ header: String = #"{"alg":"RS256"}"#) throws -> String? {
        AssertionRules().problem(of: try #require(WebToken(webToken(header, claims))), at: now)?.description
    }

    @Test("are requested with an assertion, of which account, scopes and signed bytes are read")
    func recorded() throws {
        let assertion = try recordedAssertion()
        #expect(assertion.algorithm == "RS256")
        #expect(assertion.keyID == "kid1")
        #expect(assertion.signature.count == 256)
        #expect(assertion.signedBytes.filter { $0 == UInt8(ascii: ".") }.count == 1)
        #expect(assertion.text("aud") == "https://oauth2.googleapis.com/token")
        let issued = try #require(assertion.time("iat"))
        #expect(AssertionRules().problem(of: assertion, at: issued) == nil)
        for request in RecordedRequest.all(in: "fcm") where request.request.target.description == "/token" {
            #expect(
                try AccessTokenRequest(body: request.request.body).scopes.contains {
                    $0.hasSuffix("firebase.messaging") || $0.hasSuffix("cloud-platform")
                })
        }
    }

    @Test(
        "are refused with the error of RFC 6749 for a malformed request",
        arguments: [
            ("", "invalid_request", "grant_type"), ("assertion=x", "invalid_request", "grant_type"),
            (grant, "invalid_request", "assertion"), ("\(grant)&assertion=x.y", "invalid_grant", "Invalid JWT"),
            ("grant_type=password", "unsupported_grant_type", "Invalid grant_type: password"),
        ])
    func badRequests(_ body: String, _ code: String, _ words: String) {
        do {
            _ = try AccessTokenRequest(body: Array(body.utf8))
            Issue.record("it is taken")
        } catch {
            #expect(error.response.status == 400)
            #expect(error.response.text.hasPrefix(#"{"error":"\#(code)","error_description":""#))
            #expect(error.description.has(words))
        }
    }

    @Test("are also issued for a person's own credentials")
    func refresh() throws {
        let request = try AccessTokenRequest(body: Array("grant_type=refresh_token&refresh_token=a".utf8))
        #expect(request.account == nil)
        #expect(request.scopes == [])
    }

    @Test("are refused for an assertion that is too old, too long, of another algorithm, or for another audience")
    func rules() throws {
        let seconds = now.seconds
        func claims(_ iat: Int64, _ exp: Int64, _ aud: String = "https://oauth2.googleapis.com/token") -> String {
            #"{"iss":"a","aud":"\#(aud)","iat":\#(iat),"exp":\#(exp)}"#
        }
        #expect(try problem(claims(seconds, seconds + 3600)) == nil)
        #expect(try problem(claims(seconds + 300, seconds + 900)) == nil)
        #expect(try problem(claims(seconds + 301, seconds + 900))?.has("reasonable timeframe") == true)
        #expect(try problem(claims(seconds - 3600, seconds - 300))?.has("short-lived") == true)
        #expect(try problem(claims(seconds, seconds + 3601))?.has("60 minutes") == true)
        #expect(try problem(claims(seconds, seconds)) != nil)
        #expect(try problem(claims(seconds, seconds + 60, "https://example.com"))?.has("audience") == true)
        #expect(try problem(claims(seconds, seconds + 60), #"{"alg":"none"}"#)?.has("RS256") == true)
        #expect(try problem(#"{"aud":"https://oauth2.googleapis.com/token"}"#) != nil)
    }

    @Test(
        "come with a send as Bearer, in any case",
        arguments: [
            ("Bearer ya29.x", "ya29.x"), ("bearer  ya29.x ", "ya29.x"), ("Bearer", nil), ("key=abc", nil), (nil, nil),
            ("Bearer a b", nil),
        ] as [(String?, String?)])
    func bearer(_ header: String?, _ text: String?) {
        #expect(BearerToken(header)?.text == text)
    }
}

@Suite("Tokens of APNs' providers")
struct ProviderTokenTests {
    private let header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#

    private func provider(_ claims: String, _ header: String? = nil) throws(APNsReason) -> ProviderToken {
        try ProviderToken("bearer \(webToken(header ?? self.header, claims))")
    }

    private func provider(issued: Int64, key: String = "ABC123DEFG") throws -> ProviderToken {
        try provider(#"{"iss":"TEAM123456","iat":\#(issued)}"#, #"{"alg":"ES256","kid":"\#(key)"}"#)
    }

    @Test(
        "have their key, team and age, which some clients write as a string",
        arguments: [
            "1795537418", #""1795537418""#, "1795537418.7", "1.795537418e9",
        ])
    func parts(_ issued: String) throws {
        let token = try provider(#"{"iss":"TEAM123456","iat":\#(issued)}"#)
        #expect(token.keyID == "ABC123DEFG")
        #expect(token.team == "TEAM123456")
        #expect(token.issued.seconds == 1_795_537_418)
    }

    @Test("malformed provider tokens of APNs are refused")
    func invalid() {
        #expect(throws: APNsReason.missingProviderToken) { try ProviderToken(nil) }
        #expect(throws: APNsReason.missingProviderToken) { try ProviderToken("") }
        let claims = #"{"iss":"TEAM123456","iat":1}"#
        let good = webToken(header, claims)
        for header in ["bearer", "basic \(good)", "bearer x", "bearer \(good).x", "bearer \(good.dropLast(5))"] {
            #expect(throws: APNsReason.invalidProviderToken, "\(header)") { try ProviderToken(header) }
        }
        for (header, claims) in [
            (#"{"alg":"none","kid":"A"}"#, claims), (#"{"alg":"ES256"}"#, claims), (header, #"{"iss":"T"}"#),
            (header, #"{"iat":1}"#), (header, #"{"iss":"T","iat":"x"}"#), (header, #"{"iss":"T","iat":1e300}"#),
            (header, "[]"), ("7", claims), (header, #"{"iss":"","iat":1}"#),
        ] {
            #expect(throws: APNsReason.invalidProviderToken, "\(header) \(claims)") { try provider(claims, header) }
        }
    }

    @Test("are too old after an hour, and invalid before their time")
    func age() throws {
        let rules = ProviderRules()
        func refusal(_ seconds: Int64) throws -> APNsReason? {
            rules.refusal(of: try provider(issued: now.seconds + seconds), at: now)
        }
        #expect(try refusal(0) == nil)
        #expect(try refusal(-3599) == nil)
        #expect(try refusal(-3600) == .expiredProviderToken)
        #expect(try refusal(300) == nil)
        #expect(try refusal(301) == .invalidProviderToken)
    }

    @Test("may change every 20 minutes for one key; an older one is no change")
    func updates() throws {
        var updates = ProviderTokenUpdates(providersMax: 2)
        func use(_ seconds: Int64, key: String = "A", on connection: UInt64 = 1) throws -> APNsReason? {
            updates.use(try provider(issued: now.seconds + seconds, key: key), on: connection)
        }
        #expect(try use(0) == nil)
        #expect(try use(0) == nil)
        #expect(try use(1199) == .tooManyProviderTokenUpdates)
        // The limit is for one connection: a second process, or a new connection, has a token of its own.
        #expect(try use(1199, on: 2) == nil)
        #expect(try use(-60) == nil)
        #expect(try use(1, key: "B") == nil)
        #expect(try use(1200) == nil)
        #expect(try use(1201) == .tooManyProviderTokenUpdates)
        // One more than the limit: all are forgotten, and none is refused wrongly.
        #expect(try use(0, key: "C") == nil)
        #expect(try use(1201) == nil)
        updates = ProviderTokenUpdates(providersMax: 1)
        #expect(try use(0) == nil && use(0, key: "B") == nil)
        #expect(try use(5) == nil, "the second key is one more than the limit, so the first is forgotten")
    }

    @Test("have parts in base64url with zero padding bits, and a bounded length")
    func base64() {
        for text in ["", "a", "ab", "abc", "abcd", "ä{}\u{0}"] {
            let claims = #"{"t":"\#(text == "ä{}\u{0}" ? "ä{}" : text)"}"#
            #expect(WebToken(webToken("{}", claims))?.text("t") != nil)
            #expect(WebToken(webToken("{}", claims + " ") + "")?.text("t") != nil)
        }
        let good = webToken("{}", "{}")
        #expect(WebToken(good) != nil)
        #expect(WebToken("e30=.e30=.AA==") != nil)
        for bad in [
            "e30", "e30.e30", "e31.e30.AA", "e3.e30.AA", "e30.e30.A", "e30.e30.AB", "e30.e30.+/", "e30=a.e30.AA",
        ] {
            #expect(WebToken(bad) == nil, "\(bad)")
        }
        #expect(WebToken(good, longest: good.utf8.count) != nil)
        #expect(WebToken(good, longest: good.utf8.count - 1) == nil)
    }
}

@Suite("Parameters of a header")
struct HeaderParameterTests {
    @Test(
        "are separated by commas or semicolons, and have no spaces, tabs and quotation marks around them",
        arguments: [
            ("t=a", "a"), ("k=b,t=a", "a"), ("t=a;k=b", "a"), (" \tt=a\t ,k=b", "a"), ("t=a\t", "a"), ("t=a ", "a"),
            ("t=\"a\" ; k=b", "a"), ("T=a", "a"), ("t=a;t=b", "a"), ("t=a=b==", "a=b=="), ("t=", ""), ("t", ""),
            ("k=t", nil), ("", nil),
        ] as [(String, String?)])
    func areRead(_ header: String, _ value: String?) {
        #expect(HeaderParameters(header)["t"].map { String(decoding: $0, as: UTF8.self) } == value)
    }
}
