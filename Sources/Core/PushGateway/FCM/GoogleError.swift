import PushModel
import PushRouter

/// The status of a request to Google. The raw values are the names of `google.rpc.Code`.
enum GoogleStatus: String, Sendable, CaseIterable {
    case invalidArgument = "INVALID_ARGUMENT"
    case failedPrecondition = "FAILED_PRECONDITION"
    case unauthenticated = "UNAUTHENTICATED"
    case permissionDenied = "PERMISSION_DENIED"
    case notFound = "NOT_FOUND"
    case alreadyExists = "ALREADY_EXISTS"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case internalError = "INTERNAL"
    case unavailable = "UNAVAILABLE"

    /// The HTTP status.
    public var code: Int {
        switch self {
        case .invalidArgument, .failedPrecondition: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists: 409
        case .resourceExhausted: 429
        case .internalError: 500
        case .unavailable: 503
        }
    }
}

/// The error codes of FCM. The raw values are those of `errorCode`.
enum FCMErrorCode: String, Sendable, CaseIterable {
    case unspecified = "UNSPECIFIED_ERROR"
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    /// A code that is newer than most clients: firebase-admin does not know it.
    case unregisteredFID = "UNREGISTERED_FID"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case internalError = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    /// The older name of ``thirdPartyAuthError``.
    case apnsAuthError = "APNS_AUTH_ERROR"

    /// The status of an answer with this code.
    public var status: GoogleStatus {
        switch self {
        case .unspecified: .failedPrecondition
        case .invalidArgument: .invalidArgument
        case .unregistered, .unregisteredFID: .notFound
        case .senderIDMismatch: .permissionDenied
        case .quotaExceeded: .resourceExhausted
        case .unavailable: .unavailable
        case .internalError: .internalError
        case .thirdPartyAuthError, .apnsAuthError: .unauthenticated
        }
    }
}

/// An error in the form of Google's APIs: `google.rpc.Status` in JSON.
struct GoogleError: Error, Hashable, Sendable {
    /// A part of `details`.
    enum Detail: Hashable, Sendable {
        /// FCM's own code.
        case fcm(FCMErrorCode)
        /// The answer of APNs to a message that FCM passed on.
        case apns(statusCode: Int, reason: String)
        /// A quota that is used up.
        case quotaFailure
        /// The wrong fields.
        case badRequest([FieldViolation])
        /// A reason of one of Google's services.
        case errorInfo(reason: String, domain: String)
    }

    /// A wrong field and its error.
    struct FieldViolation: Hashable, Sendable {
        /// The path from the body, such as `message.token`.
        public var field: String
        /// The error in the field.
        public var description: String
    }

    /// The status.
    public let status: GoogleStatus
    /// The error, for people.
    public let message: String
    /// Further facts, for programs.
    let details: [Detail]
    /// The seconds of `Retry-After`; `nil` for an answer without one.
    let retryAfter: Int64?
    /// The cause, for people, where the message does not tell it.
    private var cause: String?

    /// Joins the parts.
    init(_ status: GoogleStatus, _ message: String, _ details: [Detail] = [], retryAfter: Int64? = nil) {
        self.status = status
        self.message = message
        self.details = details
        self.retryAfter = retryAfter
    }

    /// Creates the error that FCM gives with a code.
    ///
    /// Source: the texts in public senders that match them (rails/action_push_native#141); Google's "FCM error codes":
    /// QUOTA_EXCEEDED comes with QuotaFailure, and THIRD_PARTY_AUTH_ERROR with the answer of APNs.
    init(onDemand code: FCMErrorCode, retryAfter: Int64? = nil) {
        let (message, more): (String, [Detail]) =
            switch code {
            case .unregistered, .unregisteredFID: ("Requested entity was not found.", [])
            case .senderIDMismatch: ("SenderId mismatch", [])
            case .thirdPartyAuthError, .apnsAuthError:
                (
                    "Auth error from APNS or Web Push Service",
                    [
                        .apns(
                            statusCode: APNsReason.invalidProviderToken.status,
                            reason: APNsReason.invalidProviderToken.rawValue)
                    ]
                )
            case .quotaExceeded: ("Quota exceeded for messages of this project.", [.quotaFailure])
            case .unavailable: ("The service is currently unavailable.", [])
            case .internalError: ("Internal error encountered.", [])
            case .invalidArgument: ("Request contains an invalid argument.", [])
            case .unspecified: ("An unspecified error occurred.", [])
            }
        self.init(code.status, message, [.fcm(code)] + more, retryAfter: retryAfter)
    }

    /// Creates an error with a code of FCM.
    init(fcm code: FCMErrorCode, _ message: String, retryAfter: Int64? = nil) {
        self.init(code.status, message, [.fcm(code)], retryAfter: retryAfter)
    }

    /// The error for a field with a value that FCM refuses.
    static func invalidField(_ field: String, _ description: String) -> GoogleError {
        let violation = FieldViolation(field: field, description: description)
        return GoogleError(.invalidArgument, description, [.fcm(.invalidArgument), .badRequest([violation])])
    }

