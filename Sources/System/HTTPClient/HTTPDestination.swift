/// The URL and the options of requests.
public struct HTTPDestination {
    /// `https://...`, or `http://...` over a trusted network.
    public var url: String
    /// Header lines without line ends, such as `Content-Type: application/json`, each followed by a NUL.
    public var headerLines: [UInt8]
    /// The secret token of the header `Authorization: Bearer`.
    public var bearer: Secret?
    /// The timeout of a request, from the connection to the end of its answer, in milliseconds.
    public var timeoutMilliseconds: Int
    /// The deadline for sending a request; `nil` leaves only the timeout.
    public var budget: HTTPBudget?
    /// The time after which the request must not be sent, in nanoseconds of `CLOCK_BOOTTIME`; `nil` means no limit.
    public var expiryNanoseconds: Int64?
    /// The names of the wanted headers of an answer, in lower case.
    public var wantedHeaders: Set<String>
    /// The timeout for connecting, with TLS, in milliseconds.
    public var connectTimeoutMilliseconds = 10_000
    /// The PEM file of the trusted certificates; `nil` uses the system's.
    public var authorityFile: String?
    /// The use of HTTP/2.
    public var http2 = HTTP2.overTLS
    /// The longest body of an answer, in bytes.
    public var longestAnswer = 1 << 20

    /// The use of HTTP/2.
    public enum HTTP2: Sendable {
        /// If the server negotiates it in TLS.
        case overTLS
        case never
    }

    /// The options that most requests to a destination share.
    struct Common: Equatable {
        var url: String
        var authorityFile: String?
        var http2: HTTP2
    }

    var common: Common { Common(url: url, authorityFile: authorityFile, http2: http2) }

    /// Joins the parts; the other options have their usual values.
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

/// The deadline for sending a request, and the header that tells the server the remaining time.
///
/// The remaining time is computed when the request is sent: it may have waited for a connection before.
public struct HTTPBudget: Sendable {
    /// The name of the header, whose value is in whole milliseconds, rounded down.
    public var header: String
    /// The deadline on `CLOCK_MONOTONIC`.
    public var deadlineNanoseconds: Int64

    /// Joins the parts.
    public init(header: String, deadlineNanoseconds: Int64) {
        self.header = header
        self.deadlineNanoseconds = deadlineNanoseconds
    }
}

/// The id of a request under way, unique within its client.
public struct HTTPRequestID: Hashable, Sendable {
    let value: Int
}

/// The result of a request.
public enum HTTPResult: Equatable, Sendable {
    /// An answer with all its headers.
    case answer(HTTPAnswer)
    /// No answer.
    ///
    /// - Parameters:
    ///   - wasSent: whether any part of the request was sent, so that the server may have got it.
    ///   - reason: the error, for people.
    case failure(wasSent: Bool, reason: String)
    /// Nothing was sent: the request was about to leave after `HTTPDestination.expiryNanoseconds`.
    case expired
}

/// The answer to a request.
public struct HTTPAnswer: Equatable, Sendable {
    /// The status code.
    public var status: Int
    /// The wanted headers of the answer, by their names in lower case.
    public var headers: [String: String]
    /// The body, or the beginning of an incomplete one, with each copy of the bearer's token masked.
    public var body: [UInt8]
    /// Why the body is incomplete: a broken connection, the timeout, or its length; `nil` if it is complete.
    public var damage: String?
}

/// The error if libcurl cannot be set up: there is no memory, or it is too old.
public struct HTTPClientError: Error, Equatable, CustomStringConvertible {
    /// libcurl's message.
    public let description: String
}
