public import PushModel

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
    /// The image in the FCM v1 message.
    let image: String?
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
        messageID = PushRouter.messageID(of: view, platform: .ios) ?? id
        let path: String
        if let message = V1Message.message(in: view, platform: .ios) {
            let v1 = try V1Message.of(view, message: message)
            validateOnly = v1.validateOnly
            userInfo = v1.applePayload.map(JSONObject.init)
            headers = v1.appleHeaders ?? headersBeside?.view
            data = v1.data.map(JSONObject.init)
            hasFCMNotification = v1.hasNotification
            image = v1.appleImage
            path = "payload.message.apns.payload"
        } else {
            let wrapped = Self.wrappedUserInfo(in: view)
            validateOnly = false
            userInfo = JSONObject(wrapped ?? view)
            headers = headersBeside?.view
            data = nil
            hasFCMNotification = false
            image = nil
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
        pushType == .liveactivity || hasKeysOfLiveActivity
    }

    /// Whether `aps` has the keys of a Live Activity. An app may have an `event` of its own there.
    private var hasKeysOfLiveActivity: Bool {
        if aps?.member("content-state")?.isObject == true { return true }
        return aps?.member("event")?.string.map { ["start", "update", "end"].contains($0) } ?? false
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

extension ApplePayload {
    /// All reasons for which APNs would refuse the payload.
    var refusals: [APNsRefusal] {
        var refusals = APNsRefusal.ofHeaders { header($0) }
        // The simulator's payload does not go to APNs.
        let limit = APNsRefusal.longestPayload(ofType: header(APNsHeader.pushType))
        if app == nil, let userInfo, userInfo.view.rawBytes.count > limit {
            let length = userInfo.view.text.utf8.count
            if length > limit { refusals.append(.payloadTooLarge(length: length, limit: limit)) }
        }
        return refusals
    }

    /// Returns a header's value; header names are case-insensitive.
    func header(_ name: APNsHeader) -> String? {
        headers?.members.first { $0.key.text.lowercased() == name.rawValue }?.value.string
    }
}

extension ApplePayload {
    func warnings(braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        // Keys of Android and the web.
        let others = aps == nil ? ["_ab", "extras", "notification"] : ["_ab"]
        // The data of an FCM v1 message is for all platforms.
        warnings += others.filter { userInfo?[$0] != nil }.map { .keyOfAnotherPlatform($0, .android) }
        if aps == nil, !hasFCMNotification, pushType?.isForOtherCode != true {
            let other = userInfo?.view.members.prefix(Self.keysTried).map(\.key.text).first {
                Spelling.isSame($0, "aps")
            }
            warnings.append(other.map(Warning.apsMisspelt) ?? .apsMissing)
        }
        for key in APSKey.allCases {
            guard let value = aps?[key.rawValue] else { continue }
            if !key.kinds.contains(value.kind) {
                warnings.append(.apsValueOfAnotherType(key, kind: value.kind.name))
            } else if let range = key.range(ofLiveActivity: isForLiveActivity), !range.contains(value) {
                warnings.append(.apsValueOutOfRange(key, range: range.words))
            }
        }
        warnings += misplacedKeys
        if image?.isEmpty == false, !isMutable { warnings.append(.imageWithoutExtension) }
        if isForLiveActivity {
            // Apple, "Starting and updating Live Activities with ActivityKit push notifications".
            let ofStart: [APSKey] = aps?.member("event")?.string == "start" ? [.attributesType, .attributes] : []
            warnings += ([.event, .timestamp] + ofStart).filter { aps?[$0.rawValue] == nil }
                .map(Warning.liveActivityLacks)
        }
        if braze != nil, hasAlert, isContentAvailable { warnings.append(.brazeAlertAndContentAvailable) }
        warnings += refusals.map(Warning.refusedByAPNs)
        if headers != nil {
            let shown = [APSKey.alert, .badge, .sound].map(\.rawValue).filter { aps?[$0] != nil }
            let content = APNsMismatch.Content(
                shown: shown.isEmpty && hasUserFacingContent ? ["alert"] : shown, wakes: isContentAvailable,
                isForLiveActivity: hasKeysOfLiveActivity, hasState: aps?.member("content-state") != nil)
            warnings += APNsMismatch.all(content) { header($0) }.map(Warning.apnsMismatch)
        }
        return warnings
    }

    /// Warnings about keys of Apple's in another spelling or at another place.
    private var misplacedKeys: [Warning] {
        let own = userInfo?.view.members.prefix(Self.keysTried).map(\.key.text) ?? []
        let headers = APNsHeader.allCases.map(\.rawValue)
        return keysOfAPS + keysOfAlert
            + misspelt(in: aps?.member("sound"), "sound.", APSKey.keysOfSound)
            + own.filter(headers.contains).map(Warning.headerInPayload)
            + own.compactMap { name in
                APSKey.meantBeside(name).flatMap { aps?[$0.rawValue] == nil ? .apsKeyOutside(name, $0) : nil }
            }
    }

    /// Warnings about keys in `aps` that Apple has in another spelling, in `alert`, or nowhere.
    ///
    /// Source: Apple, "Generating a remote notification": custom keys stand beside `aps`, and APNs ignores those in it.
    private var keysOfAPS: [Warning] {
        guard let aps, aps.isObject else { return [] }
        let known = APSKey.allCases.map(\.rawValue)
        return aps.members.prefix(Self.keysTried).compactMap { key, _ in
            let name = key.text
            guard !known.contains(name) else { return nil }
            if let meant = Spelling.meant(by: name, of: known) {
                return aps[meant] == nil ? .apsKeyMisspelt(name, meant) : nil
            }
            return APSKey.keysOfAlert.contains(name) ? .apsKeyMisspelt(name, "alert.\(name)") : .apsKeyForeign(name)
        }
    }

    /// Warnings about keys in `alert` that Apple has in another spelling, in `aps`, or nowhere.
    private var keysOfAlert: [Warning] {
        guard let alert = aps?.member("alert"), alert.isObject else { return [] }
        let others = APSKey.allCases.map(\.rawValue)
        return alert.members.prefix(Self.keysTried).compactMap { key, _ in
            let name = key.text
            guard !APSKey.keysOfAlert.contains(name) else { return nil }
            let text = ["message", "text", "msg"].contains(name) && alert["body"] == nil ? "body" : nil
            if let meant = text ?? Spelling.meant(by: name, of: APSKey.keysOfAlert) {
                return alert[meant] == nil ? .apsKeyMisspelt("alert.\(name)", meant) : nil
            }
            return others.contains(name)
                ? .apsKeyMisspelt("alert.\(name)", "aps.\(name)") : .apsKeyForeign("alert.\(name)")
        }
    }

    private func misspelt(in object: JSONView?, _ path: String, _ known: [String]) -> [Warning] {
        guard let object, object.isObject else { return [] }
        return object.members.prefix(Self.keysTried).compactMap { key, _ in
            let name = key.text
            let meant = Spelling.meant(by: name, of: known)
            return meant.flatMap { object[$0] == nil ? .apsKeyMisspelt(path + name, $0) : nil }
        }
    }

    /// Whether the alert is critical, or is to break through a focus.
    var needsEntitlement: Bool {
        aps?.member("sound")?.member("critical")?.foundationBool == true
            || ["critical", "time-sensitive"].contains(aps?.member("interruption-level")?.string ?? "")
    }

    /// The number of keys that are compared with Apple's: a payload that can be delivered seldom has more.
    private static var keysTried: Int { 128 }
}

/// An `.apns` file as `xcrun simctl push` accepts it.
///
/// Source: the release notes of Xcode 11.4 (an object with `aps`; `Simulator Target Bundle` unless the command line
/// names the app); the limit of 4,096 bytes from tools around `simctl`, which refuses longer files without a reason.
/// The text of its errors is not public.
public enum SimulatorFile {
    /// The limit of a file, in bytes.
    static let lengthMax = 4096
    /// The key of the bundle id.
    static let targetBundle = "Simulator Target Bundle"

    /// The keys for the simulator alone, which the app does not see.
    private static let keys: Set<String> = [targetBundle, "WatchKit Simulator Actions"]

    /// Whether a key is for the simulator alone.
    static func isOwn(_ key: String) -> Bool { keys.contains(key) }

    /// Whether a key is for the simulator alone.
    static func isOwn(_ key: JSONView) -> Bool {
        // The length excludes most keys without a copy of their text.
        key.textLength > 20 && key.string.map(keys.contains) == true
    }

    /// Checks a payload as the simulator does.
    ///
    /// - Parameters:
    ///   - payload: the object of the file.
    ///   - length: the size of the file in bytes, with white space; `nil`: unknown, the object's size counts.
    ///   - path: the path of the payload, for the error.
    public static func check(
        _ payload: JSONNode, length: Int? = nil, at path: String = "payload"
    ) throws(PayloadError) {
        try payload.withView { (view) throws(PayloadError) in try check(view, length: length, at: path) }
    }

    static func check(_ payload: JSONView, length: Int? = nil, at path: String) throws(PayloadError) {
        guard payload.member("aps") != nil else {
            throw PayloadError(
                field: "\(path).aps", message: "an .apns file needs aps; the simulator refuses one without it")
        }
        let length = length ?? payload.rawBytes.count
        guard length <= lengthMax else {
            throw PayloadError(
                field: path, message: "an .apns file may have \(lengthMax) bytes; this has \(length)")
        }
    }
}
