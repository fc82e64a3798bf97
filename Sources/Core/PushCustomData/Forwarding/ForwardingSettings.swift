/// `[UsersTrack]`: how entries are sent to `/users/track`. The defaults are the provider's own limits (docs of
/// `POST /users/track` and of its rate limits).
public struct ForwardingSettings: Hashable, Sendable {
    /// `Endpoint=`, with its path: `https://rest.fra-01.braze.eu/users/track`; `nil`: nothing is sent.
    public var endpoint: String?
    /// `BatchSize=`: events, and attribute objects, in one request: so many of each.
    public var batchSize = 75
    /// `CombinedLimit=`: both together; `nil`: only `batchSize` holds. 50 on some plans.
    public var combinedLimit: Int?
    /// `Flush=`: how long the first entry of a request waits for others.
    public var flush: Duration = .seconds(1)
    /// `RateLimit=`: so many requests in `rateInterval`.
    public var rateLimit = 3000
    /// The time that `rateLimit` counts in.
    public var rateInterval: Duration = .seconds(3)
    /// `Timeout=`: how long a request may take, from the connection to the end of its answer.
    public var timeout: Duration = .seconds(30)
    /// `Connections=`: requests under way at once.
    public var connections = 2
    /// `KeyFile=`: the file with the API key, which only its owner can read; `nil`: the credential `users-track-key`.
    public var keyFile: String?

    /// The defaults.
    public init() {}
}
