import PushModel

/// An Android payload: the extras of an intent of FCM or Amazon Device Messaging, or a `RemoteMessage` of FCM or
/// Huawei's push kit.
///
/// The views belong to the document next to them.
final class AndroidPayload: PlatformPayload {
    /// The form of the payload, with the source of the `RemoteMessage` getters.
    enum Form: Sendable {
        /// A send body of FCM v1.
        case v1(V1Message)
        /// The extras of FCM's intent, FCM's own keys included.
        case intent(JSONView)
        /// The extras of an intent of Amazon Device Messaging, which hides no keys from the app.
        case amazonIntent
        /// An object like a `RemoteMessage`, with `data` or `notification`.
        case remoteMessage(JSONView)
        /// The data map alone: `RemoteMessage.getData`, or the data from Huawei's push kit.
        case dataMap
    }

    /// FCM's treatment of a notification.
    enum Notification: Sendable {
        case absent
        case shown
        /// `gcm.n.noui`: FCM neither shows it nor passes it to the app.
        case suppressed
    }

    private let payload: JSONNode
    let form: Form
    /// The service that carried it.
    let transport: Transport
    /// The action of the intent; in any other form, a message.
    let action: IntentAction
    let messageID: String?
    /// Whether FCM, in this form, still has to remove its own keys from the data.
    let hidesReservedKeys: Bool
    /// The object with the data; for an intent, all extras. `nil` for an intent without a message.
    let map: JSONObject?
    /// The SDK's classification of a payload with Braze's marker; `nil` without one.
    let markedKind: (BrazeFacts.Kind, Reason)?

    /// Parses any accepted form.
    ///
    /// - Parameters:
    ///   - payload: the payload.
    ///   - given: the transport in the request; `nil`: FCM, unless the payload shows Amazon Device Messaging.
    ///   - id: the message id of a payload without its own.
    init(_ payload: JSONNode, over given: Transport? = nil, named id: String? = nil) throws(PayloadError) {
        self.payload = payload
        let view = payload.view
        if let message = V1Message.message(in: view, platform: .android) {
            transport = try Self.transport(given, ofForm: .fcm, "a message of FCM v1")
            let v1 = try V1Message.of(view, message: message)
            form = .v1(v1)
            action = .message
            messageID = v1.messageID ?? id
            map = v1.androidData.map(JSONObject.init)
        } else if let extras = view.member("extras"), extras.isObject {
            messageID = PushRouter.messageID(of: view, platform: .android) ?? id
            let name = try view.member("action").flatMap(Self.nonNull)?.requiringString("payload.action")
            let form: Transport? = name.map { IntentAction.isAmazons($0) ? .adm : .fcm }
            transport = try Self.transport(given, ofForm: form, "an intent of \(form == .adm ? "ADM" : "FCM")")
            guard transport != .hms else {
                throw PayloadError(
                    field: "transport", message: "transport is hms, whose messages are not intents: leave out extras")
            }
            let isAmazons = name == nil && transport.messageAction == .amazonMessage
            action = isAmazons ? .amazonMessage : IntentAction(name, extras: extras)
            self.form = action == .amazonMessage ? .amazonIntent : .intent(extras)
            map = action.bringsMessage ? JSONObject(extras) : nil
        } else {
            transport = given ?? .fcm
            action = transport.messageAction
            messageID = PushRouter.messageID(of: view, platform: .android) ?? id
            let data = view.member("data")
            let block = view.member("notification")
            if data?.isObject == true || block?.isObject == true {
                form = .remoteMessage(view)
                map = try (data.flatMap(Self.nonNull)?.requiringObject("payload.data")).map(JSONObject.init)
                _ = try block.flatMap(Self.nonNull)?.requiringObject("payload.notification")
            } else if transport == .fcm, Self.isExtras(view) {
                form = .intent(view)
                map = JSONObject(view)
            } else {
                form = .dataMap
                map = JSONObject(view)
            }
        }
        hidesReservedKeys =
            switch form {
            case .v1, .intent: true
            case .amazonIntent, .remoteMessage, .dataMap: false
            }
        let hasStringsOnly = if case .intent = form { true } else { false }
        markedKind = map.flatMap { $0.hasBrazeMarker ? $0.brazeKind(ofStringsOnly: hasStringsOnly) : nil }
    }

    /// Whether an object is the extras of FCM's intent without their wrapper: FCM refuses a send whose data has these
    /// keys, so no data map has them.
    private static func isExtras(_ object: JSONView) -> Bool {
        object.member("google.message_id") != nil || object.member("gcm.n.e") != nil
            || object.member("gcm.notification.e") != nil
    }

