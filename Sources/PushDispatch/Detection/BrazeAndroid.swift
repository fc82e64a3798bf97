import PushModel

// Source: braze-android-sdk 43.0.0, `com.braze.push`: BrazeFirebaseMessagingService, BrazeNotificationUtils,
// BrazePushReceiver.handlePushNotificationPayload, whose order this keeps.

extension AndroidPayload {
    // `isBrazePushNotification`: the data map alone decides, and by the exact text.
    var reasonAgainstBraze: Reason { self["_ab"] == nil ? .noBrazeMarker : .brazeMarkerIsNotTrue }

    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts {
        let kind = brazeKind(because: &reasons)
        let campaignID = map?["cid"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        if campaignID == nil { reasons.append(.noCampaign) }
        let keys = settings.brazeKeys
        // Kotlin: an id that is null or blank is none, so such a push is never a repetition.
        let uniqueID = map?[keys.uniqueID]?.string.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        return BrazeFacts(kind: kind, campaignID: campaignID, features: brazeFeatures(keys), uniqueID: uniqueID)
    }

    /// The user sees what the SDK shows, so only what reaches the SDK.
    func shows(_ braze: BrazeFacts, under fate: Fate) -> Bool {
        guard case .callbacks = fate else { return false }
        return braze.kind == .visible
    }

    private func brazeKind(because reasons: inout [Reason]) -> BrazeFacts.Kind {
        if map?["message_type"]?.equals("deleted_messages") == true {
            reasons.append(.brazeDeletedMessages)
            return .deletedMessages
        }
        // `containsKey` at both places: the value does not matter.
        if map?["appboy_uninstall_tracking"] != nil {
            reasons.append(.brazeUninstallTracking)
            return .uninstallTracking
        }
        if let extra = map?["extra"], BrazeExtra.mayTrackUninstall(extra),
            BrazeExtra(extra)?.pairs["appboy_uninstall_tracking"] != nil
        {
            reasons.append(.brazeUninstallTrackingInExtra)
            return .uninstallTracking
        }
        // `isNotificationMessage`.
        if map?["t"] != nil, map?["a"] != nil {
            reasons.append(.brazeTitleAndContent)
            return .visible
        }
        reasons.append(.brazeWithoutTitleOrContent)
        return .silent
    }

    private func brazeFeatures(_ keys: BrazeKeys) -> [BrazeFacts.Feature] {
        var features: [BrazeFacts.Feature] = []
        if map?["ab_cd"] != nil { features.append(.contentCardSync) }
        if map?[keys.refreshFeatureFlags] != nil { features.append(.featureFlagsRefresh) }
        if map?[keys.refreshBanners] != nil { features.append(.bannersRefresh) }
        if map?["ab_sync_geos"] != nil { features.append(.geofencesSync) }
        if map?["ab_push_fetch_test_triggers_key"]?.equals("true") == true { features.append(.testInAppMessage) }
        if map?["ab_c"] != nil { features.append(.pushStory) }
        if map?["ab_a0_a"] != nil { features.append(.actions) }
        return features
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
