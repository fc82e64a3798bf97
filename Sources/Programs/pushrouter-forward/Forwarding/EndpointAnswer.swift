import PushModel
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

/// The meaning of an answer for the entries of its request and for the waiting entries.
///
/// Source: the provider's documentation of `POST /users/track` and of its errors; the members of an error (`type`,
/// `input_array`, `index`) are those that public integrations find in its answers.
enum Verdict: Equatable {
    /// The fate of each entry.
    case settled(attributes: [Fate], events: [Fate])
    /// The fate of all entries is unknown.
    case unknown(String)
    /// The endpoint took no entry: too many requests. Wait until this time if it named one.
    case slowDown(until: WallTime?, String)
    /// The request did not leave, for a reason that is not the endpoint's.
    case unsent
    /// The endpoint took no entry; the failure may end by itself.
    case failed(String)
    /// The endpoint took no entry, and a person has to act: the error and the remedy.
    case refused(String)

    /// The fate of one entry.
    enum Fate: Equatable {
        case sent, queued
        case rejected(String)
        case unknown(String)
    }

    /// - Parameters:
    ///   - attributes: the number of attributes in the request.
    ///   - events: the number of events in the request.
    ///   - settings: the settings with which it was sent.
    init(_ answer: EndpointAnswer, attributes: Int, events: Int, settings: ForwardingSettings) {
        switch answer {
        case .failure(wasSent: true, let reason):
            self = .unknown("the request was sent and no answer came: \(reason)")
        case .failure(wasSent: false, let reason): self = .failed(reason)
        case .expired: self = .unsent
        case .response(let response):
            self.init(response, attributes: attributes, events: events, settings: settings)
        }
    }

    private init(_ response: EndpointResponse, attributes: Int, events: Int, settings: ForwardingSettings) {
        let said = "the endpoint answered \(response.status)"
        let content = response.report.map { ResponseContent($0, attributes: attributes, events: events) }
        let message = content?.message.map { "\(said): \($0)" } ?? said
        switch response.status {
        case 200...299:
            if let damage = response.damage {
                self = .unknown("\(said), but not all of its answer came: \(damage)")
            } else if let content, content.isSuccess {
                self = .settled(attributes: content.attributes.accepted, events: content.events.accepted)
            } else {
                self = .unknown(content == nil ? "\(said), with content that is not the JSON of /users/track" : message)
            }
        case 429:
            let reset = response.rateLimitReset.flatMap(Int64.init).map { WallTime(seconds: $0) }
            self = .slowDown(until: reset, "\(said): too many requests")
        // 408 and 425: the endpoint did not process the request at all.
        case 408, 425, 500...599: self = .failed(message)
        // A fatal error processed no entry, so the entries that it does not blame are safe to send again.
        case 400 where content?.blamesEntries == true:
            self = .settled(attributes: content?.attributes.refused ?? [], events: content?.events.refused ?? [])
        default:
            let remedy = Self.remedy(for: response.status, settings)
            self = .refused("\(message). \(remedy); then: \(settings.remedyCommand)")
        }
    }

    /// Returns the remedy for a person to apply.
    private static func remedy(for status: Int, _ settings: ForwardingSettings) -> String {
        switch status {
        case 400:
            "The endpoint cannot read the requests, and names no entry: pushrouter-forward --dry-run prints the requests. "
                + "If your plan allows fewer updates in one request, set CombinedLimit= or BatchSize= in [UsersTrack]. To "
                + "discard an entry N that is the cause: pushctl pending --discard N"
        case 401:
            "The endpoint does not know the API key: put the key of this instance into "
                + (settings.keyFile ?? "the file of the credential users-track-key (LoadCredential= of the service)")
        case 403: "The API key lacks the permission users.track, or is not allowed from this address"
        case 404, 405:
            "The address has no /users/track: Endpoint= in [UsersTrack] is not the REST endpoint of your instance"
        case 407: "The proxy requires a login: https_proxy= in the service's environment names the proxy"
        case 413: "The requests are too long: lower BatchSize= in [UsersTrack]"
        case 300...399:
            "The endpoint redirects to another address; pushrouter-forward does not send the key there: correct "
                + "Endpoint= in [UsersTrack]"
        default: "The status is unexpected: check Endpoint= in [UsersTrack] and the proxies on the way"
        }
    }
}

extension WallTime {
    /// Saturates, because a header may name any number.
    fileprivate init(seconds: Int64) {
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.init(milliseconds: overflow ? (seconds < 0 ? .min : .max) : milliseconds)
    }
}
