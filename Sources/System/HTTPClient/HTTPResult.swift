/// Where requests go, and how.
public struct HTTPDestination {
    /// `https://...`, or `http://...` where the way is trusted.
    public var url: String
    /// Header lines, `Content-Type: application/json`, each with a NUL after it.
    public var headerLines: [UInt8]
    /// The token of the header `Authorization: Bearer`, which nobody may see.
    public var bearer: Secret?
    /// How long a request may take, from the connection to the end of its answer, in milliseconds.
    public var timeoutMilliseconds: Int
    /// The time until which a request may leave; `nil`: until its timeout.
    public var budget: HTTPBudget?
    /// From when on the request must not be sent, in nanoseconds of the clock that counts suspensions; `nil`: it always may.
    public var expiryNanoseconds: Int64?
    /// The names of the headers of an answer that are wanted, in lower case.
    public var wantedHeaders: Set<String>
    /// How long a connection may take to be set up, TLS included, in milliseconds.
    public var connectTimeoutMilliseconds = 10_000
    /// The certificates that are trusted, a PEM file; `nil`: the system's.
    public var authorityFile: String?
    /// When HTTP/2 is spoken.
    public var http2 = HTTP2.overTLS
    /// How long the body of an answer may be, in bytes.
    public var longestAnswer = 1 << 20

    /// When HTTP/2 is spoken.
    public enum HTTP2: Sendable {
        /// Where the server agrees to it under TLS.
        case overTLS
        case never
    }

    /// What most requests to a destination have in common.
    struct Common: Equatable {
        var url: String
        var authorityFile: String?
        var http2: HTTP2
    }

    var common: Common { Common(url: url, authorityFile: authorityFile, http2: http2) }

    /// Joins the parts; the others are as they are mostly wanted.
    ///
    /// - Parameter headers: header lines, without a line end.
    public init(
        url: String, headers: [String], bearer: Secret?, timeoutMilliseconds: Int, wantedHeaders: Set<String>
    ) {
        self.url = url
        headerLines = headers.flatMap { Array($0.utf8) + [0] }
        self.bearer = bearer
        self.timeoutMilliseconds = timeoutMilliseconds
        self.wantedHeaders = wantedHeaders
    }
}

/// Until when a request may leave, and the header that tells the server what is left of that time.
///
/// What is left is counted when the request leaves: it may have waited for a connection before.
public struct HTTPBudget: Sendable {
    /// The name of the header; its value is in whole milliseconds, rounded down.
    public var header: String
    /// On `CLOCK_MONOTONIC`.
    public var deadlineNanoseconds: Int64

    /// Joins the parts.
    public init(header: String, deadlineNanoseconds: Int64) {
        self.header = header
        self.deadlineNanoseconds = deadlineNanoseconds
    }
}

/// A request that is under way, unique within its client.
public struct HTTPRequestID: Hashable, Sendable {
    let value: Int
}

/// What came of a request.
public enum HTTPResult: Equatable, Sendable {
    /// There is an answer: its headers at least.
    case answer(HTTPAnswer)
    /// There is none.
    ///
    /// - Parameters:
    ///   - wasSent: whether anything of the body left, so that the server may have got the request.
    ///   - reason: for people, what failed.
    case failure(wasSent: Bool, reason: String)
}

/// The answer to a request.
public struct HTTPAnswer: Equatable, Sendable {
    /// The status code.
    public var status: Int
    /// The wanted headers that it has, by their names in lower case.
    public var headers: [String: String]
    /// The body, or the beginning of one that is not whole. Where it repeats the bearer's token that is masked.
    public var body: [UInt8]
    /// Why the body is not whole: the connection broke, time was up, or it is too long; `nil` if it is whole.
    public var damage: String?

    /// Joins the parts.
    public init(status: Int, headers: [String: String], body: [UInt8], damage: String?) {
        self.status = status
        self.headers = headers
        self.body = body
        self.damage = damage
    }
}

/// libcurl could not be set up: there is no memory, or it is too old.
public struct HTTPClientError: Error, Equatable, CustomStringConvertible {
    /// What libcurl said.
    public let description: String
}
