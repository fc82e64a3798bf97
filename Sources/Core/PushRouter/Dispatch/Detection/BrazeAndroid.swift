import PushModel

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
