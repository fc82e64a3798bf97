import PushModel

// Source: the service worker 3.5.1 of braze-web-sdk for the keys.

extension WebPayload {
    var reasonAgainstBraze: Reason? { isEmpty ? .webPayloadEmpty : .noBrazeWebKey }

    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts {
        let campaignID = object?["cid"]?.nonEmptyString
        if campaignID == nil { reasons.append(.noCampaign) }
        return BrazeFacts(
            kind: .visible, campaignID: campaignID, features: brazeFeatures, actions: brazeActions,
            deepLink: object?["u"]?.nonEmptyString)
    }

    var dashboardPairs: [(key: String, value: JSONNode)] { object?["e"]?.members ?? [] }

    func shows(_ braze: BrazeFacts, under fate: Fate) -> Bool {
        guard case .callbacks = fate else { return false }
        return true
    }

    private var brazeFeatures: [BrazeFacts.Feature] {
        var features: [BrazeFacts.Feature] = []
        if object?["ab_cd"] != nil { features.append(.contentCardSync) }
        if object?["ab_push_fetch_test_triggers_key"]?.foundationBool == true { features.append(.testInAppMessage) }
        if object?["pab"].map({ $0.count > 0 }) == true { features.append(.actions) }
        return features
    }
}
