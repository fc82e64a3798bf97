import PushModel

// Source: braze-swift-sdk 18.2.0, Sources/BrazeKitCompat/AppboyKit/ABKPushUtils.m. Its documentation counts a refresh of
// feature flags to `isInternal`, but the key is not public: on iOS it cannot be told.

extension ApplePayload {
    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts? {
        // `isUninstallTrackingRemoteNotification` needs no `ab`: a dispatcher that tests `ab` first gives it away.
        if self["appboy_uninstall_tracking"]?.foundationBool == true {
            reasons.append(.brazeAppleUninstallTracking)
            return BrazeFacts(kind: .uninstallTracking, campaignID: campaignID, features: brazeFeatures)
        }
        guard let ab = self["ab"] else {
            reasons.append(.noBrazeObject)
            return nil
        }
        guard ab.kind == .object else {
            reasons.append(.brazeObjectIsNone)
            return nil
        }
        guard ab.count > 0 else {
            reasons.append(.brazeObjectIsEmpty)
            return nil
        }
        reasons.append(.brazeObject)
        // `isAppboySilentRemoteNotification`, an alert or not.
        let isSilent = isContentAvailable
        reasons.append(isSilent ? .brazeContentAvailable : .brazeWithoutContentAvailable)
        if campaignID == nil { reasons.append(.noCampaign) }
        return BrazeFacts(kind: isSilent ? .silent : .visible, campaignID: campaignID, features: brazeFeatures)
    }

    /// The user sees what iOS shows, whether code of the app runs or not, and whatever it is to the SDK (tracker, T9).
    func shows(_ braze: BrazeFacts, under fate: Fate) -> Bool {
        switch fate {
        case .callbacks, .decided(.shownBySystem): hasAlert
        case .decided: false
        }
    }

    /// `null` for API campaigns and tests.
    private var campaignID: String? {
        self["ab"]?["c"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    private var brazeFeatures: [BrazeFacts.Feature] {
        let ab = self["ab"]
        var features: [BrazeFacts.Feature] = []
        if ab?["ab_cd"] != nil { features.append(.contentCardSync) }
        if self["ab_sync_geos"]?.foundationBool == true { features.append(.geofencesSync) }
        if self["ab_push_fetch_test_triggers_key"]?.foundationBool == true { features.append(.testInAppMessage) }
        if ab?["ab_carousel"] != nil { features.append(.pushStory) }
        if ab?["ab_cat"] != nil || category.flatMap({ BrazeCategory(rawValue: $0) }) != nil { features.append(.actions) }
        if ab?["att"]?.kind == .object { features.append(.attachment) }
        return features
    }
}
