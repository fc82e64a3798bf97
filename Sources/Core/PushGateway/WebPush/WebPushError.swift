import PushModel
import PushSettings

/// The errors of a browser's push service. The raw values are those of Mozilla's service, and `HTTP...` for others.
///
/// Source: autopush-rs, `error.rs`, `notification_headers.rs` and `subscription.rs`, which have status, number and text;
/// RFC 8030 and RFC 8292 for the others.
enum WebPushError: String, Sendable, CaseIterable {
    case invalidEncryption = "InvalidEncryption"
    case noTTL = "NoTTL"
    case invalidTTL = "InvalidTTL"
    case invalidTopic = "InvalidTopic"
    case invalidUrgency = "InvalidUrgency"
    case noVAPID = "NoVapid"
    case invalidVAPID = "VapidError"
    case invalidToken = "InvalidToken"
    case wrongMethod = "MethodNotAllowed"
    case noSubscription = "NoSubscription"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyRequests = "TooManyRequests"
    case internalError = "InternalServerError"
    case badGateway = "BadGateway"
    case unavailable = "ServiceUnavailable"

    /// The HTTP status of a service.
    ///
    /// RFC 8292 (4.2) has 401 for a request without proof, and 403 for a wrong one. Mozilla has 401 for both.
    func status(of service: GatewaySettings.WebPushService) -> Int {
        switch self {
        case .invalidEncryption, .noTTL, .invalidTTL, .invalidTopic, .invalidUrgency: 400
        case .noVAPID: 401
        case .invalidVAPID: service == .mozilla ? 401 : 403
        case .invalidToken: 404
        case .wrongMethod: 405
        case .noSubscription: 410
        case .payloadTooLarge: 413
        case .tooManyRequests: 429
        case .internalError: 500
        case .badGateway: 502
        case .unavailable: 503
        }
    }

    /// Mozilla's number; `nil` for an error that it gives none.
    private var number: Int? {
        switch self {
        case .invalidToken: 102
        case .payloadTooLarge: 104
        case .noSubscription: 106
        case .noVAPID, .invalidVAPID: 109
        case .invalidEncryption: 110
        case .noTTL: 111
        case .invalidTopic: 113
        case .invalidTTL: 114
        case .invalidUrgency, .wrongMethod, .tooManyRequests, .internalError, .badGateway, .unavailable: nil
        }
    }

    /// The text in the answer.
    private var message: String {
        switch self {
        case .invalidEncryption: "Unknown Content-Encoding, or incomplete encryption headers"
        case .noTTL: "Missing TTL value"
        case .invalidTTL: "TTL must be greater than 0"
        case .invalidTopic: "Topic must be no greater than 32 characters, of the URL and filename safe alphabet"
        case .invalidUrgency: "Urgency must be very-low, low, normal or high"
        case .noVAPID: "Missing VAPID authorization"
        case .invalidVAPID: "Invalid VAPID authorization"
        case .invalidToken: "Invalid token"
        case .wrongMethod: "Method not allowed"
        case .noSubscription: "No such subscription"
        case .payloadTooLarge: "Payload too large"
        case .tooManyRequests: "Too many requests"
        case .internalError: "Internal error"
        case .badGateway: "Bad gateway"
        case .unavailable: "Service unavailable, try again later"
        }
    }

    /// The names for errors on demand: the statuses.
    static let names = Set(allCases.map { String($0.status(of: .google)) }).sorted()

    /// The error that a name demands, the first one of its status; `nil`: there is none of this name.
    init?(named name: String) {
        guard let error = Self.allCases.first(where: { String($0.status(of: .google)) == name }) else { return nil }
        self = error
    }

    /// Returns the answer.
    ///
    /// - Parameters:
    ///   - service: the service whose answer it is.
    ///   - cause: the cause for the operator, which the answer does not have.
    ///   - seconds: the seconds after which the sender may try again; `nil`: the answer does not tell.
    func response(
        of service: GatewaySettings.WebPushService, because cause: String? = nil, retryAfter seconds: Int64? = nil
    ) -> GatewayResponse {
        let status = status(of: service)
        var writer = JSONWriter()
        writer.object {
            $0.member("code", status)
            if let number { $0.member("errno", number) } else { $0.member("errno", raw: "null".utf8) }
            $0.member("error", Self.phrases[status])
            $0.member("message", message)
            $0.member("more_info", "http://autopush.readthedocs.io/en/latest/http.html#error-codes")
        }
        var headers = [GatewayRequest.Header("content-type", "application/json")]
        if self == .noSubscription { headers.append(GatewayRequest.Header("cache-control", "max-age=86400")) }
        if self == .wrongMethod { headers.append(GatewayRequest.Header("allow", "POST")) }
        return GatewayResponse(status: status, headers: headers, body: writer.line()).retried(afterSeconds: seconds)
            .because(service.title, rawValue, cause)
    }

    private static let phrases = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        410: "Gone", 413: "Payload Too Large", 429: "Too Many Requests", 500: "Internal Server Error",
        502: "Bad Gateway", 503: "Service Unavailable",
    ]
}

/// An error with its cause, for the operator.
struct WebPushRefusal: Error, Sendable {
    let error: WebPushError
    let cause: String?

    init(_ error: WebPushError, _ cause: String? = nil) { (self.error, self.cause) = (error, cause) }
}

extension GatewaySettings.WebPushService {
    /// The name of the service, for people.
    var title: String {
        switch self {
        case .mozilla: "Mozilla"
        case .google: "Google"
        }
    }

    /// The longest time for which the service keeps a push, in seconds: 30 days (autopush-rs), and four weeks.
    var longestTTL: Int64 {
        switch self {
        case .mozilla: 30 * 86400
        case .google: 28 * 86400
        }
    }
}
