public import PushRouting

/// The endpoint of an `http` handler as its file describes it. It names the places of secrets, and has no secret
/// itself.
public struct HTTPEndpoint: Hashable, Sendable {
    /// The format of a request. The raw values are those of the configuration.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// CloudEvents 1.0 in binary mode: the attributes are headers, the object is the body.
        case cloudEvents = "cloudevents"
        /// CloudEvents 1.0 in structured mode: one JSON object has the attributes, and the object as its data.
        case structuredCloudEvents = "cloudevents-structured"
        /// The object is the body.
        case plain
    }

    /// The use of HTTP/2. The raw values are those of the configuration.
    public enum HTTP2: String, Hashable, Sendable, CaseIterable {
        /// If the server agrees to it under TLS.
        case auto
        /// Never.
        case no
    }

    /// The address: `https://` or `http://`.
    public var url: String
    /// Further header lines, `Name: value`.
    public var headers: [String] = []
    /// The format of a request.
    public var format = Format.cloudEvents
    /// The file of the secrets that sign requests (Standard Webhooks), by its absolute path, or the name of a systemd
    /// credential; `nil`: requests are not signed.
    public var secretFile: String?
    /// The file or credential with the token of the header `Authorization: Bearer`; `nil`: there is no such header.
    public var bearerFile: String?
    /// The PEM file of the trusted certificates; `nil`: those of the system.
    public var authorityFile: String?
    /// The use of HTTP/2.
    public var http2 = HTTP2.auto
    /// The time limit for connecting to the server, TLS included.
    public var connectTimeout: Duration = .seconds(3)
    /// The largest number of concurrent connections to the server.
    public var connections = 16

    /// - Parameter url: the address.
    public init(url: String) { self.url = url }
}

extension Handler.Kind {
    /// The endpoint of an `http` handler; `nil` for any other kind.
    public var endpoint: HTTPEndpoint? { bridge?.settings as? HTTPEndpoint }
}
