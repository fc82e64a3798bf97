public import PushModel

/// Decides whether a request may ask for anything at all, before anything is read.
public struct WebAccess: Sendable {
    /// The host names, without ports, that the page may be asked for under.
    public var hosts: Set<String>
    /// The token that is needed; `nil`: none is.
    public var token: String?
    /// The user whose connections over a Unix socket are a proxy's.
    public var proxy: UInt32?
    /// The header by which the proxy names the person, in lower case.
    public var proxyHeader: String
    /// In the cookie of a browser that has logged in, and in each form: random, and another one in each run.
    let session: String
    let formToken: String

    /// The names that are always right.
    static let ownHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
    /// The name of the cookie.
    static let cookie = "pushrouter"
    /// The field of a form that has ``formToken``.
    static let formField = "form"
    /// The header that a form cannot send.
    static let programHeader = "x-pushrouter"

    /// - Parameter random: 32 random bytes.
    public init(
        hosts: some Sequence<String>, token: String?, proxy: UInt32?, proxyHeader: String, random: [UInt8]
    ) {
        self.hosts = Self.ownHosts.union(hosts.map { $0.lowercased() })
        (self.token, self.proxy, self.proxyHeader) = (token, proxy, proxyHeader.lowercased())
        func text(_ bytes: ArraySlice<UInt8>) -> String {
            bytes.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        }
        (session, formToken) = (text(random.prefix(16)), text(random.dropFirst(16)))
    }

    /// The person that a proxy names; `nil`: no proxy, or it names none.
    public func person(_ request: WebRequest) -> String? {
        isProxied(request) ? request.headers[proxyHeader] : nil
    }

    /// Whether a named proxy sent it.
    func isProxied(_ request: WebRequest) -> Bool { proxy != nil && request.peer.uid == proxy }

    /// Whether it has shown the token, where one is needed.
    func isLoggedIn(_ request: WebRequest) -> Bool {
        guard let token, !isProxied(request) else { return true }
        if let cookie = request.cookie(Self.cookie), Self.areEqual(cookie, session) { return true }
        guard let proof = request.headers["authorization"], proof.lowercased().hasPrefix("bearer ") else {
            return false
        }
        return Self.areEqual(String(proof.dropFirst("bearer ".count)), token)
    }

    /// The answer to a request that may not go on; `nil`: it may.
    public func refusal(of request: WebRequest) -> WebResponse? {
        if let problem = hostProblem(request) { return refuse(request, problem, status: 421) }
        let methods = ["GET", "HEAD", "POST"] + (request.isOfAPI ? ["DELETE"] : [])
        guard methods.contains(request.method) else {
            var response = refuse(request, "only \(methods.joined(separator: ", "))", status: 405)
            response.headers.append(("Allow", methods.joined(separator: ", ")))
            return response
        }
        if request.isAct, let problem = originProblem(request) {
            return refuse(request, problem, status: 403)
        }
        // The form, and what it looks like, are for everybody.
        if request.path == ["login"] || request.path.first == "assets" { return nil }
        guard isLoggedIn(request) else {
            if request.isOfAPI || request.isAct {
                var response = refuse(request, "the token is needed: Authorization: Bearer TOKEN", status: 401)
                response.headers.append(("WWW-Authenticate", "Bearer"))
                return response
            }
            return .seeOther("/login")
        }
        guard request.isAct else { return nil }
        return proofProblem(request).map { refuse(request, $0, status: 403) }
    }

    /// A foreign page may have a name of its own lead to this address (DNS rebinding); its name comes in `Host`.
    private func hostProblem(_ request: WebRequest) -> String? {
        guard !isProxied(request), request.peer.uid == nil else { return nil }
        guard let host = request.headers["host"]?.lowercased() else { return "the request has no Host" }
        let name: Substring
        if host.hasPrefix("[") {
            name = host.prefix { $0 != "]" } + "]"
        } else {
            name = host.prefix { $0 != ":" }
        }
        return hosts.contains(String(name))
            ? nil : "this page is not \(name.prefix(100)): Set Host= in web.conf to the page's names"
    }

    private func originProblem(_ request: WebRequest) -> String? {
        if let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none" {
            return "another page sent this (Sec-Fetch-Site: \(site.prefix(20)))"
        }
        guard let origin = request.headers["origin"] else { return nil }
        guard !isProxied(request) else { return nil }
        let host = request.headers["host"] ?? ""
        return ["http://\(host)", "https://\(host)"].contains(origin.lowercased())
            ? nil : "another page sent this (Origin: \(origin.prefix(100)))"
    }

    private func proofProblem(_ request: WebRequest) -> String? {
        if request.isOfAPI {
            return request.headers[Self.programHeader] == nil
                ? "a \(request.method) of a program needs the header X-Pushrouter: 1" : nil
        }
        guard let form = request.form, let token = form[Self.formField], Self.areEqual(token, formToken) else {
            return "the form is of an earlier run of pushrouter-web: reload the page, and send the form again"
        }
        return nil
    }

    private func refuse(_ request: WebRequest, _ message: String, status: Int) -> WebResponse {
        request.isOfAPI
            ? .problem(message, status: status) : WebResponse(status, "\(message)\n".showingControlsInLines())
    }

    /// Answers the form of the login.
    func login(_ request: WebRequest) -> WebResponse? {
        guard let token, let given = request.form?["token"], Self.areEqual(given, token) else { return nil }
        var response = WebResponse.seeOther("/")
        response.headers.append(
            ("Set-Cookie", "\(Self.cookie)=\(session); HttpOnly; SameSite=Strict; Path=/; Max-Age=86400"))
        return response
    }

    /// Compares without telling by the time how much of it is right.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Bounds what one peer does.
public struct ActLimiter: Sendable {
    /// As many POST and DELETE requests a peer may send in a second.
    public static let perSecond = 20
    private var counts: [WebPeer: Int] = [:]
    private var second: Int64 = 0

    /// Nothing was done yet.
    public init() {}

    /// Counts an act.
    ///
    /// - Parameter now: monotonic.
    /// - Returns: whether the peer may do it.
    public mutating func takes(_ peer: WebPeer, at now: Instant) -> Bool {
        if now.nanoseconds / 1_000_000_000 != second { (second, counts) = (now.nanoseconds / 1_000_000_000, [:]) }
        counts[peer, default: 0] += 1
        return counts[peer, default: 0] <= Self.perSecond
    }
}

extension WebDesk {
    func loginForm(_ request: WebRequest) -> WebAnswer {
        // A request that was answered before had the wrong token.
        let isWrong = request.method == "POST"
        let form: Markup = """
            \(Markup.when(isWrong, HTML.problem("this is not the token")))<form method="post" action="/login">\
            <input name="username" autocomplete="username" value="page" hidden><label>Token \
            <input name="token" type="password" autocomplete="current-password" required></label> <button>Log in</button></form>

            """
        return .response(page(request, title: "Log in", form, status: isWrong ? 403 : 200))
    }

    func login(_ request: WebRequest) -> WebAnswer {
        facts.access.login(request).map(WebAnswer.response) ?? loginForm(request)
    }
}
