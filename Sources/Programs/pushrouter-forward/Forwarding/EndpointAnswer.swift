import PushRouter
import PushSettings

/// The result of a request.
enum EndpointAnswer: Hashable, Sendable {
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
struct EndpointResponse: Hashable, Sendable {
    /// The status code.
    var status: Int
    /// `X-RateLimit-Reset`: seconds since 1970.
    var rateLimitReset: String?
    /// The contents of its body; `nil` if the body is not a JSON object.
    var report: EndpointReport?
    /// Why the body is incomplete; `nil` if it is complete.
    var damage: String?
}

/// The members of a response body, unchecked.
struct EndpointReport: Hashable, Sendable {
    /// One element of `errors`.
    struct Problem: Hashable, Sendable {
        /// `input_array`: the array of the request that has the faulty entry.
        var array: String?
        /// `index`: the index in that array.
        var index: Int64?
        /// The error text.
        var text: String
    }

    /// `message`: `success`, or an error.
    var message: String?
    /// `attributes_processed`: how many attributes the endpoint reports as processed.
    var attributesProcessed: Int64?
    /// `events_processed`: how many events the endpoint reports as processed.
    var eventsProcessed: Int64?
    /// `errors`, in their order.
    var errors: [Problem]

    init(
        message: String? = nil, attributesProcessed: Int64? = nil, eventsProcessed: Int64? = nil,
        errors: [Problem] = []
    ) {
        self.message = message
        self.attributesProcessed = attributesProcessed
        self.eventsProcessed = eventsProcessed
        self.errors = errors
    }
}
