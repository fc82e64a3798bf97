import PushModel

// Source: braze-android-sdk 43.0.0, `com.braze.push`: BrazeFirebaseMessagingService, BrazeNotificationUtils,
// BrazePushReceiver.handlePushNotificationPayload, whose order this keeps.

extension AndroidPayload {
    // `isBrazePushNotification`: the data map alone decides, and by the exact text.
    var reasonAgainstBraze: Reason? {
        // A token is nobody's payload.
        guard action.bringsMessage else { return nil }
        return self["_ab"] == nil ? .noBrazeMarker : .brazeMarkerIsNotTrue
    }

    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts {
        let (kind, reason) = brazeKind
        reasons.append(reason)
        let campaignID = brazeText("cid")
        if campaignID == nil, kind == .visible { reasons.append(.noCampaign) }
        let actions = brazeActions
        var features = brazeFeatures(settings.brazeKeys)
        if !actions.isEmpty { features.append(.actions) }
        // Kotlin: an id that is null or blank is none, so such a push is never a repetition.
        let uniqueID = brazeText(settings.brazeKeys.uniqueID).flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        return BrazeFacts(
            kind: kind, campaignID: campaignID, features: features, actions: actions, deepLink: brazeText("uri"),
            uniqueID: uniqueID)
    }

    /// The user sees what the SDK shows, so only what reaches the SDK.
    func shows(_ braze: BrazeFacts, under fate: Fate) -> Bool {
        guard case .callbacks = fate else { return false }
        return braze.kind == .visible && !isStoryOnAmazon
    }

    var dashboardPairs: [(key: String, value: JSONNode)] {
        if let extra = map?["extra"] { return BrazeExtra(extra)?.pairs.members ?? [] }
        // ADM puts the pairs beside Braze's own keys.
        return map?.members.filter { key, _ in !Self.isReserved(key) && !Self.isBrazeKey(key) } ?? []
    }

    /// Whether the payload has Braze's mark, the exact text in the data map (`isBrazePushNotification`).
    var hasBrazeMarker: Bool { map?["_ab"]?.equals("true") == true }

    /// Whether it fetches in-app messages to be tested (`shouldFetchTestTriggers`).
    var isTestInAppMessage: Bool { map?["ab_push_fetch_test_triggers_key"]?.equals("true") == true }

    /// Whether it is a push story for an Amazon device, which the SDK drops.
    var isStoryOnAmazon: Bool { action == .amazonMessage && map?["ab_c"] != nil }

    /// What it is to the SDK: the first step of `handlePushNotificationPayload` that applies.
    var brazeKind: (BrazeFacts.Kind, Reason) {
        if map?["message_type"]?.equals("deleted_messages") == true {
            return (.deletedMessages, .brazeDeletedMessages)
        }
        // `containsKey` at both places: the value does not matter.
        if map?["appboy_uninstall_tracking"] != nil { return (.uninstallTracking, .brazeUninstallTracking) }
        if let extra = map?["extra"], BrazeExtra.mayTrackUninstall(extra),
            BrazeExtra(extra)?.pairs["appboy_uninstall_tracking"] != nil
        {
            return (.uninstallTracking, .brazeUninstallTrackingInExtra)
        }
        // `isNotificationMessage`.
        if map?["t"] != nil, map?["a"] != nil { return (.visible, .brazeTitleAndContent) }
        return (.silent, .brazeWithoutTitleOrContent)
    }

    private func brazeFeatures(_ keys: BrazeKeys) -> [BrazeFacts.Feature] {
        var features: [BrazeFacts.Feature] = []
        if map?["ab_cd"] != nil { features.append(.contentCardSync) }
        if isOn(keys.refreshFeatureFlags) { features.append(.featureFlagsRefresh) }
        if isOn(keys.refreshBanners) { features.append(.bannersRefresh) }
        if map?["ab_sync_geos"] != nil { features.append(.geofencesSync) }
        if isTestInAppMessage { features.append(.testInAppMessage) }
        if map?["ab_c"] != nil { features.append(.pushStory) }
        return features
    }

    /// The SDK refreshes when the key "was true", not when it was "not included or false"; Kotlin's `toBoolean` reads it
    /// (UNVERIFIED).
    private func isOn(_ key: String) -> Bool { map?[key]?.string?.lowercased() == "true" }

    /// The buttons `ab_a0_*`, `ab_a1_*` and so on, up to the first without a type.
    private var brazeActions: [BrazeFacts.Action] {
        var actions: [BrazeFacts.Action] = []
        while let type = brazeText("ab_a\(actions.count)_a") {
            let key = "ab_a\(actions.count)_"
            let uri = brazeText(key + "uri")
            let kind: BrazeFacts.Action.Kind =
                switch type {
                // Without an address the press opens the app.
                case "ab_uri": uri.map { BrazeFacts.Action.Kind(opening: $0) } ?? .open
                case "ab_open": .open
                case "ab_none": .close
                default: .unknown
                }
            actions.append(
                BrazeFacts.Action(id: brazeText(key + "id"), kind: kind, title: brazeText(key + "t"), uri: uri))
        }
        return actions
    }

    /// The text under a key; `nil` for an empty one too.
    private func brazeText(_ key: String) -> String? { map?[key]?.nonEmptyString }

    /// Whether a key is one of Braze's own (the constants of braze-android-sdk).
    private static func isBrazeKey(_ key: String) -> Bool {
        ["_ab", "cid", "t", "a", "s", "uri", "n", "nid", "nd", "p", "sd", "ac"].contains(key)
            || ["ab_", "br_", "appboy_"].contains { key.hasPrefix($0) }
    }
}

/// The dashboard's key-values of a Braze payload for Android: a JSON text in the string `extra`.
struct BrazeExtra {
    /// The object that the text is.
    let pairs: JSONNode

    /// Parses the text; `nil` when it is no JSON object, which the SDK takes for an empty one.
    init?(_ extra: JSONNode) {
        guard let pairs = extra.objectInText else { return nil }
        self.pairs = pairs
    }

    /// Whether the text may have the key for uninstall tracking, without parsing it. Only an escape `\u` can hide a
    /// letter of the key, in the text or in the string around it; either shows as `\u` in the bytes as they came.
    static func mayTrackUninstall(_ extra: JSONNode) -> Bool {
        extra.rawBytes.contains("uninstall") || extra.rawBytes.contains("\\u")
    }
}

extension ArraySlice<UInt8> {
    /// Whether `text` occurs in it.
    fileprivate func contains(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return withUnsafeBufferPointer { bytes in
            guard bytes.count >= wanted.count else { return false }
            return (0...bytes.count - wanted.count).contains { start in
                bytes[start] == wanted[0] && bytes[start..<start + wanted.count].elementsEqual(wanted)
            }
        }
    }
}
