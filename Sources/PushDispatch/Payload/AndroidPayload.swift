import PushModel

/// An Android payload: what FCM puts into the intent, or hands over as a `RemoteMessage`.
struct AndroidPayload: PlatformPayload {
    /// What came.
    enum Form: Sendable {
        /// A send body of FCM v1.
        case v1
        /// The extras of the intent, FCM's own keys among them.
        case intent
        /// `data` and `notification`, like a `RemoteMessage`.
        case remoteMessage
        /// The data map alone.
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
    let messageID: String?
    let validateOnly: Bool
    /// FCM's `message_type`; `nil` for a message. Only an intent has one.
    let messageType: String?
    let notification: Notification
    /// Whether it is a send body with the preview part `android_v2`.
    let isPreview: Bool
    /// The object that holds the data; of an intent, all the extras.
    let map: JSONNode?

    init(_ payload: JSONNode) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: payload, platform: .android)
        if let message = V1Message.message(in: payload, platform: .android) {
            let v1 = try V1Message(payload, message: message)
            form = .v1
            validateOnly = v1.validateOnly
            messageType = nil
            notification = v1.hasAndroidNotification ? .shown : .absent
            isPreview = v1.androidV2 != nil
            map = v1.androidData
            return
        }
        validateOnly = false
        isPreview = false
        if let extras = payload["extras"], extras.kind == .object {
            form = .intent
            messageType = extras["message_type"]?.string
            notification = Self.notification(in: extras)
            map = extras
            return
        }
        messageType = nil
        let data = payload["data"]
        let block = payload["notification"]
        guard data?.kind == .object || block?.kind == .object else {
            form = .dataMap
            notification = .absent
            map = payload
            return
        }
        form = .remoteMessage
        map = try data.flatMap(Self.unlessNull)?.requiringObject("payload.data")
        notification =
            try block.flatMap(Self.unlessNull)?.requiringObject("payload.notification") == nil ? .absent : .shown
    }

    /// A payload names no app; FCM's `restricted_package_name` only narrows the target.
    var app: String? { nil }

    subscript(key: String) -> JSONNode? {
        guard let value = map?[key] else { return nil }
        return isVisible(key) ? value : nil
    }

    var keySketch: KeySketch { KeySketch(keysOf: map) }

    func hasKey(beginningWith prefix: String) -> Bool {
        map?.hasKey(beginningWith: prefix, where: isVisible) == true
    }

    var keyCount: Int {
        form == .intent ? map?.members.count { isVisible($0.key) } ?? 0 : map?.count ?? 0
    }

    func dashboardValue(_ key: String) -> JSONNode? {
        // ADM has no `extra`: it puts the pairs beside the other keys.
        guard let extra = map?["extra"] else { return self[key] }
        return BrazeExtra(extra)?.pairs[key]
    }

    private func isVisible(_ key: String) -> Bool { form != .intent || !Self.isReserved(key) }

    /// Whether FCM keeps an extra from the app (FCM: `Constants.extractDeveloperDefinedPayload`).
    private static func isReserved(_ key: String) -> Bool {
        key.hasPrefix("google.") || key.hasPrefix("gcm.") || key == "from" || key == "message_type"
            || key == "collapse_key"
    }

    /// FCM: `NotificationParams.isNotification`, and `getBoolean` for the mark that nothing is to be shown.
    private static func notification(in extras: JSONNode) -> Notification {
        guard
            extras["gcm.n.e"]?.equals("1") == true || extras["gcm.notification.e"]?.equals("1") == true
        else { return .absent }
        let mark = (extras["gcm.n.noui"] ?? extras["gcm.notification.noui"])?.string
        return mark == "1" || mark?.lowercased() == "true" ? .suppressed : .shown
    }

    private static func unlessNull(_ node: JSONNode) -> JSONNode? { node.kind == .null ? nil : node }
}
