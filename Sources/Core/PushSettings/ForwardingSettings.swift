/// `[UsersTrack]`: the settings of requests to `/users/track`. The defaults are the provider's own limits (docs of
/// `POST /users/track` and of its rate limits).
public struct ForwardingSettings: Hashable, Sendable {
    /// `Endpoint=`, with its path: `https://rest.fra-01.braze.eu/users/track`; `nil`: the forwarder sends no requests.
    public var endpoint: String?
    /// `BatchSize=`: the most events in one request, and the most attribute objects.
    public var batchSize = 75
    /// `CombinedLimit=`: the most events and attribute objects together; `nil`: only `batchSize` counts. 50 on some
    /// plans.
    public var combinedLimit: Int?
    /// `Flush=`: how long the first entry of a request waits for others.
    public var flush: Duration = .seconds(1)
    /// `RateLimit=`: the most requests in `rateInterval`.
    public var rateLimit = 3000
    /// The interval of `rateLimit`.
    public var rateInterval: Duration = .seconds(3)
    /// `Timeout=`: how long a request may take, from the connection to the end of its answer.
    public var timeout: Duration = .seconds(30)
    /// `Connections=`: requests under way at once.
    public var connections = 2
    /// `KeyFile=`: the file with the API key, which only its owner can read; `nil`: the credential `users-track-key`.
    public var keyFile: String?

    /// The defaults.
    init() {}

    /// The command by which the forwarder takes a changed configuration and a changed key. A credential is a copy of the
    /// start: only a restart makes another.
    public var remedyCommand: String {
        "systemctl \(keyFile == nil ? "restart" : "reload") pushrouter-forward"
    }
}
