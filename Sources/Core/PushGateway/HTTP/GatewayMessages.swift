import PushModel
public import PushSettings

/// One request to the gateway, independent of the version of HTTP.
public struct GatewayRequest: Hashable, Sendable {
    /// A header of a message.
    public struct Header: Hashable, Sendable {
        /// The name, in lower case.
        public let name: String
        /// The value, unchanged.
        public let value: String

        /// Joins a name in any case, and its value.
        public init(_ name: String, _ value: String) {
            // Clients of HTTP/2 send no capitals: a copy of each name would cost each request an allocation.
            let isLower = name.withBytes { $0.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) } }
            self.name = isLower ? name : name.lowercased()
            self.value = value
        }
    }

    /// The method, unchanged.
    public let method: String
    /// The path and the query, as they came. Nothing is decoded, since a token may contain an escaped slash.
    public let target: RequestTarget
    /// The requested host with its port: from the target itself, from `:authority`, or from `host`. Some clients of
    /// HTTP/2 send `host` alone (aioapns).
    public let authority: String?
    /// The service of that host.
    public let host: PushHost
    /// The headers in their order, without the pseudo-headers of HTTP/2, whose names begin with a colon.
    public let headers: [Header]
    /// The body; empty if there is none, and if it has a fault.
    public let body: [UInt8]
    /// The fault of a body that was read and not kept.
    public let bodyFault: BodyFault?

    /// A fault of a body, for which each service has an answer of its own.
    public enum BodyFault: Hashable, Sendable {
        /// It has more bytes than the limit, as sent or decompressed.
        case tooLong(limit: Int)
        /// It cannot be decompressed, for this reason.
        case notGzip(String)

        /// The fault for people.
        var description: String {
            switch self {
            case .tooLong(let limit): "the body has more than \(limit) bytes"
            case .notGzip(let reason): "content-encoding is gzip, and the body is no whole gzip file: \(reason)"
            }
        }
    }

    /// Joins the parts.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - target: the target of the request line of HTTP/1.1, or `:path` of HTTP/2.
    ///   - headers: all headers as they came.
    ///   - body: the body.
    ///   - fault: the fault of a body that was not kept.
    public init(
        method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        fault: BodyFault? = nil
    ) {
        self.method = method
        bodyFault = fault
        let (ownAuthority, path) = Self.split(target)
        self.target = RequestTarget(path)
        var pseudoAuthority: String?
        var ordinary: [Header] = []
        ordinary.reserveCapacity(headers.count)
        for (name, value) in headers {
            let header = Header(name, value)
            if header.name.utf8.first != UInt8(ascii: ":") {
                ordinary.append(header)
            } else if pseudoAuthority == nil, header.name == ":authority" {
                pseudoAuthority = value
            }
        }
        self.headers = ordinary
        authority = ownAuthority ?? pseudoAuthority ?? Self.first("host", in: ordinary)
        host = PushHost(authority: authority)
        self.body = body
    }

    /// Whether the client compressed the body with gzip, as Google's generated clients for Java do.
    public var isGzipped: Bool {
        guard let encoding = header("content-encoding") else { return false }
        return ["gzip", "x-gzip"].contains(encoding.lowercased())
    }

    /// Returns the request with another body.
    public func with(body: [UInt8]) -> GatewayRequest { GatewayRequest(self, body: body, nil) }

    /// Returns the request without its body, which has a fault.
    public func with(_ fault: BodyFault) -> GatewayRequest { GatewayRequest(self, body: [], fault) }

    /// Returns the request with another header behind its own.
    func with(_ header: Header) -> GatewayRequest { GatewayRequest(self, headers + [header], body: body, bodyFault) }

    private init(_ other: GatewayRequest, _ headers: [Header]? = nil, body: [UInt8], _ fault: BodyFault?) {
        (method, target, authority, host) = (other.method, other.target, other.authority, other.host)
        self.headers = headers ?? other.headers
        (self.body, bodyFault) = (body, fault)
    }

    /// The first header of a name in lower case, or `nil`.
    public func header(_ name: String) -> String? { Self.first(name, in: headers) }

    fileprivate static func first(_ name: String, in headers: [Header]) -> String? {
        // Most look-ups find nothing: the lengths tell most of them.
        let length = name.utf8.count
        for header in headers where header.name.utf8.count == length && header.name == name { return header.value }
        return nil
    }

    /// The client program: Firebase's libraries name themselves beside the HTTP library that they use.
    public var client: String? { header("x-firebase-client") ?? header("user-agent") }

    /// Splits a target in absolute form, as proxies get it, into host and path.
    private static func split(_ target: String) -> (authority: String?, target: String) {
        guard target.utf8.first != UInt8(ascii: "/") else { return (nil, target) }
        for scheme in ["http://", "https://"] where target.lowercased().hasPrefix(scheme) {
            let rest = target.utf8.dropFirst(scheme.utf8.count)
            let authority = rest.prefix { !"/?".utf8.contains($0) }
            let path = rest.dropFirst(authority.count)
            let isPath = path.first == UInt8(ascii: "/")
            return (
                String(decoding: authority, as: UTF8.self), (isPath ? "" : "/") + String(decoding: path, as: UTF8.self)
            )
        }
        return (nil, target)
    }
}

