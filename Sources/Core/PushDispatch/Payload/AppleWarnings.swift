import PushModel

extension ApplePayload {
    func warnings(braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        // The keys of other platforms' payloads.
        let others = aps == nil ? ["_ab", "extras", "notification"] : ["_ab"]
        // The data of a message of FCM v1 is for all platforms.
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
