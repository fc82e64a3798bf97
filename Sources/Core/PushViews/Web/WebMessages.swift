public import PushModel

/// A request to the page, as far as the page looks at it.
public struct WebRequest: Sendable {
    /// The method, as it came.
    public var method: String
    /// The path, percent escapes decoded, in its parts: `push`, `41`. Empty for `/`.
    public var path: [String]
    /// The parameters behind the question mark, decoded.
    public var query: WebParameters
    /// The headers by their names in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]
    /// The peer of the connection.
    public var peer: WebPeer
    /// The number in the path, where its route has one.
    var number: SequenceNumber?
    /// The API lists requests with higher numbers alone, unless `after=` says otherwise; `nil`: all.
    public var clearedThrough: SequenceNumber?

    /// Reads the target of the first line.
    ///
    /// - Parameters:
    ///   - target: path and query as they came.
    ///   - headers: in their order; one that comes twice is joined by commas.
    /// - Returns: `nil` for a target that is no path, or has an escape that is none.
    public init?(
        method: String, target: String, headers: [(name: String, value: String)], body: [UInt8], peer: WebPeer
    ) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, path.hasPrefix("/") else { return nil }
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let text = String(percentDecoding: part.utf8, plusIsSpace: false), text != "." && text != ".." else {
                return nil
            }
            segments.append(text)
        }
        guard let query = WebParameters(parts.count > 1 ? parts[1] : "") else { return nil }
        (self.method, self.path, self.query, self.body, self.peer) = (method, segments, query, body, peer)
        self.headers = [:]
        for (name, value) in headers {
            let key = name.lowercased()
            self.headers[key] = self.headers[key].map { "\($0), \(value)" } ?? value
        }
    }

    /// The fields of a form; `nil`: the body is none.
    public var form: WebParameters? {
        guard headers["content-type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true else {
            return nil
        }
        return String(validating: body, as: UTF8.self).flatMap { WebParameters($0[...]) }
    }

    /// The method of the route that answers it: the answer to HEAD is that to GET without its body.
    var usedMethod: String { method == "HEAD" ? "GET" : method }

    /// Whether it asks for something to be done.
    public var isAct: Bool { method == "POST" || method == "DELETE" }

    /// Whether it is for a program: its answers are JSON.
    var isOfAPI: Bool { path.first == "api" || path.first == "events" }

    /// The value of a cookie.
    func cookie(_ name: String) -> String? {
        headers["cookie"]?.split(separator: ";").lazy.compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { return nil }
            return String(parts[1])
        }.first
    }
}

/// The peer of a connection to the page.
public struct WebPeer: Hashable, Sendable {
    /// For people: `127.0.0.1`, `uid 1000`.
    public var name: String
    /// The user on a Unix socket; `nil` over TCP.
    public var uid: UInt32?

    /// Joins the parts.
    public init(name: String, uid: UInt32? = nil) { (self.name, self.uid) = (name, uid) }
}

/// Names with values, as a query or a form has them.
public struct WebParameters: Sendable {
    private var pairs: [(name: String, value: String)] = []

    /// As many as are read.
    static let countMax = 4096

    /// None.
    init() {}

    /// Reads `a=b&c=d`; `nil` where an escape is none, or bytes are no text.
    init?(_ text: Substring) {
        for pair in text.split(separator: "&").prefix(Self.countMax) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(percentDecoding: parts[0].utf8, plusIsSpace: true),
                let value = String(percentDecoding: parts.count > 1 ? parts[1].utf8 : "".utf8[...], plusIsSpace: true)
            else { return nil }
            pairs.append((name, value))
        }
    }

    /// The first value under a name; `nil` for none, and for an empty one.
    public subscript(name: String) -> String? {
        pairs.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The names, in order.
    var names: [String] { pairs.map(\.name) }

    /// All values under a name.
    public func all(_ name: String) -> [String] { pairs.filter { $0.name == name && !$0.value.isEmpty }.map(\.value) }

    /// The value under a name, also an empty one.
    func raw(_ name: String) -> String? { pairs.first { $0.name == name }?.value }
}

/// The answer to a request.
public struct WebResponse: Sendable {
    /// The status: 200.
    public var status: Int
    /// The headers but those that the server adds.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: [UInt8]

    init(_ status: Int, type: String, body: [UInt8], headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = [("Content-Type", type)] + headers
        self.body = body
    }

    /// Text for a person.
    public init(_ status: Int, _ text: String) {
        self.init(
            status, type: "text/plain; charset=utf-8", body: Array(text.utf8), headers: [("Cache-Control", "no-store")])
    }

    /// The same one as a file for the person to keep.
    func saved(as name: String) -> WebResponse {
        var response = self
        response.headers.append(("Content-Disposition", "attachment; filename=\"\(name)\""))
        return response
    }

    /// A page, or a part of one.
    static func html(_ text: String, status: Int = 200) -> WebResponse {
        WebResponse(
            status, type: "text/html; charset=utf-8", body: Array(text.utf8), headers: [("Cache-Control", "no-store")])
    }

    /// A document for programs.
    static func json(_ bytes: [UInt8], status: Int = 200) -> WebResponse {
        WebResponse(
            status, type: "application/json", body: escapingControls(inJSON: bytes) + [0x0A],
            headers: [("Cache-Control", "no-store")])
    }

    /// An error for programs.
    static func problem(_ message: String, status: Int, field: String? = nil) -> WebResponse {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "error",
                object: {
                    $0.member("message", message)
                    if let field { $0.member("field", field) }
                })
        }
        return .json(writer.bytes, status: status)
    }

    /// Another page is to be asked for, by GET.
    static func seeOther(_ target: String) -> WebResponse {
        WebResponse(303, type: "text/plain", body: [], headers: [("Location", target), ("Cache-Control", "no-store")])
    }

    /// The headers of every response: the browser loads, frames and runs nothing from another host.
    public static let safety: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        // With no-referrer Chromium sends "Origin: null" with the page's own forms.
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}

/// A file that pages load. Its name has a digest of its bytes, so that browsers may keep it for ever.
struct WebAsset: Sendable {
    let path: String
    private let type: String
    /// The bytes.
    let body: [UInt8]

    private init(_ name: String, type: String, _ body: [UInt8]) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in body { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        path = "/assets/\(String(hash, radix: 16))-\(name)"
        (self.type, self.body) = (type, body)
    }

    static let style = WebAsset("page.css", type: "text/css; charset=utf-8", PackageResources.page_css)
    static let keys = WebAsset("keys.js", type: "text/javascript; charset=utf-8", PackageResources.keys_js)
    static let live = WebAsset("live.js", type: "text/javascript; charset=utf-8", PackageResources.live_js)

    static let all = [style, keys, live]

    static func named(_ path: [String]) -> WebAsset? {
        let path = "/" + path.joined(separator: "/")
        return all.first { $0.path == path }
    }

    var response: WebResponse {
        WebResponse(
            200, type: type, body: body, headers: [("Cache-Control", "public, max-age=31536000, immutable")])
    }
}