    /// Returns the transport of a payload whose form belongs to one transport.
    ///
    /// - Throws: `PayloadError` if the request names another transport.
    private static func transport(
        _ given: Transport?, ofForm form: Transport?, _ words: @autoclosure () -> String
    ) throws(PayloadError) -> Transport {
        guard let given, let form, given != form else { return given ?? form ?? .fcm }
        throw PayloadError(
            field: "transport", message: "transport is \(given.rawValue), but the payload is \(words())")
    }

    /// A payload names no app; FCM's `restricted_package_name` only limits the target.
    var app: String? { nil }

    /// Whether the payload has an object `aps`, as for iOS.
    var hasAppleObject: Bool {
        (payload.view.member("userInfo") ?? payload.view).member("aps")?.isObject == true
    }

    var validateOnly: Bool {
        if case .v1(let message) = form { message.validateOnly } else { false }
    }

    subscript(key: String) -> JSONView? {
        guard let value = map?[key] else { return nil }
        return hidesReservedKeys && (Self.isReserved(key) || !isInData(value)) ? nil : value
    }

    var tokenChange: TokenChange? {
        switch action {
        case .newToken(let token): TokenChange(kind: .new, token: token)
        case .registered(let id): TokenChange(kind: .registered, token: id)
        case .unregistered(let id): TokenChange(kind: .unregistered, token: id)
        case .message, .amazonMessage, .amazonRefusal, .notificationEvent, .unknown: nil
        }
    }

    var digest: UInt64? {
        guard let map else { return 0 }
        let hidesReservedKeys = hidesReservedKeys
        return map.view.digestOfMembers { !hidesReservedKeys || !Self.isReserved($0) }
    }

    var keyHolders: (JSONObject?, JSONObject?) { (map, nil) }

    func hasKey(ofLength length: Int, where isWanted: (JSONView) -> Bool) -> Bool {
        guard let map else { return false }
        for (key, value) in map.view.members where key.rawLength >= length {
            if isWanted(key), isVisible(key), isInData(value) { return true }
        }
        return false
    }

    var keyCount: Int {
        guard hidesReservedKeys else { return map?.view.count ?? 0 }
        var count = 0
        forEachVisibleMember { _, value in count += isInData(value) ? 1 : 0 }
        return count
    }

    var dashboardPairs: DashboardPairs {
        guard let map else { return .none }
        // ADM has no `extra`: it puts the pairs next to the other keys.
        guard let extra = map.member("extra") else {
            return .ownKeys(of: map.view) { Self.isReserved($0) || Self.isBrazeKey($0) }
        }
        return extra.objectInText.map(DashboardPairs.text) ?? .none
    }

    /// The id for FCM's list of recent ids. `handleMessageIntent` reads only `google.message_id`. A `RemoteMessage` and
    /// the response to a send contain the resulting id; in a bare data map any other name is one of the app's keys. ADM
    /// and Huawei's push kit have no such list.
    var duplicateID: String? {
        guard transport == .fcm else { return nil }
        return switch form {
        case .intent(let extras): action == .message ? extras.member("google.message_id")?.nonEmptyString : nil
        case .v1, .remoteMessage: messageID
        case .dataMap: map?.member("google.message_id")?.nonEmptyString
        case .amazonIntent: nil
        }
    }

    var remoteMessage: RemoteMessage? {
        guard transport == .fcm else { return nil }
        return switch form {
        case .v1, .remoteMessage: RemoteMessage(self)
        case .intent: action == .message ? RemoteMessage(self) : nil
        case .amazonIntent, .dataMap: nil
        }
    }

    private static func nonNull(_ view: JSONView) -> JSONView? { view.kind == .null ? nil : view }
}

// The keys of the data.
extension AndroidPayload {
    /// Whether the app finds a key of the map in the data.
    func isVisible(_ key: JSONView) -> Bool { !hidesReservedKeys || !Self.isReserved(key) }

    /// Whether the app finds a value of the map in the data: FCM takes only the strings of an intent's extras
    /// (`Constants.extractDeveloperDefinedPayload`).
    func isInData(_ value: JSONView) -> Bool {
        if case .intent = form { value.isString } else { true }
    }

    /// Whether the app finds anything in the data.
    var hasData: Bool { map?.view.members.contains { isVisible($0.key) && isInData($0.value) } ?? false }

