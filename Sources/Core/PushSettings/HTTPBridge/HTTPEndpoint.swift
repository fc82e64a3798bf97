public import PushRouter

/// The settings of an `http` handler's requests. They contain no secret, only the places of secrets.
public struct HTTPEndpoint: Hashable, Sendable {
    /// The format of a request. The raw values are the configuration's.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// CloudEvents 1.0 in binary mode: the attributes are headers, the object is the body.
        case cloudEvents = "cloudevents"
        /// CloudEvents 1.0 in structured mode: one JSON object has the attributes, and the object as its data.
        case structuredCloudEvents = "cloudevents-structured"
        /// The object is the body.
        case plain
    }

    /// The use of HTTP/2. The raw values are the configuration's.
    public enum HTTP2: String, Hashable, Sendable, CaseIterable {
        /// Uses HTTP/2 if the server agrees to it under TLS.
        case auto
        /// Never uses HTTP/2.
        case no
    }

    /// The address of the requests: `https://` or `http://`.
    public var url: String
    /// Further header lines, `Name: value`.
    public var headers: [String] = []
    /// The format of a request.
    public var format = Format.cloudEvents
    /// The secrets for signatures (Standard Webhooks): a file by its absolute path, or the name of a systemd
    /// credential; `nil` sends no signature.
    public var secretFile: String?
    /// The token of the header `Authorization: Bearer`, a file or a credential likewise; `nil` sends no such header.
    public var bearerFile: String?
    /// The certificates to trust instead of the system's, a PEM file; `nil` for the system's.
    public var authorityFile: String?
    /// The use of HTTP/2.
    public var http2 = HTTP2.auto
    /// The limit for setting up a connection to the server, TLS included.
    public var connectTimeout: Duration = .seconds(3)
    /// The limit of simultaneous connections to a server.
    public var connections = 16

    /// - Parameter url: the address of the requests.
    init(url: String) { self.url = url }
}

extension Handler.Kind {
    /// The endpoint of an `http` handler; `nil` for any other kind.
    public var endpoint: HTTPEndpoint? { bridge?.settings as? HTTPEndpoint }
}
