/// Google's answer to a send body that FCM refuses, in Google's words.
///
/// Source: answers of the production server in davideast/pyric (`observations/messaging-admin`, July 2026),
/// vincedevendra/firebase_cloud_messenger#15, beste/firebase-php#341 and eladnava/fcm-v1-http2#5, and Google's page
/// "REST error codes for the HTTP v1 API".
public enum V1Answer: Hashable, Sendable {
    /// A wrong field and its error.
    public struct Violation: Hashable, Sendable {
        /// The path in Google's notation, such as `message.data[0].value`; `nil`: the body itself.
        public var field: String?
        /// The error in the field.
        public var description: String

        /// Joins the parts.
        public init(field: String?, description: String) {
            (self.field, self.description) = (field, description)
        }
    }

    /// Google's JSON parser refuses these places, before FCM sees the message.
    case malformed([Violation])
    /// FCM refuses the value of a field.
    case refused(Violation)
    /// A field has no registration token.
    case badToken(field: String)
    /// The message is too large. The answer names no field.
    case tooLarge
    /// FCM refuses the condition. The answer names no field: one of 2018 named it (firebase/quickstart-python#11), that
    /// of 2026 does not.
    case badCondition

    /// The text of an answer whose text tells nothing.
    public static let anyText = "Request contains an invalid argument."
    /// The text of ``badToken(field:)``.
    public static let tokenText = "The registration token is not a valid FCM registration token"
    /// The text of ``tooLarge``; before, it was `Android message is too big` (firebase/firebase-admin-go#580).
    public static let sizeText = "Message is too large. The maximum is 4K (4096 bytes)."

    /// The body has no target.
    static let noRecipient = refusal(of: "message", "Recipient of the message is not set.")
    /// The topic has an invalid name. The answer names the message as the field.
    static let badTopic = refusal(of: "message", "Topic name contains invalid characters.")
    /// The payload for APNs has no `aps` (celestifyhq/fcm-cloudflare-workers#10).
    static func noAPS(_ field: String) -> V1Answer {
        refusal(of: field, "Payload of Apple Push Notification Service must contain an [aps] key.")
    }
    /// The header `TTL` of a web push is no number of seconds.
    static func badTTL(_ field: String) -> V1Answer { refusal(of: field, "TTL must be a non-negative integer.") }
    /// FCM keeps a key of the data for itself. No answer shows the field (UNVERIFIED).
    static func reservedKey(_ key: String, in field: String) -> V1Answer { refusal(of: field, reservedKeyText(key)) }
    /// The text of ``reservedKey(_:in:)``.
    static func reservedKeyText(_ key: String) -> String { "Invalid data payload key: \(key)" }
    /// A field for which no answer of Google's was seen (UNVERIFIED).
    public static func unseen(_ field: String) -> V1Answer { refusal(of: field, anyText) }

    private static func refusal(of field: String, _ text: String) -> V1Answer {
        .refused(Violation(field: field, description: text))
    }
}

/// The reason why FCM refuses a send body.
public struct V1Refusal: Error, Hashable, Sendable {
    /// Google's answer.
    public var answer: V1Answer
    /// The path of the fault in the request, and the fault in our words.
    public var error: PayloadError

    init(_ answer: V1Answer, _ field: String, _ message: String) {
        self.answer = answer
        error = PayloadError(field: field, message: message)
    }
}
