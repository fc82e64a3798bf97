import Testing

@testable import PushModel
@testable import PushViews

@Suite("Who may ask for the page", .timeLimit(.minutes(30)))
struct AccessTests {
    private static let token = "a-token-of-some-length"
    private static let proxy = WebPeer(name: "uid 33", uid: 33)
    private static let person = WebPeer(name: "uid 1000", uid: 1000)

    /// The status of the refusal; `nil`: it may go on.
    private func status(_ request: WebRequest, _ access: WebAccess = Sample.access()) -> Int? {
        access.refusal(of: request)?.status
    }

    // MARK: Names

    @Test(
        "is asked for under its own names, with a port and without, in any case of letters",
        arguments: [
            "localhost", "localhost:18080", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:18080", "[::1]", "[::1]:18080",
            "push.example.com", "PUSH.example.com:443",
        ])
    func ownHosts(_ host: String) throws { #expect(status(try .test("GET", "/", host: host)) == nil) }

    @Test(
        "refuses any other name with 421, so that no name of a foreign page leads here",
        arguments: [
            "evil.example", "evil.example:18080", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.2",
            "[::2]:18080", "::1", "", "evil@localhost", " localhost", "other.example.com", nil,
        ])
    func otherHosts(_ host: String?) throws {
        #expect(status(try .test("GET", "/", host: host)) == 421)
        #expect(status(try .test("GET", "/assets/page.css", host: host)) == 421)
        #expect(status(try .test("POST", "/login", host: host)) == 421)
        let answer = Sample.access().refusal(of: try .test("GET", "/api/pushes", host: host))
        #expect(try answer?.status == 421 && answer?.root["error"]?["message"]?.string != nil)
    }

    @Test("does not ask a peer on a Unix socket for a name")
    func unixPeers() throws {
        #expect(status(try .test("GET", "/", host: nil, peer: Self.person)) == nil)
        #expect(status(try .test("GET", "/", host: "anything", peer: Self.person)) == nil)
    }

    @Test(
        "takes GET, HEAD and POST alone, and the API takes DELETE, too",
        arguments: ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", ""])
    func methods(_ method: String) throws {
        let answer = try #require(Sample.access().refusal(of: try .test(method, "/")))
        #expect(answer.status == 405 && answer.header("Allow") == "GET, HEAD, POST")
        #expect(status(try .test("HEAD", "/")) == nil)
    }

    @Test("asks of a DELETE what it asks of a POST: the header of a program, and no foreign page")
    func deletes() throws {
        let proof = ("X-Pushrouter", "1")
        #expect(status(try .test("DELETE", "/api/pushes", [proof])) == nil)
        #expect(status(try .test("DELETE", "/api/pushes")) == 403)
        #expect(status(try .test("DELETE", "/api/pushes", [proof, ("Origin", "https://evil.example")])) == 403)
        #expect(status(try .test("DELETE", "/api/pushes", [proof, ("Sec-Fetch-Site", "cross-site")])) == 403)
    }

    // MARK: Foreign pages

    private func act(_ headers: [(String, String)], peer: WebPeer = WebPeer(name: "127.0.0.1")) throws -> WebRequest {
        try .form("/push/41/tap", [(WebAccess.formField, Sample.formToken)], headers, peer: peer)
    }

    @Test(
        "takes no POST that a foreign page sent",
        arguments: [
            ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Origin", "http://evil.example"),
            ("Origin", "null"), ("Origin", ""), ("Origin", "http://localhost"), ("Origin", "http://localhost:1"),
            ("Origin", "http://localhost:18080.evil.example"),
        ])
    func foreignPages(name: String, value: String) throws {
        #expect(status(try act([(name, value)])) == 403)
        #expect(status(try .test("POST", "/api/session", [("X-Pushrouter", "1"), (name, value)])) == 403)
        // Another site may link to a page that changes nothing.
        #expect(status(try .test("GET", "/", [(name, value)])) == nil)
    }

    @Test(
        "takes a POST of its own pages, and of programs that name no origin",
        arguments: [
            ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "none"), ("Origin", "http://localhost:18080"),
            ("Origin", "https://LOCALHOST:18080"), ("User-Agent", "curl"),
        ])
    func ownPages(name: String, value: String) throws { #expect(status(try act([(name, value)])) == nil) }

    // MARK: Proofs

    @Test("needs the token of a form of this run, whatever else a form has")
    func formToken() throws {
        #expect(status(try .form("/push/41/tap", [(WebAccess.formField, Sample.formToken)])) == nil)
        for fields in [
            [], [("form", "")], [("form", String(Sample.formToken.dropLast()))], [("form", Sample.session)],
            [("token", Sample.formToken)],
        ] as [[(String, String)]] {
            #expect(status(try .form("/push/41/tap", fields)) == 403, "\(fields)")
        }
        // The same bytes are no form under another type, which a foreign page could send too.
        let plain = try WebRequest.test(
            "POST", "/push/41/tap", [("Content-Type", "text/plain")], body: "form=\(Sample.formToken)")
        #expect(status(plain) == 403)
    }

    @Test("needs a header of programs that no form can send")
    func programs() throws {
        #expect(status(try .test("POST", "/api/session", [("X-Pushrouter", "1")])) == nil)
        #expect(status(try .test("POST", "/api/session", [("x-PUSHROUTER", "")])) == nil)
        #expect(status(try .test("POST", "/api/session")) == 403)
        #expect(status(try .form("/api/session", [(WebAccess.formField, Sample.formToken)])) == 403)
    }

    @Test("needs the token where one is set: browsers are sent to the form, programs are told")
    func token() throws {
        let access = Sample.access(token: Self.token)
        let page = try #require(access.refusal(of: try .test("GET", "/push/41")))
        #expect(page.status == 303 && page.header("Location") == "/login")
        for request in [
            try WebRequest.test("GET", "/api/pushes"), try .test("GET", "/events"),
            try .test("POST", "/api/session", [("X-Pushrouter", "1")]), try act([]),
            try .test("GET", "/api/pushes", [("Authorization", "Bearer wrong")]),
            try .test("GET", "/api/pushes", [("Authorization", "Bearer ")]),
            try .test("GET", "/api/pushes", [("Authorization", "Basic \(Self.token)")]),
            try .test("GET", "/api/pushes", [("Authorization", Self.token)]),
            try .test("GET", "/api/pushes", [("Cookie", "pushrouter=\(Sample.formToken)")]),
            try .test("GET", "/api/pushes", [("Cookie", "pushrouter=")]),
            try .test("GET", "/api/pushes", [("Cookie", "other=\(Sample.session)")]),
        ] {
            let answer = access.refusal(of: request)
            #expect(answer?.status == 401 && answer?.header("WWW-Authenticate") == "Bearer", "\(request.headers)")
        }
        #expect(status(try .test("GET", "/api/pushes", [("Authorization", "Bearer \(Self.token)")]), access) == nil)
        #expect(status(try .test("GET", "/", [("authorization", "bearer \(Self.token)")]), access) == nil)
        // The assets of the login form need no token.
        for path in ["/login", "/assets/page.css"] { #expect(status(try .test("GET", path), access) == nil) }
        #expect(status(try .form("/login", [("token", "wrong")]), access) == nil)
    }

    @Test("gives a cookie for the token, which opens the page but proves no form")
    func login() throws {
        let scene = Scene(token: Self.token)
        let wrong = try scene.post("/login", [("token", "wrong")])
        #expect(wrong.status == 403 && wrong.header("Set-Cookie") == nil)
        #expect(wrong.text.contains("This is not the token."))
        #expect(try scene.post("/login").status == 403)
        let right = try scene.post("/login", [("token", Self.token)])
        #expect(right.status == 303 && right.header("Location") == "/")
        let cookie = try #require(right.header("Set-Cookie"))
        #expect(cookie == "pushrouter=\(Sample.session); HttpOnly; SameSite=Strict; Path=/; Max-Age=86400")
        #expect(!cookie.contains(Self.token) && !right.text.contains(Self.token))
        let access = Sample.access(token: Self.token)
        let proof = ("Cookie", "a=b; pushrouter=\(Sample.session); c=d")
        #expect(status(try .test("GET", "/", [proof]), access) == nil)
        #expect(status(try act([proof]), access) == nil)
        #expect(status(try .form("/push/41/tap", [], [proof]), access) == 403)
        #expect(status(try .test("POST", "/api/session", [proof]), access) == 403)
        // Without a token there is nothing to log in with.
        #expect(try Scene().post("/login", [("token", "")]).status == 403)
    }

    // MARK: A proxy

    @Test("believes the proxy who a person is, and nobody else")
    func forgedHeader() throws {
        let access = Sample.access(token: Self.token, proxy: 33)
        let forged = [("X-Forwarded-User", "anna")]
        let proxied = try WebRequest.test("GET", "/", forged, host: "push.anything", peer: Self.proxy)
        #expect(status(proxied, access) == nil && access.person(proxied) == "anna")
        #expect(access.person(try .test("GET", "/", host: nil, peer: Self.proxy)) == nil)
        for peer in [Self.person, WebPeer(name: "uid 0", uid: 0), WebPeer(name: "127.0.0.1")] {
            let other = try WebRequest.test("GET", "/", forged, peer: peer)
            #expect(status(other, access) == 303 && access.person(other) == nil, "\(peer)")
            // Without a proxy nobody is one.
            #expect(Sample.access().person(other) == nil)
        }
        #expect(Sample.access().person(proxied) == nil)
    }

    @Test("takes a form through the proxy under the name that the browser has, with its token alone")
    func proxiedForms() throws {
        let access = Sample.access(token: Self.token, proxy: 33)
        let origin = ("Origin", "https://push.company.example")
        #expect(status(try act([origin], peer: Self.proxy), access) == nil)
        #expect(status(try .form("/push/41/tap", [], [origin], peer: Self.proxy), access) == 403)
        #expect(status(try act([origin, ("Sec-Fetch-Site", "cross-site")], peer: Self.proxy), access) == 403)
    }

    // MARK: Bounds

    @Test("lets each peer do so much in a second, and no more")
    func limits() {
        var limiter = ActLimiter()
        let (one, other) = (WebPeer(name: "127.0.0.1"), WebPeer(name: "uid 1", uid: 1))
        let now = Instant(nanoseconds: 5_000_000_000)
        let taken = (0..<ActLimiter.perSecond + 5).filter { _ in limiter.takes(one, at: now) }
        #expect(taken.count == ActLimiter.perSecond)
        let isOtherTaken = limiter.takes(other, at: now)
        let isTakenLate = limiter.takes(one, at: Instant(nanoseconds: 5_999_999_999))
        let isTakenNext = limiter.takes(one, at: Instant(nanoseconds: 6_000_000_000))
        #expect(isOtherTaken && !isTakenLate && isTakenNext)
    }

    @Test("refuses in one line that steers no terminal")
    func refusalText() throws {
        let answer = Sample.access().refusal(of: try .test("GET", "/", host: "evil\u{1B}[31m\u{202E}"))
        let text = try #require(answer?.text)
        #expect(text.contains("\\x1b") && text.split(separator: "\n").count == 1)
        #expect(!text.unicodeScalars.dropLast().contains { $0.isSteering })
    }
}
