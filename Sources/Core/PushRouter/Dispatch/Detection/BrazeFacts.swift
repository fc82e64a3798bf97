import PushModel

/// The classification of a Braze payload by Braze's SDK for the platform. Stored properties are those that decisions
/// need; computed ones parse the payload on each access.
public struct BrazeFacts: Sendable {
    /// The SDK's treatment of the payload. The raw values are the wire names.
    public enum Kind: String, Sendable, CaseIterable {
        /// The SDK shows it.
        case visible
        /// The SDK passes it to the app without showing it.
        case silent
        /// The SDK ignores it: it only tests whether the app is still installed.
        case uninstallTracking = "uninstall_tracking"
        /// The SDK logs it: the push service dropped stored messages.
        case deletedMessages = "deleted_messages"
    }

    /// Another task of the payload for the SDK. The raw values are the wire names.
    public enum Feature: String, Sendable, CaseIterable {
        case contentCardSync = "content_card_sync"
        case featureFlagsRefresh = "feature_flags_refresh"
        case bannersRefresh = "banners_refresh"
        case geofencesSync = "geofences_sync"
        case testInAppMessage = "test_in_app_message"
        case pushStory = "push_story"
        case actions
        case attachment
    }

    /// A button of the notification.
    public struct Action: Hashable, Sendable {
        /// The effect of a press on a button. The raw values are the wire names.
        public enum Kind: String, Sendable, CaseIterable {
            /// Opens a web URL.
            case uri
            /// Opens a link with a scheme other than `http` and `https`.
            case deepLink = "deep_link"
            /// Opens the app.
            case open
            /// Only removes the notification.
            case close
            /// Unknown to this SDK: it logs the press and does nothing else.
            case unknown
        }

        /// The id with which the SDK reports a press; `nil` if the payload gives none.
        public var id: String?
        /// The effect of a press.
        public var kind: Kind
        /// The title of the button.
        public var title: String?
        /// The link of `uri` and `deepLink`.
        public var uri: String?
    }

    /// A set of features, one bit each.
    struct FeatureSet: Hashable, Sendable {
        private var bits: UInt8 = 0

        init() {}

        mutating func insert(_ feature: Feature) { bits |= feature.bit }

        func contains(_ feature: Feature) -> Bool { bits & feature.bit != 0 }
    }

    /// The SDK's treatment of the payload.
    public let kind: Kind
    /// The campaign id in the payload; `nil` in API campaigns and tests, whose opens cannot be attributed.
    public let campaignID: String?
    /// Android: the id by which the SDK drops a repeated push; `nil`: the push is never a repetition.
    public let uniqueID: String?
    /// Whether a session soon after it can count as its influenced open: it is displayed, has a campaign, and is not
    /// internal to the SDK.
    public internal(set) var countsForInfluencedOpen = false

    let featureSet: FeatureSet
    private let payload: any PlatformPayload

    init(
        _ payload: any PlatformPayload, kind: Kind, campaignID: String?, features: FeatureSet, uniqueID: String? = nil
    ) {
        self.payload = payload
        self.kind = kind
        self.campaignID = campaignID
        self.uniqueID = uniqueID
        featureSet = features
    }

    /// The features, in the order of `Feature`.
    public var features: [Feature] { Feature.allCases.filter(featureSet.contains) }

    /// The buttons of the notification, in order. Parsed on each access.
    public var actions: [Action] { payload.brazeActions }

    /// The link that a tap opens; `nil`: a tap opens the app. Parsed on each access.
    public var deepLink: String? { payload.brazeLink }

    /// Whether it is a message for the user or the app, and not about the app's installation.
    var isMessage: Bool { kind == .visible || kind == .silent }

    /// Whether the tracker's rules (T9) may count it as displayed. That includes a payload that is silent to the SDK.
    var mayBeDisplayed: Bool { isMessage && !featureSet.contains(.testInAppMessage) }

    /// Whether the payload is internal to the SDK (braze-swift-sdk: `isInternal`; React Native: `is_braze_internal`).
    public var isInternal: Bool {
        kind == .uninstallTracking || featureSet.contains(.featureFlagsRefresh) || featureSet.contains(.geofencesSync)
    }
}

extension BrazeFacts.Feature {
    fileprivate var bit: UInt8 {
        switch self {
        case .contentCardSync: 1 << 0
        case .featureFlagsRefresh: 1 << 1
        case .bannersRefresh: 1 << 2
        case .geofencesSync: 1 << 3
        case .testInAppMessage: 1 << 4
        case .pushStory: 1 << 5
        case .actions: 1 << 6
        case .attachment: 1 << 7
        }
    }
}

