public import PushModel

/// Decides on the platform's treatment of `delivery`, and on the provider of its payload.
///
/// Depends only on its arguments. The caller keeps the platform's memory (the ids that FCM has seen).
/// - Parameters:
///   - delivery: the delivery; its payload may have any of the accepted forms.
///   - settings: the configuration of detection.
/// - Returns: the decision, with its reasons.
/// - Throws: `PayloadError` for a payload that the platform's own server would refuse, or whose form is unknown.
public func decide(
    _ delivery: Delivery, settings: DetectionSettings = DetectionSettings()
) throws(PayloadError) -> Decision {
    switch delivery.platform {
    case .android:
        decide(
            delivery,
            payload: try AndroidPayload(delivery.payload, over: delivery.transport, named: delivery.messageID),
            settings: settings)
    case .ios: decide(delivery, payload: try ApplePayload(delivery), settings: settings)
    case .web:
        decide(delivery, payload: try WebPayload(delivery.payload, named: delivery.messageID), settings: settings)
    }
}

private func decide(_ delivery: Delivery, payload: some PlatformPayload, settings: DetectionSettings) -> Decision {
    defer { withExtendedLifetime(payload) {} }
    var reasons: [Reason] = []
    reasons.reserveCapacity(4)
    let providers = settings.matches(payload, on: delivery.platform)
    let owner = providers.first
    let isBraze = owner?.isBraze == true
    if !isBraze, let against = settings.reasonAgainstBraze(payload, on: delivery.platform) { reasons.append(against) }
    if let owner { reasons.append(.owner(owner)) }
    var braze = isBraze ? payload.brazeFacts(settings, because: &reasons) : nil
    if delivery.notifications == .denied, let place = reasons.lastIndex(of: .brazeTitleAndContent) {
        reasons[place] = .brazeNotificationDenied
    }
    var fate: Fate
    if payload.validateOnly {
        reasons.append(.validateOnly)
        fate = .decided(.swallowed)
    } else {
        fate = payload.fate(of: delivery, settings, because: &reasons)
    }
    owner?.change(&fate, because: &reasons)

    let isUndelivered = payload.validateOnly || fate.outcome == .notWoken
    let displayed =
        braze?.mayBeDisplayed == true && delivery.notifications == .allowed
        && payload.shows(braze?.kind ?? .silent, under: fate)
    let received = braze?.isMessage == true && (displayed || fate.outcome == nil)
    // T4: a push without a campaign cannot be an influenced open.
    if displayed, braze?.campaignID != nil, braze?.isInternal == false { braze?.countsForInfluencedOpen = true }

    return Decision(
        providers: providers, braze: braze, fate: fate, messageID: payload.messageID,
        transport: payload.transport, priorities: payload.priorities,
        duplicateID: isUndelivered ? nil : payload.duplicateID, app: delivery.app ?? payload.app,
        keys: PayloadKeys(payload: payload), received: received, displayed: displayed, reasons: reasons,
        circumstances: Circumstances(delivery))
}

extension ProviderMatch {
    /// Removes callbacks for a message that the owner's SDK handles by itself. The platform's own treatment stays.
    fileprivate func change(_ fate: inout Fate, because reasons: inout [Reason]) {
        // FCM's other callbacks concern the app's messages in general.
        guard case .callbacks(let callbacks) = fate else { return }
        switch platform {
        case .android: guard callbacks == [.onMessageReceived] else { return }
        case .ios, .web: break
        }
        if isProbe {
            let isForUninstallation = provider.purpose == .uninstallProbe
            reasons.append(isForUninstallation ? .uninstallProbe(title: provider.title) : .probe(title: provider.title))
            fate = .decided(.swallowed)
        } else if entry == .ownReceiver {
            reasons.append(.ownReceiver(title: provider.title))
            fate = .decided(.ownReceiver)
        }
    }
}
