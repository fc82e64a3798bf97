public import PushRouting

/// Where an `http` handler posts, and how: what its file says. No secret is in it, only where secrets are.
public struct HTTPEndpoint: Hashable, Sendable {
    /// How a request is put together. The raw values are the configuration's.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// CloudEvents 1.0 in binary mode: the attributes are headers, the object is the body.
        case cloudEvents = "cloudevents"
        /// CloudEvents 1.0 in structured mode: one JSON object has the attributes, and the object as its data.
        case structuredCloudEvents = "cloudevents-structured"
        /// The object is the body.
        case plain
    }

    /// When HTTP/2 is spoken. The raw values are the configuration's.
    public enum HTTP2: String, Hashable, Sendable, CaseIterable {
        /// Where the server agrees to it under TLS.
        case auto
        /// Never.
        case no
    }

    /// Where it posts: `https://` or `http://`.
    public var url: String
    /// Header lines of its own, `Name: value`.
    public var headers: [String] = []
    /// How a request is put together.
    public var format = Format.cloudEvents
    /// The secrets that requests are signed by (Standard Webhooks): a file by its absolute path, or the name of a systemd
    /// credential; `nil`: nothing is signed.
    public var secretFile: String?
    /// The token of the header `Authorization: Bearer`, named in the same way; `nil`: there is no such header.
    public var bearerFile: String?
    /// The certificates that are trusted instead of the system's, a PEM file; `nil`: the system's.
    public var authorityFile: String?
    /// When HTTP/2 is spoken.
    public var http2 = HTTP2.auto
    /// How long the way to the server may take to be set up, TLS included.
    public var connectTimeout: Duration = .seconds(3)
    /// How many connections to a server there are at once, at most.
    public var connections = 16

    /// - Parameter url: where it posts.
    public init(url: String) { self.url = url }
}

extension Handler.Kind {
    /// The endpoint of an `http` handler; `nil` for any other.
    public var endpoint: HTTPEndpoint? { bridge?.settings as? HTTPEndpoint }
}