extension BrazeFacts.Action.Kind {
    /// The effect of a button that opens `uri` (rule T1: only `http` and `https` are web URLs).
    init(opening uri: String?) {
        let scheme = uri?.prefix { $0 != ":" }.lowercased()
        self = scheme == "http" || scheme == "https" ? .uri : .deepLink
    }

    /// The effect of a button on the web: a link without a scheme is relative to the site.
    init(webTarget: String) {
        let scheme = webTarget.prefix { $0 != ":" }
        self = scheme == webTarget || scheme.contains("/") ? .uri : Self(opening: webTarget)
    }
}

extension ButtonAction {
    /// Returns `nil` for a button that is unknown to the SDK: it logs the press and does nothing else.
    init?(_ kind: BrazeFacts.Action.Kind) {
        switch kind {
        case .uri: self = .uri
        case .deepLink: self = .deepLink
        case .open: self = .none
        case .close: self = .close
        case .unknown: return nil
        }
    }
}

// Source: braze-swift-sdk 18.2.0, Sources/BrazeKitCompat/AppboyKit/ABKPushUtils.m. Its documentation includes a refresh
// of feature flags in `isInternal`, but the key is not public, so this code cannot detect one on iOS.

extension ApplePayload {
    var reasonAgainstBraze: Reason? {
        guard let ab = member("ab") else { return .noBrazeObject }
        return ab.isObject ? .brazeObjectIsEmpty : .brazeObjectIsNone
    }

    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts {
        // `isUninstallTrackingRemoteNotification`.
        if member("appboy_uninstall_tracking")?.foundationBool == true {
            reasons.append(.brazeAppleUninstallTracking)
            return facts(.uninstallTracking)
        }
        // `isAppboySilentRemoteNotification`: independent of an alert.
        let isSilent = isContentAvailable
        reasons.append(isSilent ? .brazeContentAvailable : .brazeWithoutContentAvailable)
        let facts = facts(isSilent ? .silent : .visible)
        if facts.campaignID == nil { reasons.append(.noCampaign) }
        return facts
    }

    private func facts(_ kind: BrazeFacts.Kind) -> BrazeFacts {
        // `null` in API campaigns and tests.
        let campaignID = member("ab")?.member("c")?.nonEmptyString
        return BrazeFacts(self, kind: kind, campaignID: campaignID, features: brazeFeatures)
    }

    var brazeLink: String? { member("ab_uri")?.nonEmptyString }

    /// The user sees the alert that iOS shows, whether or not code of the app runs, and whatever the SDK's
    /// classification (rule T9).
    func shows(_ kind: BrazeFacts.Kind, under fate: Fate) -> Bool {
        switch fate {
        case .callbacks, .decided(.shownBySystem): hasAlert
        case .decided: false
        }
    }

    private var brazeFeatures: BrazeFacts.FeatureSet {
        let ab = member("ab")
        var features = BrazeFacts.FeatureSet()
        if ab?.member("ab_cd") != nil { features.insert(.contentCardSync) }
        if member("ab_sync_geos")?.foundationBool == true { features.insert(.geofencesSync) }
        if member("ab_push_fetch_test_triggers_key")?.foundationBool == true { features.insert(.testInAppMessage) }
        if ab?.member("ab_carousel") != nil { features.insert(.pushStory) }
        let isOfDefaultCategory = category.flatMap { BrazeCategory(rawValue: $0) } != nil
        if ab?.member("ab_cat") != nil || isOfDefaultCategory { features.insert(.actions) }
        if ab?.member("att")?.isObject == true { features.insert(.attachment) }
        return features
    }
}

extension BrazeFacts {
    /// Warnings about the links and buttons of the notification.
    func warnings(on platform: Platform) -> [Warning] {
        guard kind == .visible else { return [] }
        let links =
            [deepLink.map { (button: String?.none, uri: $0) }]
            + actions.map { action in
                action.uri.map { (button: .some(action.id ?? "without an id"), uri: $0) }
            }
        let warnings: [Warning] =
            links.compactMap { link in
                guard let link, !platform.mayOpen(link.uri) else { return nil }
                return .brazeLinkUnusable(button: link.button)
            } + actions.filter { $0.kind == .unknown }.map { .brazeButtonUnknown(id: $0.id) }
        // Several buttons may lack an id.
        var told: Set<Warning> = []
        return warnings.filter { told.insert($0).inserted }
    }
}

