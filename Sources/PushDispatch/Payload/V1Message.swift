import PushModel

/// The body of a send request of FCM HTTP v1, checked as FCM checks it, for every platform that it has a part for.
///
/// Source: the discovery document, revision 20261023, and the reference's page on `ErrorCode`; the mapping to what a
/// device gets, `AndroidConfig` and `ApnsConfig` there. Both of protobuf JSON's spellings are accepted.
struct V1Message: Sendable {
    /// `validate_only`: FCM checks the message and sends nothing.
    let validateOnly: Bool
    private let message: JSONNode

    /// Checks the whole body, `message` in it and the parts for other platforms, as the server does.
    init(_ body: JSONNode, message: JSONNode) throws(PayloadError) {
        self.message = message
        try V1Schema.body.check(body, at: "payload")
        validateOnly = body.protobufField("validate_only", "validateOnly")?.bool == true
        try check()
    }

    /// The message of a send body, if `payload` is one. On iOS and the web an object called `message` may be the app's
    /// own: there it needs a name that a v1 message has, and no `aps` beside it.
    static func message(in payload: JSONNode, platform: Platform) -> JSONNode? {
        guard let message = payload["message"], message.kind == .object else { return nil }
        guard platform != .android else { return message }
        let isBody = payload["aps"] == nil && (targets + parts).contains { message[$0] != nil }
        return isBody ? message : nil
    }

    /// What an iOS app gets as `userInfo`.
    var applePayload: JSONNode? { message.protobufField("apns")?.protobufField("payload") }

    /// The headers of the request to APNs.
    var appleHeaders: JSONNode? { message.protobufField("apns")?.protobufField("headers") }

    /// The data, which FCM puts beside the keys of the APNs payload (UNVERIFIED).
    var data: JSONNode? { message.protobufField("data") }

    /// Whether FCM makes an alert for iOS of the notification block.
    var hasNotification: Bool { notification != nil }

    /// What a service worker gets: `webpush.data` replaces `data`.
    var webData: JSONNode? { message.protobufField("webpush")?.protobufField("data") ?? data }

    private static let targets = ["fid", "token", "topic", "condition"]
    private static let parts = ["data", "notification", "android", "apns", "webpush"]

    private var notification: JSONNode? { message.protobufField("notification") }
}

// What an Android app gets.
extension V1Message {
    /// `android.data` replaces `data`, it is not merged with it.
    var androidData: JSONNode? { androidPart?.protobufField("data") ?? data }

    /// Whether an Android app gets a notification message: the two blocks are merged field by field, so one is enough.
    var hasAndroidNotification: Bool {
        if notification != nil || android?.protobufField("notification") != nil { return true }
        guard let remoteNotification else { return false }
        return remoteNotification.protobufField("use_as_v1_data_message", "useAsV1DataMessage")?.bool != true
    }

    /// A field of the notification that an Android app gets: the part's own, else the one that all platforms share.
    func androidNotificationField(_ name: String) -> JSONNode? {
        let own = (android ?? remoteNotification)?.protobufField("notification")
        return own?.protobufField(name, V1Schema.lowerCamelCase(name)) ?? notification?.protobufField(name)
    }

    /// The extra of FCM's intent that Google Play services make of the message. What they write for a message is not
    /// public (UNVERIFIED); these follow from the getters of `RemoteMessage` that read them.
    func extra(_ key: String) -> String? {
        switch key {
        case "google.message_id": messageID(ofV1: message)
        case "from": message.protobufField("topic")?.string.map { "/topics/" + $0 }
        case "collapse_key": androidPart?.protobufField("collapse_key", "collapseKey")?.string
        case "google.ttl": String(ttl?.seconds ?? Self.longestTTL)
        case "google.original_priority", "google.delivered_priority": isHighPriority ? "high" : "normal"
        default: nil
        }
    }

    /// The preview generation of `android`. FCM translates it for clients that do not know it.
    var androidV2: JSONNode? { message.protobufField("android_v2", "androidV2") }

    private var android: JSONNode? { message.protobufField("android") }
    private var androidPart: JSONNode? { android ?? androidV2 }
    private var remoteNotification: JSONNode? {
        androidV2?.protobufField("remote_notification", "remoteNotification")
    }

    private var ttl: V1Duration? { androidPart?.protobufField("ttl")?.string.flatMap(V1Duration.init) }

    /// Four weeks, in seconds; also what a message without `ttl` gets.
    private static let longestTTL: Int64 = 2_419_200

    /// Without `priority`, a notification is urgent and data is not; the preview has none, its kind decides.
    private var isHighPriority: Bool {
        if androidV2 != nil { return remoteNotification != nil }
        guard let priority = android?.protobufField("priority") else { return hasAndroidNotification }
        return priority.string?.uppercased() == "HIGH" || priority.int64 == 1
    }
}

