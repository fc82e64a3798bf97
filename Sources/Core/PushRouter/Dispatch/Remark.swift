import PushModel

/// A fact about pushes of a kind that surprises people, though nothing is wrong with the payload.
public enum Remark: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// A message of normal priority over FCM.
    case normalPriority
    /// A message that FCM delivered at a lower priority than the sender asked for.
    case loweredPriority
    /// A critical or a time-sensitive alert.
    case entitlement
    /// A push that wakes an iOS app.
    case silentOnApple

    // Source: Firebase, "Set and manage message priority"; Apple, "Pushing background updates to your App".
    public var description: String {
        switch self {
        case .normalPriority:
            "the message has normal priority: while the device is in Doze, FCM holds it until the next maintenance window; android.priority HIGH is delivered at once"
        case .loweredPriority:
            "the sender asked for high priority and FCM delivered it at normal: FCM lowers it for an app whose high-priority messages show nothing"
        case .entitlement:
            "a critical or time-sensitive alert needs an entitlement of the app: without it iOS shows it as any other alert"
        case .silentOnApple:
            "iOS decides whether a silent push wakes the app: Apple advises not more than two or three an hour, and with Background App Refresh off or in Low Power Mode it may wait or be dropped"
        }
    }
}

extension Decision {
    /// The remarks on the delivery. Computed on each access.
    public var remarks: [Remark] {
        var remarks: [Remark] = []
        if transport == .fcm, outcome == nil, !callbacks.contains(where: \.isBroadcast) {
            if originalPriority == .normal { remarks.append(.normalPriority) }
            if originalPriority == .high, deliveredPriority == .normal { remarks.append(.loweredPriority) }
        }
        if (keys.payload as? ApplePayload)?.needsEntitlement == true { remarks.append(.entitlement) }
        let isWaking = reasons.contains { $0 == .contentAvailable || $0 == .contentAvailableLaunches }
        if isWaking, !callbacks.contains(.willPresent) { remarks.append(.silentOnApple) }
        return remarks
    }
}
