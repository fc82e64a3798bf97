import PushModel

/// The facts about the device in a delivery, for the warnings.
struct Circumstances: Sendable {
    let platform: Platform
    let state: AppState
    let locked: Bool
    let sdk: SDKState

    init(_ delivery: Delivery) {
        platform = delivery.platform
        state = delivery.state
        locked = delivery.locked
        sdk = delivery.sdk
    }

    /// A warning if apps of the platform are never in this state.
    var stateWarnings: [Warning] { platform.appStates.contains(state) ? [] : [.stateOfAnotherPlatform(state)] }

    /// Returns the warnings that depend on the payload only by whether it is Braze's.
    func warnings(isBraze: Bool) -> [Warning] {
        var warnings: [Warning] = []
        // A locked screen counts as background on Android, and only an iOS app may lack its Braze instance.
        let (lockMatters, appMayLackSDK) =
            switch platform {
            case .android: (true, false)
            case .ios: (false, true)
            case .web: (false, false)
            }
        if locked, !lockMatters { warnings.append(.lockedHasNoEffect(platform)) }
        let sdkMatters = appMayLackSDK && isBraze
        switch sdk {
        case .ready: break
        case .missing: warnings.append(sdkMatters ? .sdkMissing : .sdkHasNoEffect(platform))
        case .delayed: warnings.append(sdkMatters ? .sdkDelayed : .sdkHasNoEffect(platform))
        }
        return warnings
    }
}
