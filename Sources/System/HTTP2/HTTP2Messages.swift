/// One request of a stream.
public struct HTTP2Request: Sendable {
    /// The number of the stream, for the answer.
    public let stream: Int32
    /// All headers in their order; the names of HTTP/2's own ones begin with a colon.
    public internal(set) var headers: [(name: String, value: String)] = []
    /// The body; empty if there is none, or if it is too long.
    public internal(set) var body: [UInt8] = []
    /// Whether the body was longer than the limit: it was read, and discarded.
    public internal(set) var isTooLong = false

    init(stream: Int32) { self.stream = stream }

    /// Returns the value of the first header with a name.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The limits for one client of an HTTP/2 session.
public struct HTTP2Limits: Sendable {
    /// The number of streams (SETTINGS_MAX_CONCURRENT_STREAMS).
    public var streams: UInt32 = 100
    /// The bytes of a request's header names and values; more are answered 431.
    public var headerBytes = 16 << 10
    /// The bytes of a request's body. A longer one is discarded, and the request says so.
    public var bodyBytes = 256 << 10
    /// The bytes of a body that is discarded; more are answered 413 at once.
    var discardedBytes = 4 << 20
    /// The number of frames without a request (SETTINGS, PING, PRIORITY, RST_STREAM, WINDOW_UPDATE, empty DATA) at
    /// once, and further ones each second. A client that sends more floods the server, and its session ends.
    public var controlFrames = (atOnce: 1000, perSecond: 200)
    /// The bytes of output that are produced before the client reads some.
    public var outputBytes = 64 << 10

    /// The limits of a push gateway.
    public init() {}
}

/// The reason why the server ends a session.
public enum HTTP2Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client violated the protocol; the text is libnghttp2's.
    case broken(String)
    /// The client sent a flood of frames.
    case flood

    /// The reason, for people.
    public var description: String {
        switch self {
        case .broken(let words): "the client broke HTTP/2: \(words)"
        case .flood: "the client sent a flood of frames"
        }
    }
}
