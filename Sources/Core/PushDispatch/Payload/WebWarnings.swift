import PushModel

extension WebPayload {
    func warnings(braze: BrazeFacts?) -> [Warning] {
        guard !isDataOfAll else { return [] }
        var warnings: [Warning] = []
        for (key, platform) in [("_ab", Platform.android), ("aps", .ios)] where object?[key] != nil {
            warnings.append(.keyOfAnotherPlatform(key, platform))
        }
        return warnings
    }
}
