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
    /// The headers of the request to APNs, which only a send body of FCM v1 has.
    let headers: JSONNode?
    /// The object with `aps` and the app's own keys; `nil` for a send body that has none.
    let userInfo: JSONNode?
    /// Data that FCM puts beside `userInfo`'s keys.
    private let data: JSONNode?

    init(_ payload: JSONNode) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: payload, platform: .ios)
        let path: String
        if let message = V1Message.message(in: payload, platform: .ios) {
            let v1 = try V1Message(payload, message: message)
            validateOnly = v1.validateOnly
            userInfo = v1.applePayload
            headers = v1.appleHeaders
            data = v1.data
            hasFCMNotification = v1.hasNotification
            path = "payload.message.apns.payload"
        } else {
            let wrapped = Self.wrappedUserInfo(in: payload)
            validateOnly = false
            userInfo = wrapped ?? payload
            headers = nil
            data = nil
            hasFCMNotification = false
            path = wrapped == nil ? "payload" : "payload.userInfo"
        }
        app = try userInfo?[SimulatorFile.targetBundle]?.requiringString("\(path).\(SimulatorFile.targetBundle)")
        aps = try userInfo?["aps"]?.requiringObject("\(path).aps")
        if app != nil, let userInfo { try SimulatorFile.check(userInfo, at: path) }
    }

    /// The `userInfo` of a payload that holds one, rather than being one.
    static func wrappedUserInfo(in payload: JSONNode) -> JSONNode? {
        guard payload["aps"] == nil, let userInfo = payload["userInfo"], userInfo.kind == .object else { return nil }
        return userInfo
    }

    subscript(key: String) -> JSONNode? {
        SimulatorFile.keys.contains(key) ? nil : userInfo?[key] ?? data?[key]
    }

    var digest: UInt64? {
        let own = userInfo?.members.filter { !SimulatorFile.keys.contains($0.key) } ?? []
        let others = data?.members.filter { userInfo?[$0.key] == nil } ?? []
        return stableDigest(ofMembers: own + others)
    }

    var keySketch: KeySketch {
        var sketch = KeySketch(keysOf: userInfo)
        if data != nil { sketch.formUnion(KeySketch(keysOf: data)) }
        return sketch
    }

    func hasKey(beginningWith prefix: String) -> Bool {
        userInfo?.hasKey(beginningWith: prefix) { !SimulatorFile.keys.contains($0) } == true
            || data?.hasKey(beginningWith: prefix) { _ in true } == true
    }

    var keyCount: Int {
        let own = userInfo?.members.count { !SimulatorFile.keys.contains($0.key) } ?? 0
        return own + (data?.members.count { userInfo?[$0.key] == nil } ?? 0)
    }

    func dashboardValue(_ key: String) -> JSONNode? { self[key] }

    /// Whether there is an alert to show. Anything but a text or an object is none.
    var hasAlert: Bool {
        guard let alert = aps?["alert"] else { return hasFCMNotification }
        return alert.kind == .object ? alert.count > 0 : alert.string?.isEmpty == false
    }

    /// Whether there is anything for the user: an alert, a badge or a sound.
    var hasUserFacingContent: Bool {
        hasAlert || aps?["badge"]?.isNumber == true || [.string, .object].contains(aps?["sound"]?.kind)
    }

    /// Whether the app is to be woken.
    var isContentAvailable: Bool { aps?["content-available"]?.foundationInteger == 1 }

    /// Whether the service extension may change it.
    var isMutable: Bool { aps?["mutable-content"]?.foundationInteger == 1 }

    /// The category, which names the buttons that the app has registered.
    var category: String? { aps?["category"]?.nonEmptyString }

    /// Whether it starts, updates or ends a Live Activity, which iOS does without the app.
    var isForLiveActivity: Bool { aps?["content-state"]?.kind == .object || aps?["event"]?.kind == .string }

    /// Whether it is for the device's management, which is none of an app's.
    var isForDeviceManagement: Bool {
        self["mdm"]?.kind == .string && !hasUserFacingContent && !isContentAvailable
    }
}

extension JSONNode {
    /// Whether Foundation reads an `NSNumber`.
    fileprivate var isNumber: Bool { kind == .number || kind == .bool }
}
