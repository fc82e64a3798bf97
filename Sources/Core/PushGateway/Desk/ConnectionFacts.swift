/// The facts about the connection that brought a request.
public struct ConnectionFacts: Hashable, Sendable {
    /// The peer and the connection's number, for people: `127.0.0.1 #12`, `uid 1000 #3`.
    public var name: String
    /// The connection's number.
    public var number: UInt64
    /// The topics in the client's certificate; `nil` if the client showed none.
    public var certificateTopics: [String]?
    /// Whether the client is on this machine.
    public var isLocal: Bool
    /// Whether the client came by a Unix socket, which no page in a browser reaches.
    public var isUnix: Bool
    /// Whether the client speaks HTTP/2; otherwise HTTP/1.1.
    public var isHTTP2: Bool
    /// The number of its requests that wait for an answer, this one included.
    public var unanswered = 1

    /// Joins the parts.
    public init(
        name: String, number: UInt64 = 1, certificateTopics: [String]? = nil, isLocal: Bool = true,
        isUnix: Bool = false, isHTTP2: Bool = true
    ) {
        (self.name, self.number, self.certificateTopics) = (name, number, certificateTopics)
        (self.isLocal, self.isUnix, self.isHTTP2) = (isLocal, isUnix, isHTTP2)
    }
}
