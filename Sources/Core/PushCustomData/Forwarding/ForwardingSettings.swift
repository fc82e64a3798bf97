/// `[UsersTrack]`: how entries are sent to `/users/track`. The defaults are the provider's own limits (docs of
/// `POST /users/track` and of its rate limits).
package struct ForwardingSettings: Hashable, Sendable {
    /// `Endpoint=`, with its path: `https://rest.fra-01.braze.eu/users/track`; `nil`: nothing is sent.
    package var endpoint: String?
    /// `BatchSize=`: events, and attribute objects, in one request: so many of each.
    package var batchSize = 75
    /// `CombinedLimit=`: both together; `nil`: only `batchSize` holds. 50 on some plans.
    package var combinedLimit: Int?
    /// `Flush=`: how long the first entry of a request waits for others.
    package var flush: Duration = .seconds(1)
    /// `RateLimit=`: so many requests in `rateInterval`.
    package var rateLimit = 3000
    /// The time that `rateLimit` counts in.
    package var rateInterval: Duration = .seconds(3)
    /// `Timeout=`: how long a request may take, from the connection to the end of its answer.
    package var timeout: Duration = .seconds(30)
    /// `Connections=`: requests under way at once.
    package var connections = 2
    /// `KeyFile=`: the file with the API key, which only its owner can read; `nil`: the credential `users-track-key`.
    package var keyFile: String?

    /// The defaults.
    package init() {}
}
