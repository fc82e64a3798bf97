import PushModel

// Source: the service worker 3.5.1 of braze-web-sdk for the keys. It takes every payload that is not empty for its own;
// what later workers look at is not public (UNVERIFIED), so a campaign or a key of Braze's form decides.

extension WebPayload {
    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts? {
        if object?["cid"]?.kind == .string {
            reasons.append(.brazeWebCampaign)
        } else if object?.members.contains(where: { $0.key.hasPrefix("ab_") }) == true {
            reasons.append(.brazeWebKey)
        } else {
            reasons.append(isEmpty ? .webPayloadEmpty : .noBrazeWebKey)
            return nil
        }
        let campaignID = object?["cid"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        if campaignID == nil { reasons.append(.noCampaign) }
        return BrazeFacts(kind: .visible, campaignID: campaignID, features: brazeFeatures)
    }

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
