import PushModel

extension WebPayload {
    func warnings(state: AppState, braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        if state == .forceQuit || state == .forceStopped { warnings.append(.stateOfAnotherPlatform(state)) }
        for (key, platform) in [("_ab", Platform.android), ("aps", .ios)] where object?[key] != nil {
            warnings.append(.keyOfAnotherPlatform(key, platform))
        }
        return warnings
    }
}