    /// Calls `body` with the members that FCM passes to the app.
    @inline(__always)
    private func forEachVisibleMember(_ body: (_ key: JSONView, _ value: JSONView) -> Void) {
        guard let map else { return }
        for (key, value) in map.view.members where isVisible(key) { body(key, value) }
    }

    /// Whether FCM hides a key from the app: `Constants.extractDeveloperDefinedPayload` does, and before it
    /// `FirebaseMessagingService.dispatchMessage` removes the id of the wake lock.
    static func isReserved(_ key: JSONView) -> Bool {
        // The first byte or the length excludes most keys.
        switch key.firstRawByte {
        case UInt8(ascii: "g"): key.starts(withName: "google.") || key.starts(withName: "gcm.")
        case UInt8(ascii: "f"): key.equals("from")
        case UInt8(ascii: "m"): key.equals("message_type")
        case UInt8(ascii: "c"): key.equals("collapse_key")
        case UInt8(ascii: "a"): key.equals("androidx.content.wakelockid")
        case UInt8(ascii: "\\"): key.string.map(isReserved) == true
        default: false
        }
    }

    /// Whether FCM hides a key that a rule or a route tests.
    private static func isReserved(_ key: String) -> Bool {
        switch key.utf8.first {
        case UInt8(ascii: "g"), UInt8(ascii: "f"), UInt8(ascii: "m"), UInt8(ascii: "c"), UInt8(ascii: "a"):
            key.utf8.starts(with: "google.".utf8) || key.utf8.starts(with: "gcm.".utf8) || key == "from"
                || key == "message_type" || key == "collapse_key" || key == "androidx.content.wakelockid"
        default: false
        }
    }
}

// FCM's own extras.
extension AndroidPayload {
    /// Returns one of FCM's own extras as `Bundle.getString` does: `nil` for a value that is no string.
    func extra(_ key: String) -> String? {
        if case .v1(let message) = form { message.extra(key) } else { extraView(key)?.string }
    }

    /// Returns one of FCM's own extras that is a number, or the text of one.
    func integerExtra(_ key: String) -> Int64? {
        extraView(key)?.int64 ?? extra(key).flatMap { Int64($0) }
    }

    /// FCM's treatment of a notification (FCM: `NotificationParams.isNotification`, and `getBoolean` for `noui`).
    var notification: Notification {
        switch form {
        case .v1(let message): return message.hasAndroidNotification ? .shown : .absent
        case .remoteMessage(let object):
            // ADM has no notifications.
            return action != .amazonMessage && object.member("notification")?.isObject == true ? .shown : .absent
        case .amazonIntent, .dataMap: return .absent
        case .intent(let extras):
            guard
                extras.member("gcm.n.e")?.equals("1") == true
                    || extras.member("gcm.notification.e")?.equals("1") == true
            else { return .absent }
            let mark = notificationExtra("noui")
            return mark == "1" || mark?.lowercased() == "true" ? .suppressed : .shown
        }
    }

    /// Whether the notification tells Huawei's push kit to leave it to an app in the foreground.
    var isLeftToAppInForeground: Bool {
        guard case .remoteMessage(let object) = form, let block = object.member("notification") else { return false }
        let value = block.member("foreground_show") ?? block.member("foregroundShow")
        return value?.bool == false
    }

    /// Returns a parameter of the notification in an intent. The old prefix counts only if the new one is absent,
    /// whatever its value (FCM: `NotificationParams.normalizePrefix`).
    func notificationExtra(_ name: String) -> String? {
        guard case .intent(let extras) = form else { return nil }
        return (extras["gcm.n." + name] ?? extras["gcm.notification." + name])?.string
    }

    private func extraView(_ key: String) -> JSONView? {
        switch form {
        case .intent(let extras): extras[key]
        case .remoteMessage(let object): Self.getters[key].flatMap { object[$0] }
        case .v1, .amazonIntent, .dataMap: nil
        }
    }

    /// The JSON names of the getters in SDKs that print a `RemoteMessage`, by the extra that each reads.
    private static let getters = [
        "google.message_id": "messageId", "message_id": "message_id", "from": "from", "google.to": "to",
        "google.c.sender.id": "senderId", "message_type": "messageType", "collapse_key": "collapseKey",
        "google.sent_time": "sentTime", "google.ttl": "ttl", "google.original_priority": "originalPriority",
        "google.delivered_priority": "priority",
    ]
}

extension Transport {
    /// The action of a message over this transport if no intent states it.
    fileprivate var messageAction: IntentAction {
        switch self {
        case .adm: .amazonMessage
        // APNs and web push carry no message to Android.
        case .fcm, .hms, .apns, .webPush: .message
        }
    }
}
