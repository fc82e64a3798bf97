/// The result of a request.
public enum EndpointAnswer: Hashable, Sendable {
    /// The endpoint answered.
    case response(EndpointResponse)
    /// There was no answer.
    ///
    /// - Parameters:
    ///   - wasSent: whether the endpoint may have received the request, so that its effect is unknown.
    ///   - reason: the failure, for people.
    case failure(wasSent: Bool, reason: String)
    /// Nothing was sent: the time until which the daemon let the entries leave had passed. The endpoint played no part.
    case expired
}

/// An HTTP response of the endpoint.
public struct EndpointResponse: Hashable, Sendable {
    /// The status code.
    public var status: Int
    /// `X-RateLimit-Reset`: seconds since 1970.
    public var rateLimitReset: String?
    /// The contents of its body; `nil` if the body is not a JSON object.
    public var report: EndpointReport?
    /// Why the body is incomplete; `nil` if it is complete.
    public var damage: String?

    public init(status: Int, rateLimitReset: String? = nil, report: EndpointReport?, damage: String? = nil) {
        (self.status, self.rateLimitReset, self.report, self.damage) = (status, rateLimitReset, report, damage)
    }
}

/// The members of a response body, unchecked.
public struct EndpointReport: Hashable, Sendable {
    /// One element of `errors`.
    public struct Problem: Hashable, Sendable {
        /// `input_array`: the array of the request that has the faulty entry.
        public var array: String?
        /// `index`: the index in that array.
        public var index: Int64?
        /// The error text.
        public var text: String

        public init(array: String? = nil, index: Int64? = nil, text: String) {
            (self.array, self.index, self.text) = (array, index, text)
        }
    }

    /// `message`: `success`, or an error.
    public var message: String?
    /// `attributes_processed`: how many attributes the endpoint reports as processed.
    public var attributesProcessed: Int64?
    /// `events_processed`: how many events the endpoint reports as processed.
    public var eventsProcessed: Int64?
    /// `errors`, in their order.
    public var errors: [Problem]

    public init(
        message: String? = nil, attributesProcessed: Int64? = nil, eventsProcessed: Int64? = nil,
        errors: [Problem] = []
    ) {
        self.message = message
        self.attributesProcessed = attributesProcessed
        self.eventsProcessed = eventsProcessed
        self.errors = errors
    }
}