extension Platform {
    /// Whether a link can be opened: it has a scheme, or on the web may be relative, and has only characters that are
    /// valid in a URI (RFC 3986, section 2). Liquid tags that the sender's service left in place have invalid ones.
    fileprivate func mayOpen(_ address: String) -> Bool {
        let isPlain = address.utf8.allSatisfy { byte in
            byte > 0x20 && byte != 0x7F && !#"<>"{}|\^`"#.utf8.contains(byte)
        }
        guard isPlain, !address.isEmpty else { return false }
        switch self {
        case .web: return true
        case .android, .ios: return address.hasScheme
        }
    }
}

extension String {
    /// Whether it begins with a scheme and a colon, followed by at least one byte (RFC 3986, section 3.1).
    fileprivate var hasScheme: Bool {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), utf8.index(after: colon) < utf8.endIndex else {
            return false
        }
        let scheme = utf8[..<colon]
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        guard let first = scheme.first, isLetter(first) else { return false }
        return scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }
}

// Source of the keys: the service worker 3.5.1 of braze-web-sdk.

extension WebPayload {
    var reasonAgainstBraze: Reason? { isEmpty ? .webPayloadEmpty : .noBrazeWebKey }

    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts {
        let campaignID = object?.member("cid")?.nonEmptyString
        if campaignID == nil { reasons.append(.noCampaign) }
        return BrazeFacts(self, kind: .visible, campaignID: campaignID, features: brazeFeatures)
    }

    var brazeLink: String? { object?.member("u")?.nonEmptyString }

    func shows(_ kind: BrazeFacts.Kind, under fate: Fate) -> Bool {
        guard case .callbacks = fate else { return false }
        return true
    }

    private var brazeFeatures: BrazeFacts.FeatureSet {
        var features = BrazeFacts.FeatureSet()
        guard let object else { return features }
        if object.member("ab_cd") != nil { features.insert(.contentCardSync) }
        let fetchesTests = object.member("ab_push_fetch_test_triggers_key")?.foundationBool == true
        if fetchesTests { features.insert(.testInAppMessage) }
        if let buttons = object.member("pab"), buttons.count > 0 { features.insert(.actions) }
        return features
    }
}

// Source: braze-android-sdk 43.0.0, `com.braze.push`: BrazeFirebaseMessagingService, BrazeNotificationUtils,
// BrazePushReceiver.handlePushNotificationPayload. The order of the checks is the same as there.

extension AndroidPayload {
    // `isBrazePushNotification`: only the data map decides, by comparison with the exact text.
    var reasonAgainstBraze: Reason? {
        // An intent with a token has no payload.
        guard action.bringsMessage else { return nil }
        return map?.member("_ab") == nil ? .noBrazeMarker : .brazeMarkerIsNotTrue
    }

    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts {
        let (kind, reason) = brazeKind
        reasons.append(reason)
        let campaignID = map?.member("cid")?.nonEmptyString
        if campaignID == nil, kind == .visible { reasons.append(.noCampaign) }
        return BrazeFacts(
            self, kind: kind, campaignID: campaignID, features: brazeFeatures(settings),
            uniqueID: uniqueID(settings))
    }

    /// Kotlin treats a null or blank id as none, so such a push is never a repetition.
    private func uniqueID(_ settings: DetectionSettings) -> String? {
        guard let map, map.mayHaveMember(settings.brazeKeyHashes.uniqueID) else { return nil }
        return map[settings.brazeKeys.uniqueID].flatMap { $0.isBlank ? nil : $0.nonEmptyString }
    }

    /// The SDK shows a notification only if the payload reaches it.
    func shows(_ kind: BrazeFacts.Kind, under fate: Fate) -> Bool {
        guard case .callbacks = fate else { return false }
        return kind == .visible && !isStoryOnAmazon
    }

    var brazeLink: String? { map?.member("uri")?.nonEmptyString }

    /// Whether the push makes the SDK fetch test in-app messages (`shouldFetchTestTriggers`).
    var isTestInAppMessage: Bool { map?.member("ab_push_fetch_test_triggers_key")?.equals("true") == true }

    /// Whether it is a push story on an Amazon device, which the SDK drops.
    var isStoryOnAmazon: Bool { transport == .adm && map?.member("ab_c") != nil }

