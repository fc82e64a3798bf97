/// What came of a request.
public enum EndpointAnswer: Hashable, Sendable {
    /// The endpoint answered.
    case response(EndpointResponse)
    /// There was no answer.
    ///
    /// - Parameters:
    ///   - wasSent: whether the endpoint may have got the request: then nobody knows what it did.
    ///   - reason: for people: what failed.
    case failure(wasSent: Bool, reason: String)
}

/// An answer of the endpoint, as HTTP has it.
public struct EndpointResponse: Hashable, Sendable {
    /// The status code.
    public var status: Int
    /// `X-RateLimit-Reset`: seconds since 1970.
    public var rateLimitReset: String?
    /// The body, as far as it came.
    public var body: [UInt8]
    /// Why the body is not whole; `nil` if it is.
    public var damage: String?

    /// Joins the parts.
    public init(status: Int, rateLimitReset: String? = nil, body: [UInt8], damage: String? = nil) {
        self.status = status
        self.rateLimitReset = rateLimitReset
        self.body = body
        self.damage = damage
    }
}
