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
    init(_ body: JSONView, message: JSONView) throws(V1Refusal) {
        parts = V1Parts(message)
        // A fast check accepts most bodies; only the full check makes messages about faults.
        if body.count == 1, parts.areKnownValid {
            validateOnly = false
        } else {
            do { try V1Schema.body.check(body) } catch { throw error.refusal(of: body) }
            validateOnly = body.protobufField("validate_only", "validateOnly")?.bool == true
            try check(length: message.rawBytes.count)
        }
    }

    /// Returns the checked message. The error has the fault in our words alone, without Google's answer.
    static func of(_ body: JSONView, message: JSONView) throws(PayloadError) -> V1Message {
        do { return try V1Message(body, message: message) } catch { throw error.error }
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

    /// The image for iOS, which only a service extension shows.
    var appleImage: String? {
        let own = parts.apns?.protobufField("fcm_options", "fcmOptions")?.protobufField("image")
        return (own ?? parts.notification?.protobufField("image"))?.string
    }

    /// Whether a click on the notification of FCM's own worker opens a page.
    var hasWebLink: Bool {
        let webpush = parts.webpush
        return webpush?.protobufField("fcm_options", "fcmOptions")?.protobufField("link") != nil
            || webpush?.protobufField("notification")?["click_action"] != nil
    }

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

    /// The platform of the message's only part; `nil`: it has several, or none.
    var onlyPlatform: Platform? {
        switch (androidPart != nil, parts.apns != nil, parts.webpush != nil) {
        case (true, false, false): .android
        case (false, true, false): .ios
        case (false, false, true): .web
        default: nil
        }
    }

    /// The header `TTL` of the web push, in seconds; `nil` without one.
    var webSecondsToLive: Int64? { webTTL?.value.string.flatMap { Int64($0) } }

    /// The header `TTL` of the web push. Header names are case-insensitive.
    private var webTTL: (key: JSONView, value: JSONView)? {
        parts.webpush?.protobufField("headers")?.members.first { $0.key.text.lowercased() == "ttl" }
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
    private func check(length: Int) throws(V1Refusal) {
        try checkTarget()
        if android != nil, androidV2 != nil {
            throw refusal(of: "android_v2", "FCM v1 takes android or android_v2, not both")
        }
        if remoteNotification != nil, androidV2?.protobufField("background_sync", "backgroundSync") != nil {
            throw refusal(of: "android_v2", "FCM v1 takes remote_notification or background_sync, not both")
        }
        if let payload = applePayload, payload.member("aps") == nil {
            throw refusal(
                of: "apns.payload.aps", "FCM v1 takes a payload for APNs with an object aps only", V1Answer.noAPS)
        }
        try checkTTL()
        try checkKeys(of: data, "data")
        try checkKeys(of: androidPart?.protobufField("data"), android == nil ? "android_v2.data" : "android.data")
        try checkKeys(of: parts.webpush?.protobufField("data"), "webpush.data")
        // The JSON is at least as long as the texts in it.
        if length > V1Parts.sizeLimit { try checkSize() }
        let link = parts.webpush?.protobufField("fcm_options", "fcmOptions")?.protobufField("link")?.string
        if let link, !link.lowercased().hasPrefix("https://") {
            throw refusal(of: "webpush.fcm_options.link", "FCM v1 takes links with https only")
        }
    }

    /// Returns the refusal of a field.
    ///
    /// - Parameters:
    ///   - field: the path below `message`.
    ///   - message: the fault, for people.
    ///   - answer: Google's answer, from the path in the body.
    private func refusal(
        of field: String, _ message: String, _ answer: (_ field: String) -> V1Answer = V1Answer.unseen
    ) -> V1Refusal {
        V1Refusal(answer("message.\(field)"), "payload.message.\(field)", message)
    }

    /// Checks that there is one target.
    private func checkTarget() throws(V1Refusal) {
        guard parts.targets == 1, let target = parts.fid ?? parts.token ?? parts.topic ?? parts.condition else {
            throw V1Refusal(
                parts.targets == 0 ? .noRecipient : .unseen("message"), "payload.message",
                "FCM v1 takes one of fid, token, topic and condition; this has "
                    + (parts.targets == 0 ? "none" : targetNames.joined(separator: " and ")))
        }
        guard target.textLength > 0 else {
            throw refusal(of: targetNames.first ?? "", "this names no target: it is empty") { field in
                if parts.condition != nil { return .badCondition }
                return parts.topic != nil ? .badTopic : .badToken(field: field)
            }
        }
        if let topic = parts.topic, !topic.withText(V1Body.isTopic) {
            throw refusal(of: "topic", V1Body.topicForm) { _ in .badTopic }
        }
    }

    private var targetNames: [String] {
        let targets = [
            ("fid", parts.fid), ("token", parts.token), ("topic", parts.topic), ("condition", parts.condition),
        ]
        return targets.filter { $0.1 != nil }.map(\.0)
    }

    private func checkTTL() throws(V1Refusal) {
        if let ttl, !ttl.isTaken {
            throw refusal(
                of: "\(android == nil ? "android_v2" : "android").ttl",
                "FCM v1 keeps a message for 0 to \(V1Duration.longestTTL) s, four weeks")
        }
        guard let (name, value) = webTTL else { return }
        guard value.withText({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }) else {
            throw refusal(
                of: "webpush.headers.\(name.text)",
                "this has to be a whole number of seconds; it is \(quoted(value.text))",
                V1Answer.badTTL)
        }
    }

    /// Throws for keys that FCM refuses.
    private func checkKeys(of data: JSONView?, _ path: String) throws(V1Refusal) {
        guard let data else { return }
        for (key, _) in data.members where V1Parts.isRefused(key) {
            let key = key.text
            throw refusal(
                of: "\(path).\(key)", "FCM keeps this key for itself: it answers \(V1Answer.reservedKeyText(key))"
            ) { _ in .reservedKey(key, in: "message.\(path)") }
        }
    }

    /// Throws for a message that is too large for Android, or for the web if the message has a part for the web. The
    /// platform of a token's device is unknown here.
    private func checkSize() throws(V1Refusal) {
        let webpush = parts.webpush
        let blocks = [
            ("Android", androidData, (android ?? remoteNotification)?.protobufField("notification")),
            webpush.map { ("the web", $0.protobufField("data") ?? data, $0.protobufField("notification")) },
        ]
        for case (let platform, let data, let own)? in blocks {
            var size = data?.size ?? 0
            size += own?.size ?? 0
            // A field of the platform's own notification replaces that of the common one.
            notification?.members.forEach { if own?[$0.key.text] == nil { size += $0.key.textLength + $0.value.size } }
            guard size > V1Parts.sizeLimit else { continue }
            throw V1Refusal(
                .tooLarge, "payload.message",
                "\(size) bytes of data and notification for \(platform), keys and values: FCM takes \(V1Parts.sizeLimit) "
                    + "and answers that the message is too large")
        }
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

    /// The size as FCM counts it: the keys and the values of an object, the text of a string.
    fileprivate var size: Int {
        if isObject { return members.reduce(0) { $0 + $1.key.textLength + $1.value.size } }
        return isString ? textLength : rawBytes.count
    }

    /// Returns the member under either spelling of protobuf JSON.
    @inline(__always)
    func protobufField(_ snakeCase: StaticString, _ lowerCamelCase: StaticString) -> JSONView? {
        protobufField(snakeCase) ?? protobufField(lowerCamelCase)
    }
}
