import PushModel

// Source: braze-swift-sdk 18.2.0, Sources/BrazeKitCompat/AppboyKit/ABKPushUtils.m. Its documentation includes a refresh
// of feature flags in `isInternal`, but the key is not public: on iOS it cannot be detected.

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
        // `isAppboySilentRemoteNotification`, with or without an alert.
        let isSilent = isContentAvailable
        reasons.append(isSilent ? .brazeContentAvailable : .brazeWithoutContentAvailable)
        let facts = facts(isSilent ? .silent : .visible)
        if facts.campaignID == nil { reasons.append(.noCampaign) }
        return facts
    }

    private func facts(_ kind: BrazeFacts.Kind) -> BrazeFacts {
        // `null` for API campaigns and tests.
        let campaignID = member("ab")?.member("c")?.nonEmptyString
        return BrazeFacts(self, kind: kind, campaignID: campaignID, features: brazeFeatures)
    }

    var brazeLink: String? { member("ab_uri")?.nonEmptyString }

    /// Whether iOS shows the payload: with or without code of the app, whatever the SDK's classification (rule T9).
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
