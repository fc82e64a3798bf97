import PushModel

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
    /// Source: Google's "About FCM messages", 4 KB for both kinds of message. Measured limits are higher, and differ: 4,505
    /// bytes in one value of the data (davideast/pyric), 4,816 in the body of a notification (sh1nj1/plan42#1447); how
    /// Google counts is UNVERIFIED. Its page on errors gives topics 2,048, but the 4,505 bytes were to a topic.
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
        if key.equals("priority") { return value.equals("HIGH") || value.equals("NORMAL") }
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
