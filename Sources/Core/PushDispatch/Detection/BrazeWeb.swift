import PushModel

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
