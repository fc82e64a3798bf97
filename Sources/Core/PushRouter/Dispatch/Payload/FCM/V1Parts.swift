public import PushModel

/// The members of an FCM v1 message that matter for decisions, read in one pass.
struct V1Parts: Sendable {
    private(set) var name: JSONView?
    /// The targets of the message, and their number.
    private(set) var fid, token, topic, condition: JSONView?
    private(set) var targets = 0
    private(set) var data, notification, android, androidV2, apns, webpush: JSONView?
    /// Whether there are members other than a token, data, the notification and the Android part.
    private var hasOthers = false

    /// - Parameter message: the object `message`. In protobuf JSON `null` means absent.
    init(_ message: JSONView) {
        var hasSnakeCase = false
        for (key, value) in message.members {
            if value.kind == .null {
                hasOthers = true
            } else if key.equals("token") {
                token = value
                targets += 1
            } else if key.equals("data") {
                data = value
            } else if key.equals("android") {
                android = value
            } else if key.equals("notification") {
                notification = value
            } else {
                hasOthers = true
                if key.equals("apns") {
                    apns = value
                } else if key.equals("webpush") {
                    webpush = value
                } else if key.equals("name") {
                    name = value
                } else if key.equals("topic") {
                    topic = value
                    targets += 1
                } else if key.equals("condition") {
                    condition = value
                    targets += 1
                } else if key.equals("fid") {
                    fid = value
                    targets += 1
                } else if key.equals("android_v2") {
                    androidV2 = value
                    hasSnakeCase = true
                } else if key.equals("androidV2"), !hasSnakeCase {
                    androidV2 = value
                }
            }
        }
    }
}

// The fast check.
extension V1Parts {
    /// FCM's limit of a message in bytes: keys and values of the data and of the notification.
    ///
    /// Source: Google's "About FCM messages": 4 KB for both kinds of message. The way Google counts is UNVERIFIED. The
    /// measured limits differ and are higher: 4,505 bytes in one value of the data (davideast/pyric), 4,816 in the body
    /// of a notification (sh1nj1/plan42#1447). Google's page on errors gives 2,048 bytes for a message to a topic, but
    /// the message with 4,505 bytes went to a topic.
    static let sizeLimit = 4096

    /// Whether the message surely passes the full check, because it is like almost all messages: to a token, with data,
    /// a simple notification, and the usual Android fields. `false` decides nothing.
    var areKnownValid: Bool {
        guard !hasOthers, let token, token.isString, token.textLength > 0, rawSize <= Self.sizeLimit else {
            return false
        }
        return isKnownValid(data) && isKnownValid(android, field: Self.isKnownValidForAndroid)
            && isKnownValid(notification, field: Self.isKnownValidInNotification)
    }

    /// The bytes of the JSON of data and notification: at least as many as those that FCM counts.
    private var rawSize: Int { (data?.rawBytes.count ?? 0) + (notification?.rawBytes.count ?? 0) }

    private func isKnownValid(_ data: JSONView?) -> Bool {
        guard let data else { return true }
        guard data.isObject else { return false }
        for (key, value) in data.members where !value.isString || Self.isRefused(key) { return false }
        return true
    }

    private func isKnownValid(
        _ object: JSONView?, field isKnownValid: (_ key: JSONView, _ value: JSONView) -> Bool
    ) -> Bool {
        guard let object else { return true }
        guard object.isObject else { return false }
        for (key, value) in object.members where !isKnownValid(key, value) { return false }
        return true
    }

    private static func isKnownValidForAndroid(_ key: JSONView, _ value: JSONView) -> Bool {
        guard value.isString else { return false }
        if key.equals("priority") {
            // Firebase's library for Node sends them in lower case.
            return value.equals("high") || value.equals("HIGH") || value.equals("normal") || value.equals("NORMAL")
        }
        if key.equals("ttl") { return V1Duration(value)?.isTaken == true }
        return key.equals("collapse_key") || key.equals("restricted_package_name")
    }

    private static func isKnownValidInNotification(_ key: JSONView, _ value: JSONView) -> Bool {
        value.isString && (key.equals("title") || key.equals("body") || key.equals("image"))
    }

    /// Whether FCM refuses a key of data. The reference and the discovery document name these; FCM overwrites other
    /// keys that it uses, such as `collapse_key`.
    static func isRefused(_ key: JSONView) -> Bool {
        switch key.firstRawByte {
        case UInt8(ascii: "f"), UInt8(ascii: "m"), UInt8(ascii: "g"), UInt8(ascii: "\\"):
            key.equals("from") || key.equals("message_type") || key.equals("gcm") || key.starts(withName: "google")
                || key.starts(withName: "gcm.notification.")
        default: false
        }
    }
}

/// The send body of FCM v1 for a forwarder: checked as FCM checks it, with its target.
public struct V1Body: Sendable {
    /// The one target of a message.
    public enum Recipient: Hashable, Sendable {
        /// A registration token.
        case token(String)
        /// An installation id, the second generation's name of a registration.
        case fid(String)
        /// A topic, without `/topics/` before it.
        case topic(String)
        /// A condition over topics; not checked here.
        case condition(String)
    }

    /// The whole body, unchanged.
    public let payload: JSONNode
    /// The target.
    public let recipient: Recipient
    /// `validate_only`: FCM checks the message and sends nothing.
    public let isDryRun: Bool
    /// The platform of the message's only part; `nil`: it has several, or none.
    public let onlyPlatform: Platform?
    /// `restricted_package_name` in the Android part.
    public let package: String?

    /// Checks a body.
    ///
    /// - Throws: `V1Refusal` for the first fault that FCM refuses.
    public init(_ body: JSONNode) throws(V1Refusal) {
        payload = body
        (recipient, isDryRun, onlyPlatform, package) = try body.withView { (view) throws(V1Refusal) in
            guard let message = V1Message.message(in: view, platform: .android) else {
                // An absent message is one without a target (UNVERIFIED).
                var answer = V1Answer.noRecipient
                do throws(V1Fault) { try V1Schema.body.check(view) } catch { answer = error.answer(in: view) }
                throw V1Refusal(answer, "payload.message", "FCM v1 needs an object called message")
            }
            let checked = try V1Message(view, message: message)
            return (
                checked.recipient, checked.validateOnly, checked.onlyPlatform,
                checked.androidPart?.protobufField("restricted_package_name", "restrictedPackageName")?.string
            )
        }
    }
}

// Names.
extension V1Body {
    /// Whether FCM refuses data with a key, which it keeps for itself.
    public static func keepsForItself(_ key: String) -> Bool {
        key == "from" || key == "message_type" || key == "gcm" || key.hasPrefix("google")
            || key.hasPrefix("gcm.notification.")
    }

    /// Whether a payload has the form of a send body, and not of an app's own object.
    public static func isBody(_ payload: JSONNode, on platform: Platform) -> Bool {
        payload.withView { V1Message.message(in: $0, platform: platform) != nil }
    }

    /// The valid form of a topic's name, for messages.
    public static let topicForm = "a topic is 1 to 900 of A-Z, a-z, 0-9 and -_.~%, without /topics/ before it"

    /// Whether a text is a valid topic name.
    ///
    /// Source: the discovery document, revision 20261023: `[a-zA-Z0-9-_.~%]{1,900}`.
    public static func isTopic(_ name: String) -> Bool { name.withBytes(isTopic) }

    static func isTopic(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        1...900 ~= name.count && name.allSatisfy(isTopicCharacter)
    }

    private static func isTopicCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}

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

    /// The text of an answer that does not describe the fault.
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
