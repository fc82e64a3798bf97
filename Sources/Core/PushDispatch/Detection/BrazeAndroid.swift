import PushModel

// Source: braze-android-sdk 43.0.0, `com.braze.push`: BrazeFirebaseMessagingService, BrazeNotificationUtils,
// BrazePushReceiver.handlePushNotificationPayload, in the order of the last.

extension AndroidPayload {
    // `isBrazePushNotification`: only the data map counts, with an exact comparison.
    var reasonAgainstBraze: Reason? {
        // A token belongs to no provider.
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

    /// Returns the unique id. Kotlin: a null or blank id counts as none, so such a push is never a repetition.
    private func uniqueID(_ settings: DetectionSettings) -> String? {
        guard let map, map.mayHaveMember(settings.brazeKeyHashes.uniqueID) else { return nil }
        return map[settings.brazeKeys.uniqueID].flatMap { $0.isBlank ? nil : $0.nonEmptyString }
    }

    /// Whether the SDK shows the payload, and so the user sees it: only a payload that reaches the SDK.
    func shows(_ kind: BrazeFacts.Kind, under fate: Fate) -> Bool {
        guard case .callbacks = fate else { return false }
        return kind == .visible && !isStoryOnAmazon
    }

    var brazeLink: String? { map?.member("uri")?.nonEmptyString }

    /// Whether it fetches test in-app messages (`shouldFetchTestTriggers`).
    var isTestInAppMessage: Bool { map?.member("ab_push_fetch_test_triggers_key")?.equals("true") == true }

    /// Whether it is a push story for an Amazon device, which the SDK drops.
    var isStoryOnAmazon: Bool { transport == .adm && map?.member("ab_c") != nil }

    /// The SDK's classification, with its reason.
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

    /// Whether the SDK refreshes: if the key "was true", not if it was "not included or false". The SDK reads the key
    /// with Kotlin's `toBoolean` (UNVERIFIED).
    private func isOn(_ value: JSONView?) -> Bool { value?.string?.lowercased() == "true" }

    /// Calls a closure for the buttons `ab_a0_*`, `ab_a1_*` and so on, up to the first without a type, as
    /// `BrazeNotificationActionUtils.addNotificationActions` does.
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

// The data map, read as Braze's SDK reads it.
extension JSONObject {
    /// Whether the data map has Braze's mark, the exact text (`isBrazePushNotification`).
    var hasBrazeMarker: Bool { member("_ab")?.equals("true") == true }

    /// Returns the SDK's classification: the first step of `handlePushNotificationPayload` that applies.
    ///
    /// - Parameter ofStringsOnly: whether values other than strings count as absent for the SDK.
    func brazeKind(ofStringsOnly: Bool) -> (BrazeFacts.Kind, Reason) {
        @inline(__always)
        func has(_ key: StaticString) -> Bool {
            guard let value = member(key) else { return false }
            return !ofStringsOnly || value.isString
        }
        if member("message_type")?.equals("deleted_messages") == true {
            return (.deletedMessages, .brazeDeletedMessages)
        }
        // `containsKey` at both places: any value counts.
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
    /// Whether the text of `extra` may have the key for uninstall tracking, without parsing it. Only an escape `\u` can
    /// hide a letter of the key, in the text or in the string around it; both appear as `\u` in the original bytes.
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
