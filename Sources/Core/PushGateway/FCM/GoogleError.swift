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

    /// Google's text for an error that has no text of its own.
    var text: String {
        switch self {
        case .invalidArgument: V1Answer.anyText
        case .failedPrecondition: "Precondition check failed."
        case .unauthenticated: "Request had invalid authentication credentials."
        case .permissionDenied: "The caller does not have permission"
        case .notFound: "Requested entity was not found."
        case .alreadyExists: "Requested entity already exists"
        case .resourceExhausted: "Resource has been exhausted (e.g. check quota)."
        case .internalError: "Internal error encountered."
        case .unavailable: "The service is currently unavailable."
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
        /// The wrong fields; may be empty.
        case badRequest([V1Answer.Violation])
        /// Our explanation, where Google's path counts the entries of a map and names no key.
        case debug(String)
        /// A reason of one of Google's services.
        case errorInfo(reason: String, domain: String)
    }

    /// The status.
    public let status: GoogleStatus
    /// The error in Google's words: programs compare it.
    public let message: String
    /// Further facts, for programs.
    let details: [Detail]
    /// The seconds of `Retry-After`; `nil` for an answer without one.
    let retryAfter: Int64?
    /// The cause, for people, where the message does not tell it.
    private var cause: String?

    /// Joins the parts.
    init(_ status: GoogleStatus, _ message: String? = nil, _ details: [Detail] = [], retryAfter: Int64? = nil) {
        self.status = status
        self.message = message ?? status.text
        self.details = details
        self.retryAfter = retryAfter
    }

    /// Creates the error that FCM gives with a code.
    ///
    /// Source: the texts in public senders that match them (rails/action_push_native#141); Google's "FCM error codes":
    /// QUOTA_EXCEEDED comes with QuotaFailure, and THIRD_PARTY_AUTH_ERROR with the answer of APNs.
    init(fcm code: FCMErrorCode, retryAfter: Int64? = nil) {
        let (message, more): (String?, [Detail]) =
            switch code {
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
            case .unspecified: ("An unspecified error occurred.", [])
            case .unregistered, .unregisteredFID, .unavailable, .internalError, .invalidArgument: (nil, [])
            }
        self.init(code.status, message, [.fcm(code)] + more, retryAfter: retryAfter)
    }

    /// Creates the error of an answer to a send body, with its cause.
    ///
    /// - Parameter cause: the path of the fault in the request, and the fault.
    init(_ answer: V1Answer, cause: String) {
        let error = GoogleError(answer)
        guard case .malformed(let places) = answer, places.contains(where: { $0.field?.contains("[") ?? false }) else {
            self = error.caused(by: cause)
            return
        }
        self = GoogleError(error.status, error.message, error.details + [.debug(cause)]).caused(by: cause)
    }

    /// Creates the error of an answer to a send body.
    ///
    /// The order of the details is that of davideast/pyric and of most other answers: only a malformed token has FCM's code
    /// first.
    init(_ answer: V1Answer) {
        let code = Detail.fcm(.invalidArgument)
        let (message, details): (String?, [Detail]) =
            switch answer {
            case .malformed(let places): (places.map(\.description).joined(separator: "\n"), [.badRequest(places)])
            case .refused(let place): (place.description, [.badRequest([place]), code])
            case .badToken(let field):
                (
                    V1Answer.tokenText,
                    [code, .badRequest([V1Answer.Violation(field: field, description: V1Answer.tokenText)])]
                )
            case .tooLarge: (V1Answer.sizeText, [.badRequest([]), code])
            case .badCondition: (nil, [])
            }
        self.init(.invalidArgument, message, details)
    }

    /// Creates the error for a body that was not kept.
    init(_ fault: GatewayRequest.BodyFault) {
        let error =
            switch fault {
            case .tooLong: GoogleError(.tooLarge)
            case .notGzip: GoogleError(fcm: .invalidArgument)
            }
        self = error.caused(by: fault.description)
    }

    /// Checks the form of a registration token or an installation id.
    ///
    /// - Throws: FCM's error, with the cause.
    static func check(registration token: String, _ field: String) throws(GoogleError) {
        guard let cause = fault(inRegistration: token) else { return }
        throw GoogleError(.badToken(field: field)).caused(by: cause)
    }

    /// The fault of a token, for people; `nil` if its form is good. FCM knows more of its tokens than their form.
    static func fault(inRegistration token: String) -> String? {
        if token.isEmpty { return "the token is empty" }
        guard token.utf8.count <= TokenRequest.longestToken else {
            return "the token has \(token.utf8.count) bytes; the limit is \(TokenRequest.longestToken)"
        }
        let hasOther = token.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }
        return hasOther
            ? "the token has a space, a control character or one beyond ASCII: \(token.cut(toBytes: 64).showingControls())"
            : nil
    }

    /// Checks the form of a project in a path.
    static func check(project: String) throws(GoogleError) {
        guard !TopicName.isPart(project) else { return }
        throw GoogleError(.invalidArgument, "Invalid resource field value in the request.")
            .caused(
                by: "a project has no slash, space or control character: \(project.cut(toBytes: 64).showingControls())")
    }

    /// Returns the error for a message that FCM passed on and APNs refused.
    ///
    /// - Parameter code: FCM's code. For a wrong Apple key it is said to be ``FCMErrorCode/thirdPartyAuthError``; which
    ///   code comes in which case is unknown (UNVERIFIED).
    static func refusedByAPNs(
        statusCode: Int, reason: String, code: FCMErrorCode = .invalidArgument
    ) -> GoogleError {
        GoogleError(
            code.status, V1Answer.anyText,
            [.fcm(code), .apns(statusCode: statusCode, reason: reason)])
    }

    /// The error for a missing or invalid access token.
    static let badAccessToken = GoogleError(
        .unauthenticated, nil,
        [.errorInfo(reason: "ACCESS_TOKEN_TYPE_UNSUPPORTED", domain: "googleapis.com")])

    /// The error for a project without the FCM API enabled.
    static func disabled(project: String) -> GoogleError {
        GoogleError(
            .permissionDenied,
            "Firebase Cloud Messaging API has not been used in project \(project) before or it is disabled.",
            [.errorInfo(reason: "SERVICE_DISABLED", domain: "googleapis.com")])
    }

    /// The error for a missing entity.
    static let notFound = GoogleError(.notFound)

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
        case .badRequest(let violations) where violations.isEmpty: break
        case .badRequest(let violations):
            member(
                "fieldViolations",
                array: { list in
                    for violation in violations {
                        list.object {
                            if let field = violation.field { $0.member("field", field) }
                            $0.member("description", violation.description)
                        }
                    }
                })
        case .debug(let text): member("detail", text)
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
        case .debug: "google.rpc.DebugInfo"
        case .errorInfo: "google.rpc.ErrorInfo"
        }
    }
}
