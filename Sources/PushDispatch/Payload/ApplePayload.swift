import PushModel

/// An APNs payload: the `userInfo` that an iOS app gets.
struct ApplePayload: PlatformPayload {
    let messageID: String?
    let app: String?
    let validateOnly: Bool
    /// The `aps` object.
    let aps: JSONNode?
    /// Whether FCM makes an alert of a notification block.
    let hasFCMNotification: Bool
    private let userInfo: JSONNode?
    /// Data that FCM puts beside `userInfo`'s keys.
    private let data: JSONNode?

    /// The simulator's key for the bundle id; the app does not see it.
    private static let targetBundle = "Simulator Target Bundle"

    init(_ payload: JSONNode) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: payload, platform: .ios)
        let path: String
        if let message = V1Message.message(in: payload, platform: .ios) {
            let v1 = try V1Message(payload, message: message)
            validateOnly = v1.validateOnly
            userInfo = v1.applePayload
            data = v1.data
            hasFCMNotification = v1.hasNotification
            path = "payload.message.apns.payload"
        } else {
            let wrapped = Self.wrappedUserInfo(in: payload)
            validateOnly = false
            userInfo = wrapped ?? payload
            data = nil
            hasFCMNotification = false
            path = wrapped == nil ? "payload" : "payload.userInfo"
        }
        app = try userInfo?[Self.targetBundle]?.requiringString("\(path).\(Self.targetBundle)")
        aps = try userInfo?["aps"]?.requiringObject("\(path).aps")
        if app != nil, aps == nil {
            throw PayloadError(
                field: "\(path).aps", message: "an .apns file needs aps; the simulator refuses one without it")
        }
    }

    /// The `userInfo` of a payload that holds one, rather than being one.
    static func wrappedUserInfo(in payload: JSONNode) -> JSONNode? {
        guard payload["aps"] == nil, let userInfo = payload["userInfo"], userInfo.kind == .object else { return nil }
        return userInfo
    }

    subscript(key: String) -> JSONNode? {
        key == Self.targetBundle ? nil : userInfo?[key] ?? data?[key]
    }

    var keySketch: KeySketch {
        var sketch = KeySketch(keysOf: userInfo)
        if data != nil { sketch.formUnion(KeySketch(keysOf: data)) }
        return sketch
    }

    func hasKey(beginningWith prefix: String) -> Bool {
        userInfo?.hasKey(beginningWith: prefix) { $0 != Self.targetBundle } == true
            || data?.hasKey(beginningWith: prefix) { _ in true } == true
    }

    var keyCount: Int {
        let own = (userInfo?.count ?? 0) - (app == nil ? 0 : 1)
        return own + (data?.members.count { userInfo?[$0.key] == nil } ?? 0)
    }

    func dashboardValue(_ key: String) -> JSONNode? { self[key] }

    /// Whether there is an alert to show.
    var hasAlert: Bool {
        guard let alert = aps?["alert"] else { return hasFCMNotification }
        return alert.kind == .object ? alert.count > 0 : alert.string?.isEmpty == false
    }

    /// Whether there is anything for the user: an alert, a badge or a sound.
    var hasUserFacingContent: Bool {
        hasAlert || ["badge", "sound"].contains { key in aps?[key].map { $0.kind != .null } ?? false }
    }

    /// Whether the app is to be woken.
    var isContentAvailable: Bool { aps?["content-available"]?.foundationInteger == 1 }

    /// Whether the service extension may change it.
    var isMutable: Bool { aps?["mutable-content"]?.foundationInteger == 1 }
}
