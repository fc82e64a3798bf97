import PushModel

/// An APNs payload: the `userInfo` that an iOS app gets.
///
/// The views belong to the document next to them.
final class ApplePayload: PlatformPayload {
    private let payload: JSONNode
    /// Keeps the document of the request's headers alive.
    private let headersBeside: JSONNode?
    let messageID: String?
    let app: String?
    let validateOnly: Bool
    /// The `aps` object.
    let aps: JSONView?
    /// Whether FCM creates an alert from a notification block.
    let hasFCMNotification: Bool
    /// The headers of the request to APNs: those of an FCM v1 send body, or those in the request.
    let headers: JSONView?
    /// The object with `aps` and the app's own keys; `nil` for a send body without one.
    let userInfo: JSONObject?
    /// The data that FCM adds to the keys of `userInfo`.
    private let data: JSONObject?

    var transport: Transport { .apns }

    /// Parses the payload of a delivery.
    convenience init(_ delivery: Delivery) throws(PayloadError) {
        try self.init(delivery.payload, named: delivery.messageID, headers: delivery.headers)
    }

    /// - Parameters:
    ///   - payload: the payload.
    ///   - id: the message id of a payload without its own.
    ///   - headersBeside: the headers of the request to APNs.
    init(_ payload: JSONNode, named id: String? = nil, headers headersBeside: JSONNode? = nil) throws(PayloadError) {
        self.payload = payload
        self.headersBeside = headersBeside
        let view = payload.view
        messageID = PushDispatch.messageID(of: view, platform: .ios) ?? id
        let path: String
        if let message = V1Message.message(in: view, platform: .ios) {
            let v1 = try V1Message(view, message: message)
            validateOnly = v1.validateOnly
            userInfo = v1.applePayload.map(JSONObject.init)
            headers = v1.appleHeaders ?? headersBeside?.view
            data = v1.data.map(JSONObject.init)
            hasFCMNotification = v1.hasNotification
            path = "payload.message.apns.payload"
        } else {
            let wrapped = Self.wrappedUserInfo(in: view)
            validateOnly = false
            userInfo = JSONObject(wrapped ?? view)
            headers = headersBeside?.view
            data = nil
            hasFCMNotification = false
            path = wrapped == nil ? "payload" : "payload.userInfo"
        }
        app = try userInfo?[SimulatorFile.targetBundle]?.requiringString("\(path).\(SimulatorFile.targetBundle)")
        aps = try userInfo?.member("aps")?.requiringObject("\(path).aps")
        if app != nil, let userInfo { try SimulatorFile.check(userInfo.view, at: path) }
    }

    /// Returns the `userInfo` in a payload that contains one and is none itself.
    static func wrappedUserInfo(in payload: JSONView) -> JSONView? {
        guard payload.member("aps") == nil, let userInfo = payload.member("userInfo"), userInfo.isObject else {
            return nil
        }
        return userInfo
    }

    subscript(key: String) -> JSONView? {
        SimulatorFile.isOwn(key) ? nil : userInfo?[key] ?? data?[key]
    }

    /// Returns the value of a key; callers pass none of the simulator's keys.
    func member(_ key: StaticString) -> JSONView? { userInfo?.member(key) ?? data?.member(key) }

    var digest: UInt64? {
        let own = userInfo?.view.digestOfMembers { !SimulatorFile.isOwn($0) } ?? 0
        let others = data?.view.digestOfMembers { key in key.withText { userInfo?.view.member($0) } == nil } ?? 0
        return own &+ others
    }

    var keyHolders: (JSONObject?, JSONObject?) { (userInfo, data) }

    func hasKey(ofLength length: Int, where isWanted: (JSONView) -> Bool) -> Bool {
        userInfo?.view.hasKey(ofLength: length) { isWanted($0) && !SimulatorFile.isOwn($0) } == true
            || data?.view.hasKey(ofLength: length, where: isWanted) == true
    }

    var keyCount: Int {
        var count = 0
        forEachMember { _, _ in count += 1 }
        return count
    }

    /// Calls `body` with the app's own keys, then with the keys of the data that they do not hide.
    private func forEachMember(_ body: (_ key: JSONView, _ value: JSONView) -> Void) {
        if let userInfo {
            for (key, value) in userInfo.view.members where !SimulatorFile.isOwn(key) { body(key, value) }
        }
        guard let data else { return }
        for (key, value) in data.view.members {
            let isHidden = key.withText { userInfo?.view.member($0) } != nil
            if !isHidden { body(key, value) }
        }
    }

    /// The pairs are next to the other keys; Braze's own keys are excluded.
    var dashboardPairs: DashboardPairs {
        guard let userInfo else { return .none }
        return .ownKeys(of: userInfo.view) {
            $0.equals("aps") || $0.equals("ab") || $0.starts(withName: "ab_") || $0.equals(Self.uninstallTracking)
                || SimulatorFile.isOwn($0)
        }
    }

    /// The key of Braze's uninstall test.
    private static var uninstallTracking: StaticString { "appboy_uninstall_tracking" }

    /// Whether there is an alert to show: a string or an object that is not empty.
    var hasAlert: Bool {
        guard let alert = aps?.member("alert") else { return hasFCMNotification }
        return alert.kind == .object ? alert.count > 0 : alert.textLength > 0
    }

    /// Whether there is content for the user: an alert, a badge or a sound.
    var hasUserFacingContent: Bool {
        hasAlert || aps?.member("badge")?.isNumber == true || [.string, .object].contains(aps?.member("sound")?.kind)
    }

    /// Whether the push wakes the app.
    var isContentAvailable: Bool { aps?.member("content-available")?.foundationInteger == 1 }

    /// Whether the service extension may change the notification.
    var isMutable: Bool { aps?.member("mutable-content")?.foundationInteger == 1 }

    /// The category, which names the buttons that the app has registered.
    var category: String? { aps?.member("category")?.nonEmptyString }

    /// Whether the push starts, updates or ends a Live Activity, which iOS does without the app.
    var isForLiveActivity: Bool {
        pushType == .liveactivity || aps?.member("content-state")?.isObject == true
            || aps?.member("event")?.isString == true
    }

    /// The push type; `nil`: the headers have no valid one, which means an alert.
    var pushType: APNsPushType? {
        headers == nil ? nil : header(APNsHeader.pushType).flatMap(APNsPushType.init)
    }

    /// Whether the push is for device management, and not for an app.
    var isForDeviceManagement: Bool {
        pushType == .mdm || member("mdm")?.kind == .string && !hasUserFacingContent && !isContentAvailable
    }
}

extension JSONView {
    /// Whether Foundation parses the value as an `NSNumber`.
    fileprivate var isNumber: Bool { kind == .number || kind == .bool }
}