    /// The SDK's classification of the payload, and its reason.
    private var brazeKind: (BrazeFacts.Kind, Reason) {
        if let markedKind { return markedKind }
        let hasStringsOnly = if case .intent = form { true } else { false }
        return map?.brazeKind(ofStringsOnly: hasStringsOnly) ?? (.silent, .brazeWithoutTitleOrContent)
    }

    private func brazeFeatures(_ settings: DetectionSettings) -> BrazeFacts.FeatureSet {
        var features = BrazeFacts.FeatureSet()
        guard let map else { return features }
        if map.member("ab_cd") != nil { features.insert(.contentCardSync) }
        let hashes = settings.brazeKeyHashes
        if map.mayHaveMember(hashes.refreshFeatureFlags), isOn(map[settings.brazeKeys.refreshFeatureFlags]) {
            features.insert(.featureFlagsRefresh)
        }
        if map.mayHaveMember(hashes.refreshBanners), isOn(map[settings.brazeKeys.refreshBanners]) {
            features.insert(.bannersRefresh)
        }
        if map.member("ab_sync_geos") != nil { features.insert(.geofencesSync) }
        if isTestInAppMessage { features.insert(.testInAppMessage) }
        if map.member("ab_c") != nil { features.insert(.pushStory) }
        if let type = map.member("ab_a0_a"), type.textLength > 0 { features.insert(.actions) }
        return features
    }

    /// The SDK refreshes if the key "was true", not if it was "not included or false"; it parses the value with
    /// Kotlin's `toBoolean` (UNVERIFIED).
    private func isOn(_ value: JSONView?) -> Bool { value?.string?.lowercased() == "true" }

    /// The buttons `ab_a0_*`, `ab_a1_*` and so on, up to the first without a type, as in
    /// `BrazeNotificationActionUtils.addNotificationActions`.
    func forEachButton(until isEnough: (BrazeButton) -> Bool) {
        guard let map else { return }
        var number = 0
        while number < Self.buttonsMax, let type = map.text(ofButton: number, "a") {
            if isEnough(.android(map, number: number, type: type)) { return }
            number += 1
        }
    }

    /// Whether a key is one of Braze's own (the constants of braze-android-sdk).
    static func isBrazeKey(_ key: JSONView) -> Bool {
        key.starts(withName: "ab_") || key.starts(withName: "br_") || key.starts(withName: "appboy_")
            || key.string.map(brazeKeys.contains) == true
    }

    private static let brazeKeys: Set<String> = [
        "_ab", "cid", "t", "a", "s", "uri", "n", "nid", "nd", "p", "sd", "ac",
    ]
}

// Braze's reading of the data map.
extension JSONObject {
    /// Whether the data map has Braze's marker with the exact text (`isBrazePushNotification`).
    var hasBrazeMarker: Bool { member("_ab")?.equals("true") == true }

    /// Returns the SDK's classification: the first step of `handlePushNotificationPayload` that applies.
    ///
    /// - Parameter ofStringsOnly: whether the SDK ignores values that are not strings.
    func brazeKind(ofStringsOnly: Bool) -> (BrazeFacts.Kind, Reason) {
        @inline(__always)
        func has(_ key: StaticString) -> Bool {
            guard let value = member(key) else { return false }
            return !ofStringsOnly || value.isString
        }
        if member("message_type")?.equals("deleted_messages") == true {
            return (.deletedMessages, .brazeDeletedMessages)
        }
        // Both places use `containsKey`: the value does not matter.
        if has("appboy_uninstall_tracking") { return (.uninstallTracking, .brazeUninstallTracking) }
        if let extra = member("extra"), extra.rawText.mayTrackUninstall,
            extra.objectInText?.root["appboy_uninstall_tracking"] != nil
        {
            return (.uninstallTracking, .brazeUninstallTrackingInExtra)
        }
        // `isNotificationMessage`.
        if has("t"), has("a") { return (.visible, .brazeTitleAndContent) }
        return (.silent, .brazeWithoutTitleOrContent)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the text of `extra` may contain the key for uninstall tracking, decided without parsing. Only a `\u`
    /// escape, in the text or in the string around it, can hide a letter of the key; both appear as `\u` in the raw
    /// bytes.
    fileprivate var mayTrackUninstall: Bool {
        var next = 0
        while let place = firstIndex(of: UInt8(ascii: "u"), from: next) {
            if place > 0, self[place - 1] == UInt8(ascii: "\\") { return true }
            if place + 1 < count, self[place + 1] == UInt8(ascii: "n"), self[place...].starts(with: "uninstall".utf8) {
                return true
            }
            next = place + 1
        }
        return false
    }
}
