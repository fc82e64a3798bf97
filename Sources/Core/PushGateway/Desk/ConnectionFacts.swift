/// The facts about the connection that brought a request.
public struct ConnectionFacts: Hashable, Sendable {
    /// The peer and the connection's number, for people: `127.0.0.1 #12`, `uid 1000 #3`.
    public var name: String
    /// The topics in the client's certificate; `nil`: the client presented none.
    public var certificateTopics: [String]?
    /// Whether the client is on this machine.
    public var isLocal: Bool
    /// The version of HTTP: `1.1`, `2`.
    public var version: String
    /// The number of its requests without an answer, this one included.
    public var unanswered = 1

    /// Joins the parts.
    public init(name: String, certificateTopics: [String]? = nil, isLocal: Bool = true, version: String = "2") {
        (self.name, self.certificateTopics) = (name, certificateTopics)
        (self.isLocal, self.version) = (isLocal, version)
    }
}
