import PushModel

/// An Android payload: what FCM puts into the intent, or hands over as a `RemoteMessage`.
struct AndroidPayload: PlatformPayload {
    /// What came, with what the getters of a `RemoteMessage` are read from.
    enum Form: Sendable {
        /// A send body of FCM v1.
        case v1(V1Message)
        /// The extras of FCM's intent, its own keys among them.
        case intent(JSONNode)
        /// The extras of an intent of Amazon Device Messaging, which keeps no keys to itself.
        case amazonIntent
        /// An object like a `RemoteMessage`, with `data` or `notification`.
        case remoteMessage(JSONNode)
        /// The data map alone: `RemoteMessage.getData`, or what Huawei's push kit hands over.
        case dataMap
    }

    /// What FCM does about a notification.
    enum Notification: Sendable {
        case absent
        case shown
        /// `gcm.n.noui`: neither shown nor handed to the app.
        case suppressed
    }

    let form: Form
    /// What the intent asks for; in any other form, to take a message.
    let action: IntentAction
    let messageID: String?
    /// The object that holds the data; of an intent, all the extras. An intent that brings no message has no data.
    let map: JSONNode?
    /// Whether it has an object `aps`, as payloads for iOS do.
    let hasAppleObject: Bool

    init(_ payload: JSONNode) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: payload, platform: .android)
        hasAppleObject = (payload["userInfo"] ?? payload)["aps"]?.kind == .object
        if let message = V1Message.message(in: payload, platform: .android) {
            let v1 = try V1Message(payload, message: message)
            form = .v1(v1)
            action = .message
            map = v1.androidData
            return
        }
        if let extras = payload["extras"], extras.kind == .object {
            let name = try payload["action"].flatMap(Self.unlessNull)?.requiringString("payload.action")
            action = IntentAction(name, extras: extras)
            form = action == .amazonMessage ? .amazonIntent : .intent(extras)
            map = action.bringsMessage ? extras : nil
            return
        }
        action = .message
        let data = payload["data"]
        let block = payload["notification"]
        guard data?.kind == .object || block?.kind == .object else {
            form = .dataMap
            map = payload
            return
        }
        form = .remoteMessage(payload)
        map = try data.flatMap(Self.unlessNull)?.requiringObject("payload.data")
        _ = try block.flatMap(Self.unlessNull)?.requiringObject("payload.notification")
    }

    /// A payload names no app; FCM's `restricted_package_name` only narrows the target.
    var app: String? { nil }

    var validateOnly: Bool {
        if case .v1(let message) = form { message.validateOnly } else { false }
    }

    subscript(key: String) -> JSONNode? {
        guard let value = map?[key] else { return nil }
        return isVisible(key) ? value : nil
    }

    var digest: UInt64? { stableDigest(ofMembers: map?.members.filter { isVisible($0.key) } ?? []) }

    var keySketch: KeySketch { KeySketch(keysOf: map) }

    func hasKey(beginningWith prefix: String) -> Bool {
        map?.hasKey(beginningWith: prefix, where: isVisible) == true
    }

    var keyCount: Int {
        hidesReservedKeys ? map?.members.count { isVisible($0.key) } ?? 0 : map?.count ?? 0
    }

    func dashboardValue(_ key: String) -> JSONNode? {
        // ADM has no `extra`: it puts the pairs beside the other keys.
        guard let extra = map?["extra"] else { return self[key] }
        return BrazeExtra(extra)?.pairs[key]
    }

    private func isVisible(_ key: String) -> Bool { !hidesReservedKeys || !Self.isReserved(key) }

    /// What FCM's list of recent ids goes by. `handleMessageIntent` looks at this one extra alone; the forms that are no
    /// intent show only the id that came of it. ADM keeps no such list.
    var duplicateID: String? {
        switch form {
        case .intent(let extras):
            guard action == .message, let id = extras["google.message_id"]?.string, !id.isEmpty else { return nil }
            return id
        case .v1, .remoteMessage, .dataMap: return messageID
        case .amazonIntent: return nil
        }
    }

    var remoteMessage: RemoteMessage? {
        switch form {
        case .v1, .remoteMessage: RemoteMessage(self)
        case .intent: action == .message ? RemoteMessage(self) : nil
        case .amazonIntent, .dataMap: nil
        }
    }

    /// Whether FCM, in this form, has yet to take its own keys out of the data.
    var hidesReservedKeys: Bool {
        switch form {
        case .v1, .intent: true
        case .amazonIntent, .remoteMessage, .dataMap: false
        }
    }

    /// Whether FCM keeps a key from the app (FCM: `Constants.extractDeveloperDefinedPayload`).
    static func isReserved(_ key: String) -> Bool {
        key.hasPrefix("google.") || key.hasPrefix("gcm.") || key == "from" || key == "message_type"
            || key == "collapse_key"
    }

    private static func unlessNull(_ node: JSONNode) -> JSONNode? { node.kind == .null ? nil : node }
}

// FCM's own extras.
extension AndroidPayload {
    /// One of FCM's own extras as `Bundle.getString` gives it: what is no string is absent.
    func extra(_ key: String) -> String? {
        if case .v1(let message) = form { message.extra(key) } else { extraNode(key)?.string }
    }

    /// One of FCM's own extras that is a number, or the text of one.
    func integerExtra(_ key: String) -> Int64? {
        extraNode(key)?.int64 ?? extra(key).flatMap { Int64($0) }
    }

    /// What FCM does about a notification (FCM: `NotificationParams.isNotification`, and `getBoolean` for the mark that
    /// nothing is to be shown).
    var notification: Notification {
        switch form {
        case .v1(let message): return message.hasAndroidNotification ? .shown : .absent
        case .remoteMessage(let object): return object["notification"]?.kind == .object ? .shown : .absent
        case .amazonIntent, .dataMap: return .absent
        case .intent(let extras):
            guard
                extras["gcm.n.e"]?.equals("1") == true || extras["gcm.notification.e"]?.equals("1") == true
            else { return .absent }
            let mark = notificationExtra("noui")
            return mark == "1" || mark?.lowercased() == "true" ? .suppressed : .shown
        }
    }

    /// A parameter of the notification in an intent. The old prefix counts where the new one is absent, whatever its
    /// value (FCM: `NotificationParams.normalizePrefix`).
    func notificationExtra(_ name: String) -> String? {
        guard case .intent(let extras) = form else { return nil }
        return (extras["gcm.n." + name] ?? extras["gcm.notification." + name])?.string
    }

    private func extraNode(_ key: String) -> JSONNode? {
        switch form {
        case .intent(let extras): extras[key]
        case .remoteMessage(let object): Self.getters[key].flatMap { object[$0] }
        case .v1, .amazonIntent, .dataMap: nil
        }
    }

    /// What SDKs that print a `RemoteMessage` as JSON call the getters, by the extra that each reads.
    private static let getters = [
        "google.message_id": "messageId", "message_id": "message_id", "from": "from", "google.to": "to",
        "google.c.sender.id": "senderId", "message_type": "messageType", "collapse_key": "collapseKey",
        "google.sent_time": "sentTime", "google.ttl": "ttl", "google.original_priority": "originalPriority",
        "google.delivered_priority": "priority",
    ]
}