// What the server looks at beyond the types.
extension V1Message {
    private func check() throws(PayloadError) {
        let target = try checkTarget()
        if android != nil, androidV2 != nil {
            throw PayloadError(
                field: "payload.message.android_v2", message: "FCM v1 takes android or android_v2, not both")
        }
        if remoteNotification != nil, androidV2?.protobufField("background_sync", "backgroundSync") != nil {
            throw PayloadError(
                field: "payload.message.android_v2",
                message: "FCM v1 takes remote_notification or background_sync, not both")
        }
        // The server's own words, as fcm-cloudflare-workers#10 has them.
        if let payload = applePayload, payload["aps"] == nil {
            throw PayloadError(
                field: "payload.message.apns.payload.aps",
                message: "FCM v1: Payload of Apple Push Notification Service must contain an [aps] key")
        }
        try checkTTL()
        // Data of a topic has half the room.
        let limit = target == "topic" || target == "condition" ? 2048 : 4096
        try checkData(data, at: "payload.message.data", limit: limit)
        let part = android == nil ? "android_v2" : "android"
        try checkData(androidPart?.protobufField("data"), at: "payload.message.\(part).data", limit: limit)
        let webpush = message.protobufField("webpush")
        try checkData(webpush?.protobufField("data"), at: "payload.message.webpush.data", limit: limit)
        let link = webpush?.protobufField("fcm_options", "fcmOptions")?.protobufField("link")?.string
        if let link, !link.lowercased().hasPrefix("https://") {
            throw PayloadError(
                field: "payload.message.webpush.fcm_options.link", message: "FCM v1 takes links with https only")
        }
    }

    /// Which target there is.
    private func checkTarget() throws(PayloadError) -> String {
        let found = Self.targets.filter { message.protobufField($0) != nil }
        guard let name = found.first, found.count == 1 else {
            let names = found.isEmpty ? "none" : found.joined(separator: " and ")
            throw PayloadError(
                field: "payload.message",
                message: "FCM v1 takes one of fid, token, topic and condition; this has \(names)")
        }
        let field = "payload.message.\(name)"
        guard let target = message.protobufField(name)?.string, !target.isEmpty else {
            throw PayloadError(field: field, message: "this names no target: it is empty")
        }
        if name == "topic", !target.utf8.allSatisfy(Self.isTopicCharacter) || target.utf8.count > 900 {
            throw PayloadError(
                field: field,
                message: "a topic is 1 to 900 of A-Z, a-z, 0-9 and -_.~%, without /topics/ before it")
        }
        return name
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

    private func checkTTL() throws(PayloadError) {
        guard let ttl else { return }
        guard !ttl.isNegative, ttl.seconds < Self.longestTTL || ttl.seconds == Self.longestTTL && !ttl.hasFraction
        else {
            throw PayloadError(
                field: "payload.message.\(android == nil ? "android_v2" : "android").ttl",
                message: "FCM v1 keeps a message for 0 to \(Self.longestTTL) s, four weeks")
        }
    }

    /// Keys that FCM refuses, and the size: keys and values counted.
    private func checkData(_ data: JSONNode?, at path: String, limit: Int) throws(PayloadError) {
        guard let data else { return }
        for (key, _) in data.members where Self.isRefused(key) {
            throw PayloadError(
                field: "\(path).\(key)",
                message: "FCM keeps this key for itself: it answers Invalid data payload key: \(key)")
        }
        let size = data.textBytes
        guard size <= limit else {
            throw PayloadError(
                field: path,
                message: "\(size) bytes of keys and values: FCM takes \(limit) and answers that the message is too big")
        }
    }

    /// The reference and the discovery document name these; others that FCM uses, like `collapse_key`, it overrides.
    private static func isRefused(_ key: String) -> Bool {
        key == "from" || key == "message_type" || key == "gcm" || key.hasPrefix("google")
            || key.hasPrefix("gcm.notification.")
    }
}

extension JSONNode {
    /// The member under a name that both spellings share. In protobuf JSON `null` is as good as absent.
    func protobufField(_ name: String) -> JSONNode? {
        guard let value = self[name], value.kind != .null else { return nil }
        return value
    }

    /// The member under either of protobuf JSON's spellings.
    func protobufField(_ snakeCase: String, _ lowerCamelCase: String) -> JSONNode? {
        protobufField(snakeCase) ?? protobufField(lowerCamelCase)
    }

    /// The bytes of an object's keys and of its values as text.
    var textBytes: Int { members.reduce(0) { $0 + $1.key.utf8.count + $1.value.text.utf8.count } }
}