    /// Checks the form of a registration token or an installation id.
    ///
    /// - Throws: FCM's error, with the cause.
    static func check(registration token: String, _ field: String) throws(GoogleError) {
        guard let cause = fault(inRegistration: token) else { return }
        throw invalidField(field, "The registration token is not a valid FCM registration token").caused(by: cause)
    }

    /// The fault of a token, for people; `nil` if its form is good. FCM knows more of its tokens than their form.
    static func fault(inRegistration token: String) -> String? {
        if token.isEmpty { return "the token is empty" }
        guard token.utf8.count <= TokenRequest.longestToken else {
            return "the token has \(token.utf8.count) bytes; the limit is \(TokenRequest.longestToken)"
        }
        let hasOther = token.utf8.contains { $0 <= 0x20 || $0 == 0x7F }
        return hasOther
            ? "the token has a space or a control character: \(token.cut(toBytes: 64).showingControls())" : nil
    }

    /// Checks the form of a project in a path.
    static func check(project: String) throws(GoogleError) {
        guard !TopicName.isPart(project) else { return }
        throw GoogleError(.invalidArgument, "Invalid resource field value in the request.")
            .caused(
                by: "a project has no slash, space or control character: \(project.cut(toBytes: 64).showingControls())")
    }

    /// The error for a field that Google's JSON parser refuses, before FCM sees the message.
    static func malformedField(_ field: String, _ description: String) -> GoogleError {
        let violation = FieldViolation(field: field, description: description)
        return GoogleError(.invalidArgument, description, [.badRequest([violation])])
    }

    /// Returns the error for a message that FCM passed on and APNs refused.
    ///
    /// - Parameter code: FCM's code. For a wrong Apple key it is said to be ``FCMErrorCode/thirdPartyAuthError``; which
    ///   code comes in which case is unknown (UNVERIFIED).
    static func refusedByAPNs(
        statusCode: Int, reason: String, code: FCMErrorCode = .invalidArgument
    ) -> GoogleError {
        GoogleError(
            code.status, "Request contains an invalid argument.",
            [.fcm(code), .apns(statusCode: statusCode, reason: reason)])
    }

    /// The error for a missing or invalid access token.
    static let badAccessToken = GoogleError(
        .unauthenticated, "Request had invalid authentication credentials.",
        [.errorInfo(reason: "ACCESS_TOKEN_TYPE_UNSUPPORTED", domain: "googleapis.com")])

    /// The error for a project without the FCM API enabled.
    static func disabled(project: String) -> GoogleError {
        GoogleError(
            .permissionDenied,
            "Firebase Cloud Messaging API has not been used in project \(project) before or it is disabled.",
            [.errorInfo(reason: "SERVICE_DISABLED", domain: "googleapis.com")])
    }

    /// The error for a missing entity.
    static let notFound = GoogleError(.notFound, "Requested entity was not found.")

    /// The answer.
    public var response: GatewayResponse {
        var writer = JSONWriter()
        writer.object { $0.member("error", object: members) }
        return GatewayResponse.googleJSON(status: status.code, writer.bytes).retried(afterSeconds: retryAfter)
            .because("Google", reason, cause ?? message)
    }

    /// The most exact word of the answer.
    private var reason: String {
        for case .fcm(let code) in details { return code.rawValue }
        return status.rawValue
    }

    /// The same error, with a cause for people that the answer does not contain.
    func caused(by cause: String) -> GoogleError {
        var error = self
        error.cause = cause
        return error
    }

    private func members(_ writer: inout JSONWriter) {
        writer.member("code", status.code)
        writer.member("message", message)
        writer.member("status", status.rawValue)
        guard !details.isEmpty else { return }
        writer.member("details", array: { list in for detail in details { list.object { $0.members(of: detail) } } })
    }
}

extension JSONWriter {
    fileprivate mutating func members(of detail: GoogleError.Detail) {
        member("@type", "type.googleapis.com/\(detail.type)")
        switch detail {
        case .fcm(let code): member("errorCode", code.rawValue)
        case .apns(let statusCode, let reason):
            member("statusCode", statusCode)
            member("reason", reason)
        case .quotaFailure:
            member(
                "violations",
                array: { list in
                    list.object {
                        $0.member("subject", "project")
                        $0.member("description", "Messages of this project per minute")
                    }
                })
        case .badRequest(let violations):
            member(
                "fieldViolations",
                array: { list in
                    for violation in violations {
                        list.object {
                            $0.member("field", violation.field)
                            $0.member("description", violation.description)
                        }
                    }
                })
        case .errorInfo(let reason, let domain):
            member("reason", reason)
            member("domain", domain)
        }
    }
}

extension GoogleError.Detail {
    fileprivate var type: String {
        switch self {
        case .fcm: "google.firebase.fcm.v1.FcmError"
        case .apns: "google.firebase.fcm.v1.ApnsError"
        case .quotaFailure: "google.rpc.QuotaFailure"
        case .badRequest: "google.rpc.BadRequest"
        case .errorInfo: "google.rpc.ErrorInfo"
        }
    }
}
