import PushModel

extension ApplePayload {
    func warnings(braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        // What Android and the web call the same.
        let others = aps == nil ? ["_ab", "extras", "notification"] : ["_ab"]
        // The data of a message of FCM v1 is for all platforms alike.
        warnings += others.filter { userInfo?[$0] != nil }.map { .keyOfAnotherPlatform($0, .android) }
        if aps == nil, !hasFCMNotification, pushType?.isForOtherCode != true { warnings.append(.apsMissing) }
        for key in APSKey.allCases {
            guard let kind = aps?[key.rawValue]?.kind, !key.kinds.contains(kind) else { continue }
            warnings.append(.apsValueOfAnotherType(key, kind: kind.name))
        }
        if braze != nil, hasAlert, isContentAvailable { warnings.append(.brazeAlertAndContentAvailable) }
        warnings += refusals.map(Warning.refusedByAPNs)
        return warnings
    }
}
