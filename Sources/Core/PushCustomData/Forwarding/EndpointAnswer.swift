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
    /// What its body says; `nil` if that is no JSON object.
    public var report: EndpointReport?
    /// Why the body is not whole; `nil` if it is.
    public var damage: String?

    public init(status: Int, rateLimitReset: String? = nil, report: EndpointReport?, damage: String? = nil) {
        (self.status, self.rateLimitReset, self.report, self.damage) = (status, rateLimitReset, report, damage)
    }
}

/// What the body of an answer says, as it stands there.
public struct EndpointReport: Hashable, Sendable {
    /// One of its errors.
    public struct Problem: Hashable, Sendable {
        /// `input_array`: the array of the request that it is about.
        public var array: String?
        /// `index`: the element of that array.
        public var index: Int64?
        /// What is wrong.
        public var text: String

        public init(array: String? = nil, index: Int64? = nil, text: String) {
            (self.array, self.index, self.text) = (array, index, text)
        }
    }

    /// `message`: `success`, or what was wrong.
    public var message: String?
    /// `attributes_processed`: how many attributes the endpoint says that it took in.
    public var attributesProcessed: Int64?
    /// `events_processed`: how many events the endpoint says that it took in.
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
