/// One request of a stream, as it came.
public struct HTTP2Request: Sendable {
    /// The stream, for the answer.
    public let stream: Int32
    /// All headers in their order; the names of those of HTTP/2 itself begin with a colon.
    public internal(set) var headers: [(name: String, value: String)] = []
    /// The body; empty without one.
    public internal(set) var body: [UInt8] = []

    init(stream: Int32) { self.stream = stream }

    /// The first header of a name.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Bounds of what one client can take of an HTTP/2 session.
public struct HTTP2Limits: Sendable {
    /// Streams at a time (SETTINGS_MAX_CONCURRENT_STREAMS).
    public var streams: UInt32 = 100
    /// Bytes of the names and values of a request's headers; more are answered 431.
    public var headerBytes = 16 << 10
    /// Bytes of a request's body; more are answered 413.
    public var bodyBytes = 256 << 10
    /// Frames that bring no request (SETTINGS, PING, PRIORITY, RST_STREAM, WINDOW_UPDATE, empty DATA) at once, and so many
    /// more a second. A client that sends more is a flood, and its session ends.
    public var controlFrames = (atOnce: 1000, perSecond: 200)
    /// Bytes of answers that are made before the client takes some.
    public var outputBytes = 64 << 10

    /// Those of a push gateway.
    public init() {}
}

/// The end of a session by the server.
public enum HTTP2Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client broke the protocol: libnghttp2's words.
    case broken(String)
    /// The client sent a flood of frames.
    case flood

    /// The failure, for people.
    public var description: String {
        switch self {
        case .broken(let words): "the client broke HTTP/2: \(words)"
        case .flood: "the client sent a flood of frames"
        }
    }
}
