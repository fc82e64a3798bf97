/// What came of a request.
package enum EndpointAnswer: Hashable, Sendable {
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
package struct EndpointResponse: Hashable, Sendable {
    /// The status code.
    package var status: Int
    /// `X-RateLimit-Reset`: seconds since 1970.
    package var rateLimitReset: String?
    /// The body, as far as it came.
    package var body: [UInt8]
    /// Why the body is not whole; `nil` if it is.
    package var damage: String?

    /// Joins the parts.
    package init(status: Int, rateLimitReset: String? = nil, body: [UInt8], damage: String? = nil) {
        self.status = status
        self.rateLimitReset = rateLimitReset
        self.body = body
        self.damage = damage
    }
}
