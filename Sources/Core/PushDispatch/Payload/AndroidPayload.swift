import PushModel

/// An Android payload: what FCM or Amazon Device Messaging puts into the intent, or what FCM or Huawei's push kit hands
/// over as a `RemoteMessage`.
///
/// The views are of the document beside them.
final class AndroidPayload: PlatformPayload {
    /// What came, with what the getters of a `RemoteMessage` are read from.
    enum Form: Sendable {
        /// A send body of FCM v1.
        case v1(V1Message)
        /// The extras of FCM's intent, its own keys among them.
        case intent(JSONView)
        /// The extras of an intent of Amazon Device Messaging, which keeps no keys to itself.
        case amazonIntent
        /// An object like a `RemoteMessage`, with `data` or `notification`.
        case remoteMessage(JSONView)
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

    private let payload: JSONNode
    let form: Form
    /// What brought it.
    let transport: Transport
    /// What the intent asks for; in any other form, to take a message.
    let action: IntentAction
    let messageID: String?
    /// Whether FCM, in this form, has yet to take its own keys out of the data.
    let hidesReservedKeys: Bool
    /// The object that holds the data; of an intent, all the extras. An intent that brings no message has no data.
    let map: JSONObject?
    /// What it is to Braze's SDK, if it has Braze's mark.
    let markedKind: (BrazeFacts.Kind, Reason)?

    /// Reads any of the accepted forms.
    ///
    /// - Parameters:
    ///   - payload: the payload.
    ///   - given: what brought it, as the request says; `nil`: FCM, unless the payload shows that Amazon did.
    ///   - id: the id of a payload that has none of its own.
    init(_ payload: JSONNode, over given: Transport? = nil, named id: String? = nil) throws(PayloadError) {
        self.payload = payload
        let view = payload.view
        if let message = V1Message.message(in: view, platform: .android) {
            transport = try Self.transport(given, ofForm: .fcm, "a message of FCM v1")
            let v1 = try V1Message(view, message: message)
            form = .v1(v1)
            action = .message
            messageID = v1.messageID ?? id
            map = v1.androidData.map(JSONObject.init)
        } else if let extras = view.member("extras"), extras.isObject {
            messageID = PushDispatch.messageID(of: view, platform: .android) ?? id
            let name = try view.member("action").flatMap(Self.unlessNull)?.requiringString("payload.action")
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
            messageID = PushDispatch.messageID(of: view, platform: .android) ?? id
            let data = view.member("data")
            let block = view.member("notification")
            if data?.isObject == true || block?.isObject == true {
                form = .remoteMessage(view)
                map = try (data.flatMap(Self.unlessNull)?.requiringObject("payload.data")).map(JSONObject.init)
                _ = try block.flatMap(Self.unlessNull)?.requiringObject("payload.notification")
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

    /// What brought a payload whose form only one transport has.
    ///
    /// - Throws: where the request says otherwise.
    private static func transport(
        _ given: Transport?, ofForm form: Transport?, _ words: @autoclosure () -> String
    ) throws(PayloadError) -> Transport {
        guard let given, let form, given != form else { return given ?? form ?? .fcm }
        throw PayloadError(
            field: "transport", message: "transport is \(given.rawValue), but the payload is \(words())")
    }

    /// A payload names no app; FCM's `restricted_package_name` only narrows the target.
    var app: String? { nil }

    /// Whether it has an object `aps`, as payloads for iOS do.
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
        case .message, .amazonMessage, .amazonRefusal, .unknown: nil
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
        // ADM has no `extra`: it puts the pairs beside the other keys.
        guard let extra = map.member("extra") else {
            return .ownKeys(of: map.view) { Self.isReserved($0) || Self.isBrazeKey($0) }
        }
        return extra.objectInText.map(DashboardPairs.text) ?? .none
    }

    /// What FCM's list of recent ids goes by. `handleMessageIntent` looks at `google.message_id` alone. A `RemoteMessage`
    /// and the answer to a send show the id that came of it; in a bare data map every other name is a key of the app's
    /// own. ADM and Huawei's push kit keep no such list.
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

    private static func unlessNull(_ view: JSONView) -> JSONView? { view.kind == .null ? nil : view }
}

// The keys of the data.
extension AndroidPayload {
    /// Whether the app finds a key of the map in the data.
    func isVisible(_ key: JSONView) -> Bool { !hidesReservedKeys || !Self.isReserved(key) }

    /// Whether the app finds a value of the map in the data: of an intent's extras FCM takes the strings alone
    /// (`Constants.extractDeveloperDefinedPayload`).
    func isInData(_ value: JSONView) -> Bool {
        if case .intent = form { value.isString } else { true }
    }

    /// Shows the members that FCM has not kept to itself.
    @inline(__always)
    private func forEachVisibleMember(_ body: (_ key: JSONView, _ value: JSONView) -> Void) {
        guard let map else { return }
        for (key, value) in map.view.members where isVisible(key) { body(key, value) }
    }

    /// Whether FCM keeps a key from the app: `Constants.extractDeveloperDefinedPayload` does, and before it
    /// `FirebaseMessagingService.dispatchMessage` removes the id of the wake lock.
    static func isReserved(_ key: JSONView) -> Bool {
        // Most keys are told by their first byte or by their length.
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

    /// The same for a key that a rule or a route asks for.
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
    /// One of FCM's own extras as `Bundle.getString` gives it: what is no string is absent.
    func extra(_ key: String) -> String? {
        if case .v1(let message) = form { message.extra(key) } else { extraView(key)?.string }
    }

    /// One of FCM's own extras that is a number, or the text of one.
    func integerExtra(_ key: String) -> Int64? {
        extraView(key)?.int64 ?? extra(key).flatMap { Int64($0) }
    }

    /// What FCM does about a notification (FCM: `NotificationParams.isNotification`, and `getBoolean` for the mark that
    /// nothing is to be shown).
    var notification: Notification {
        switch form {
        case .v1(let message): return message.hasAndroidNotification ? .shown : .absent
        case .remoteMessage(let object):
            // ADM knows no notifications.
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

    /// Whether the notification says that Huawei's push kit leaves it to an app in the foreground.
    var isLeftToAppInForeground: Bool {
        guard case .remoteMessage(let object) = form, let block = object.member("notification") else { return false }
        let value = block.member("foreground_show") ?? block.member("foregroundShow")
        return value?.bool == false
    }

    /// A parameter of the notification in an intent. The old prefix counts where the new one is absent, whatever its
    /// value (FCM: `NotificationParams.normalizePrefix`).
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

    /// What SDKs that print a `RemoteMessage` as JSON call the getters, by the extra that each reads.
    private static let getters = [
        "google.message_id": "messageId", "message_id": "message_id", "from": "from", "google.to": "to",
        "google.c.sender.id": "senderId", "message_type": "messageType", "collapse_key": "collapseKey",
        "google.sent_time": "sentTime", "google.ttl": "ttl", "google.original_priority": "originalPriority",
        "google.delivered_priority": "priority",
    ]
}

extension Transport {
    /// What code of the app a message of it calls, where no intent says.
    fileprivate var messageAction: IntentAction {
        switch self {
        case .adm: .amazonMessage
        // The last two bring nothing to Android.
        case .fcm, .hms, .apns, .webPush: .message
        }
    }
}
