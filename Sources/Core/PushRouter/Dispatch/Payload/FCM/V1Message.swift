import PushModel

/// The body of a send request of FCM HTTP v1, checked as FCM checks it, with the parts for all platforms.
///
/// Source: the discovery document, revision 20261023, and the reference's page on `ErrorCode`; for the mapping to the
/// device's payload, `AndroidConfig` and `ApnsConfig` there. Both spellings of protobuf JSON are accepted.
///
/// It consists of views, so the owner must keep their document alive.
final class V1Message: Sendable {
    /// `validate_only`: FCM checks the message and sends nothing.
    let validateOnly: Bool
    private let parts: V1Parts

    /// Checks the whole body, `message` and the parts for all platforms, as the server does.
    init(_ body: JSONView, message: JSONView) throws(PayloadError) {
        parts = V1Parts(message)
        // A fast check accepts most bodies; only the full check makes messages about faults.
        if body.count == 1, parts.areKnownValid {
            validateOnly = false
        } else {
            do { try V1Schema.body.check(body) } catch { throw error.payloadError(in: body) }
            validateOnly = body.protobufField("validate_only", "validateOnly")?.bool == true
            try check()
        }
    }

    /// Returns the message of a send body; `nil` if `payload` is none. On iOS and the web an object `message` may
    /// belong to the app: there it needs a field of a v1 message, and no `aps` next to it.
    static func message(in payload: JSONView, platform: Platform) -> JSONView? {
        guard let message = payload.member("message"), message.isObject else { return nil }
        switch platform {
        case .android: return message
        case .ios, .web: break
        }
        let isBody =
            payload.member("aps") == nil
            && (message.member("fid") != nil || message.member("token") != nil || message.member("topic") != nil
                || message.member("condition") != nil || message.member("data") != nil
                || message.member("notification") != nil || message.member("android") != nil
                || message.member("apns") != nil || message.member("webpush") != nil)
        return isBody ? message : nil
    }

    /// The `userInfo` of an iOS app.
    var applePayload: JSONView? { parts.apns?.protobufField("payload") }

    /// The headers of the request to APNs.
    var appleHeaders: JSONView? { parts.apns?.protobufField("headers") }

    /// The id in the message itself.
    var messageID: String? { parts.name.flatMap(messageIDInName) }

    /// The data, which FCM adds on iOS to the keys of the APNs payload (UNVERIFIED).
    var data: JSONView? { parts.data }

    /// Whether FCM makes an iOS alert of the notification block.
    var hasNotification: Bool { parts.notification != nil }

    /// Returns the object that a service worker gets in its push event: `webpush.data` replaces `data`, and the fields
    /// of `webpush.notification` those of `notification`.
    ///
    /// - Parameter id: the message id; `nil`: none is known.
    func webEvent(id: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            let own = parts.webpush?.protobufField("notification")
            if own != nil || parts.notification != nil {
                writer.member(
                    "notification",
                    object: { block in
                        own?.members.forEach { block.member($0.key.text, raw: $0.value.rawBytes) }
                        parts.notification?.members.forEach { field in
                            if own?[field.key.text] == nil { block.member(field.key.text, raw: field.value.rawBytes) }
                        }
                    })
            }
            if let data = parts.webpush?.protobufField("data") ?? data { writer.member("data", raw: data.rawBytes) }
            if let topic = parts.topic?.string { writer.member("from", "/topics/" + topic) }
            writer.member("fcmMessageId", id)
        }
        return writer.bytes
    }

    /// The target of a checked message.
    var recipient: V1Body.Recipient {
        if let token = parts.token { return .token(token.text) }
        if let fid = parts.fid { return .fid(fid.text) }
        if let topic = parts.topic { return .topic(topic.text) }
        return .condition(parts.condition?.text ?? "")
    }

    /// The platforms for which the message has a part.
    var platforms: Set<Platform> {
        var platforms: Set<Platform> = []
        if androidPart != nil { platforms.insert(.android) }
        if parts.apns != nil { platforms.insert(.ios) }
        if parts.webpush != nil { platforms.insert(.web) }
        return platforms
    }

    /// The header `TTL` of the web push, in seconds; `nil` without one. Header names are case-insensitive.
    var webSecondsToLive: Int64? {
        parts.webpush?.protobufField("headers")?.members.first { $0.key.text.lowercased() == "ttl" }
            .flatMap { $0.value.string }.flatMap { Int64($0) }
    }
}

