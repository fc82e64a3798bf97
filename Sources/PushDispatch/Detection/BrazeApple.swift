import PushModel

// Source: braze-swift-sdk 18.2.0, Sources/BrazeKitCompat/AppboyKit/ABKPushUtils.m. Its documentation counts a refresh of
// feature flags to `isInternal`, but the key is not public: on iOS it cannot be told.

extension ApplePayload {
    var reasonAgainstBraze: Reason? {
        guard let ab = self["ab"] else { return .noBrazeObject }
        return ab.kind == .object ? .brazeObjectIsEmpty : .brazeObjectIsNone
    }

    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts {
        // `isUninstallTrackingRemoteNotification`.
        if self["appboy_uninstall_tracking"]?.foundationBool == true {
            reasons.append(.brazeAppleUninstallTracking)
            return facts(.uninstallTracking)
        }
        // `isAppboySilentRemoteNotification`, an alert or not.
        let isSilent = isContentAvailable
        reasons.append(isSilent ? .brazeContentAvailable : .brazeWithoutContentAvailable)
        if campaignID == nil { reasons.append(.noCampaign) }
        return facts(isSilent ? .silent : .visible)
    }

    private func facts(_ kind: BrazeFacts.Kind) -> BrazeFacts {
        BrazeFacts(
            kind: kind, campaignID: campaignID, features: brazeFeatures, actions: brazeActions,
            deepLink: self["ab_uri"]?.nonEmptyString)
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
        self["ab"]?["c"]?.nonEmptyString
    }

    /// Braze's own keys are not the dashboard's.
    var dashboardPairs: [(key: String, value: JSONNode)] {
        (userInfo?.members ?? []).filter { key, _ in
            key != "aps" && key != "ab" && !key.hasPrefix("ab_") && self[key] != nil
        }
    }

    private var brazeFeatures: [BrazeFacts.Feature] {
        let ab = self["ab"]
        var features: [BrazeFacts.Feature] = []
        if ab?["ab_cd"] != nil { features.append(.contentCardSync) }
        if self["ab_sync_geos"]?.foundationBool == true { features.append(.geofencesSync) }
        if self["ab_push_fetch_test_triggers_key"]?.foundationBool == true { features.append(.testInAppMessage) }
        if ab?["ab_carousel"] != nil { features.append(.pushStory) }
        let isOfDefaultCategory = category.flatMap { BrazeCategory(rawValue: $0) } != nil
        if ab?["ab_cat"] != nil || isOfDefaultCategory { features.append(.actions) }
        if ab?["att"]?.kind == .object { features.append(.attachment) }
        return features
    }
}