/// One answer, independent of the version of HTTP. The HTTP server adds date, length and connection.
public struct GatewayResponse: Hashable, Sendable {
    /// The status.
    public let status: Int
    /// The headers, with names in lower case.
    public private(set) var headers: [GatewayRequest.Header]
    /// The body.
    public let body: [UInt8]
    /// The reason of a refusal; `nil` for any other answer.
    var refusal: GatewayRefusal?
    /// The bytes of HTTP/2 that a service of HTTP/2 alone sends to a client of HTTP/1.1, before it ends the connection;
    /// `nil` for an ordinary answer.
    public internal(set) var framesForHTTP1: [UInt8]?

    /// Joins the parts.
    public init(status: Int, headers: [GatewayRequest.Header] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of a name in lower case, or `nil`.
    public func header(_ name: String) -> String? { GatewayRequest.first(name, in: headers) }

    /// Returns the same answer with `retry-after` in whole seconds, which every client that obeys the header can read;
    /// a date crashes one of them (pyfcm).
    public func retried(afterSeconds seconds: Int64?) -> GatewayResponse {
        guard let seconds else { return self }
        var response = self
        response.headers.append(GatewayRequest.Header("retry-after", String(seconds)))
        return response
    }

    /// An answer of Google's with a JSON body.
    static func googleJSON(status: Int = 200, _ body: [UInt8]) -> GatewayResponse {
        // firebase-admin-node refuses an answer with another content type.
        GatewayResponse(
            status: status, headers: [GatewayRequest.Header("content-type", "application/json; charset=UTF-8")],
            body: body)
    }
}

/// The path and the query of a request, undecoded.
public struct RequestTarget: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameter text: the path, and an optional query after `?`.
    init(_ text: String) { description = text }

    /// The decoded segments of the path. `nil` for a path that does not begin with a slash, or with an invalid escape.
    var segments: [String]? {
        description.withBytes { path in
            guard path.first == UInt8(ascii: "/") else { return nil }
            var segments: [String] = []
            segments.reserveCapacity(8)
            var (start, place, hasEscape) = (1, 1, false)
            while true {
                let byte = place < path.count ? path[place] : UInt8(ascii: "?")
                let isEnd = byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
                if isEnd || byte == UInt8(ascii: "/") {
                    let segment = UnsafeBufferPointer(rebasing: path[start..<place])
                    if !hasEscape {
                        segments.append(String(decoding: segment, as: UTF8.self))
                    } else if let text = String(percentDecoding: segment, plusIsSpace: false) {
                        segments.append(text)
                    } else {
                        return nil
                    }
                    if isEnd { return segments }
                    (start, hasEscape) = (place + 1, false)
                }
                if byte == UInt8(ascii: "%") { hasEscape = true }
                place += 1
            }
        }
    }

    /// Whether it begins with a text.
    func begins(with text: StaticString) -> Bool {
        let beginning = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return description.withBytes { $0.starts(with: beginning) }
    }

    /// The first value of the query with one of these names, or `nil`.
    public func query(_ names: String...) -> String? {
        let query = description.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
        return FormText(query).first(names)
    }
}

/// A text of `application/x-www-form-urlencoded`, the form of bodies and queries.
struct FormText {
    /// The decoded names and values, without fields that have an invalid escape.
    let fields: [(name: String, value: String)]

    init(_ bytes: some Collection<UInt8>) {
        fields = bytes.split(separator: UInt8(ascii: "&")).compactMap { field in
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            guard let key = String(percentDecoding: name, plusIsSpace: true),
                let value = String(percentDecoding: field.dropFirst(name.count + 1), plusIsSpace: true)
            else { return nil }
            return (key, value)
        }
    }

    /// The first value with one of these names, or `nil`.
    func first(_ names: [String]) -> String? { fields.first { names.contains($0.name) }?.value }
}