// The payload of an Android app.
extension V1Message {
    /// `android.data` replaces `data` without merging.
    var androidData: JSONView? { androidPart?.protobufField("data") ?? data }

    /// Whether an Android app gets a notification message: FCM merges the two blocks field by field, so one is enough.
    var hasAndroidNotification: Bool {
        if notification != nil || android?.protobufField("notification") != nil { return true }
        guard let remoteNotification else { return false }
        return remoteNotification.protobufField("use_as_v1_data_message", "useAsV1DataMessage")?.bool != true
    }

    /// Returns a field of the Android app's notification: the Android part's field, or the one for all platforms.
    func androidNotificationField(_ name: String) -> JSONView? {
        func field(_ name: String, of object: JSONView?) -> JSONView? {
            object?[name].flatMap { $0.kind == .null ? nil : $0 }
        }
        let own = (android ?? remoteNotification)?.protobufField("notification")
        return field(name, of: own) ?? field(V1Schema.lowerCamelCase(name), of: own) ?? field(name, of: notification)
    }

    /// Returns the extra of FCM's intent that Google Play services make of the message. The extras that they write are
    /// not public (UNVERIFIED); these follow from the getters of `RemoteMessage` that read them.
    func extra(_ key: String) -> String? {
        switch key {
        case "google.message_id": messageID
        case "from": parts.topic?.string.map { "/topics/" + $0 }
        case "collapse_key": androidPart?.protobufField("collapse_key", "collapseKey")?.string
        case "google.ttl": String(ttl?.seconds ?? V1Duration.longestTTL)
        case "google.original_priority", "google.delivered_priority": priority.rawValue
        default: nil
        }
    }

    /// The preview generation of `android`. FCM translates it for clients that do not support it.
    var androidV2: JSONView? { parts.androidV2 }

    private var android: JSONView? { parts.android }
    private var notification: JSONView? { parts.notification }
    var androidPart: JSONView? { android ?? androidV2 }
    private var remoteNotification: JSONView? {
        androidV2?.protobufField("remote_notification", "remoteNotification")
    }

    /// `android.ttl` in whole seconds, rounded up; `nil` without one.
    var secondsToLive: Int64? { ttl.map { $0.seconds + ($0.hasFraction ? 1 : 0) } }

    private var ttl: V1Duration? { androidPart?.protobufField("ttl").flatMap(V1Duration.init) }

    /// The priority at which FCM sends the message.
    var priority: MessagePriority { isHighPriority ? .high : .normal }

    /// Without `priority`, a notification has high priority and data has not. The preview has no `priority`; its kind
    /// decides.
    private var isHighPriority: Bool {
        if androidV2 != nil { return remoteNotification != nil }
        guard let priority = android?.protobufField("priority") else { return hasAndroidNotification }
        return priority.isString ? priority.withText { $0.isHigh } : priority.int64 == 1
    }
}

// The server's checks beyond the types.
extension V1Message {
    private func check() throws(PayloadError) {
        let isForMany = try checkTarget()
        if android != nil, androidV2 != nil {
            throw PayloadError(
                field: "payload.message.android_v2", message: "FCM v1 takes android or android_v2, not both")
        }
        if remoteNotification != nil, androidV2?.protobufField("background_sync", "backgroundSync") != nil {
            throw PayloadError(
                field: "payload.message.android_v2",
                message: "FCM v1 takes remote_notification or background_sync, not both")
        }
        // The server's own text, from fcm-cloudflare-workers#10.
        if let payload = applePayload, payload.member("aps") == nil {
            throw PayloadError(
                field: "payload.message.apns.payload.aps",
                message: "FCM v1: Payload of Apple Push Notification Service must contain an [aps] key")
        }
        try checkTTL()
        // The limit of data to a topic is half the usual one.
        let limit = isForMany ? V1Parts.dataLimitOfTopics : 2 * V1Parts.dataLimitOfTopics
        try checkData(data, of: nil, limit: limit)
        try checkData(androidPart?.protobufField("data"), of: android == nil ? "android_v2" : "android", limit: limit)
        try checkData(parts.webpush?.protobufField("data"), of: "webpush", limit: limit)
        let link = parts.webpush?.protobufField("fcm_options", "fcmOptions")?.protobufField("link")?.string
        if let link, !link.lowercased().hasPrefix("https://") {
            throw PayloadError(
                field: "payload.message.webpush.fcm_options.link", message: "FCM v1 takes links with https only")
        }
    }

