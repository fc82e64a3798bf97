public import PushModel

/// Decides what the platform would do with `delivery`, and whose payload it is.
///
/// Depends on nothing but its arguments. The platform's memory (the ids that FCM has seen) is the caller's business.
/// - Parameters:
///   - delivery: the delivery; its payload may have any of the accepted forms.
///   - settings: what detection takes from the configuration.
/// - Returns: the decision, with its reasons.
/// - Throws: `PayloadError` for a payload that the platform's own server would refuse, or whose form cannot be read.
public func decide(
    _ delivery: Delivery, settings: DetectionSettings = DetectionSettings()
) throws(PayloadError) -> Decision {
    switch delivery.platform {
    case .android: decide(delivery, payload: try AndroidPayload(delivery.payload), settings: settings)
    case .ios: decide(delivery, payload: try ApplePayload(delivery.payload), settings: settings)
    case .web: decide(delivery, payload: try WebPayload(delivery.payload), settings: settings)
    }
}

private func decide(_ delivery: Delivery, payload: some PlatformPayload, settings: DetectionSettings) -> Decision {
    var reasons: [Reason] = []
    reasons.reserveCapacity(4)
    var braze = payload.brazeFacts(settings, because: &reasons)
    let fate: Fate
    if payload.validateOnly {
        reasons.append(.validateOnly)
        fate = .decided(.swallowed)
    } else {
        fate = payload.fate(of: delivery, because: &reasons)
    }

    var invocations: [PlannedInvocation] = []
    var outcome: Outcome?
    switch fate {
    case .callbacks(let callbacks):
        let owner: PlannedInvocation.Owner = braze == nil ? .route : .tracker
        invocations = callbacks.map { PlannedInvocation(callback: $0, owner: owner) }
    case .decided(let decided):
        outcome = decided
    }

    var displayed = false
    var received = false
    if var facts = braze {
        displayed =
            facts.mayBeDisplayed && delivery.notifications == .allowed && payload.shows(facts, under: fate)
        received = facts.isMessage && (displayed || outcome == nil)
        // T4: what has no campaign can be nobody's influenced open.
        facts.countsForInfluencedOpen = displayed && facts.campaignID != nil && !facts.isInternal
        braze = facts
    }

    return Decision(
        provider: braze == nil ? nil : "braze", matches: braze == nil ? [] : ["braze"], braze: braze,
        invocations: invocations, outcome: outcome, messageID: payload.messageID,
        duplicateID: delivery.platform == .android && delivery.state != .forceStopped ? payload.messageID : nil,
        app: delivery.app ?? payload.app,
        keys: PayloadKeys(payload: payload), received: received, displayed: displayed, reasons: reasons,
        circumstances: Circumstances(delivery))
}