    /// Checks that there is one target, and returns whether it may stand for many devices.
    private func checkTarget() throws(PayloadError) -> Bool {
        guard parts.targets == 1, let target = parts.fid ?? parts.token ?? parts.topic ?? parts.condition else {
            throw PayloadError(
                field: "payload.message",
                message: "FCM v1 takes one of fid, token, topic and condition; this has "
                    + (parts.targets == 0 ? "none" : targetNames.joined(separator: " and ")))
        }
        guard target.textLength > 0 else {
            throw PayloadError(
                field: "payload.message.\(targetNames.first ?? "")", message: "this names no target: it is empty")
        }
        if let topic = parts.topic, !topic.withText(V1Body.isTopic) {
            throw PayloadError(field: "payload.message.topic", message: V1Body.topicForm)
        }
        return parts.topic != nil || parts.condition != nil
    }

    private var targetNames: [String] {
        let targets = [
            ("fid", parts.fid), ("token", parts.token), ("topic", parts.topic), ("condition", parts.condition),
        ]
        return targets.filter { $0.1 != nil }.map(\.0)
    }

    private func checkTTL() throws(PayloadError) {
        guard let ttl else { return }
        guard ttl.isTaken else {
            throw PayloadError(
                field: "payload.message.\(android == nil ? "android_v2" : "android").ttl",
                message: "FCM v1 keeps a message for 0 to \(V1Duration.longestTTL) s, four weeks")
        }
    }

    /// Throws for keys that FCM refuses, and for keys and values over the size limit.
    ///
    /// - Parameter part: the part of the message with the data; `nil`: the message itself.
    private func checkData(_ data: JSONView?, of part: String?, limit: Int) throws(PayloadError) {
        guard let data else { return }
        var refused: JSONView?
        for (key, _) in data.members where V1Parts.isRefused(key) {
            refused = key
            break
        }
        // The raw JSON is at least as long as the texts in it.
        let size = data.rawBytes.count <= limit ? 0 : data.textBytesOfMembers
        guard refused != nil || size > limit else { return }
        let path = "payload.message.\(part.map { "\($0)." } ?? "")data"
        if let key = refused?.text {
            throw PayloadError(
                field: "\(path).\(key)",
                message: "FCM keeps this key for itself: it answers Invalid data payload key: \(key)")
        }
        throw PayloadError(
            field: path,
            message: "\(size) bytes of keys and values: FCM takes \(limit) and answers that the message is too big")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the text is `HIGH` in any case.
    fileprivate var isHigh: Bool {
        guard count == 4 else { return false }
        return self[0] | 0x20 == UInt8(ascii: "h") && self[1] | 0x20 == UInt8(ascii: "i")
            && self[2] | 0x20 == UInt8(ascii: "g") && self[3] | 0x20 == UInt8(ascii: "h")
    }
}

extension JSONView {
    /// Returns the member of a name with one spelling. In protobuf JSON `null` means absent.
    @inline(__always)
    func protobufField(_ name: StaticString) -> JSONView? {
        guard let value = member(name), value.kind != .null else { return nil }
        return value
    }

    /// The size of an object's keys and texts in bytes.
    fileprivate var textBytesOfMembers: Int { members.reduce(0) { $0 + $1.key.textLength + $1.value.textLength } }

    /// Returns the member under either spelling of protobuf JSON.
    @inline(__always)
    func protobufField(_ snakeCase: StaticString, _ lowerCamelCase: StaticString) -> JSONView? {
        protobufField(snakeCase) ?? protobufField(lowerCamelCase)
    }
}
