public import PushModel

/// The platform's decision on a delivery, and the provider of its payload. A class, because it is large and immutable.
public final class Decision: Sendable {
    /// The providers whose rules match, the owner first.
    public let providers: [ProviderMatch]
    /// The facts about a Braze payload; `nil` unless `provider` is `braze`.
    public let braze: BrazeFacts?
    /// The callbacks in the order in which the platform would run them. If empty, `outcome` is set.
    public let callbacks: [Callback]
    /// The outcome if the platform calls no code of the app: `shownBySystem`, `notWoken`, `swallowed` or `ownReceiver`.
    public let outcome: Outcome?
    /// The payload's own message id; `nil` if it has none.
    public let messageID: String?
    /// The service that carried the payload.
    public let transport: Transport
    /// The priority at which the message was sent over FCM; `nil` if the payload does not state it.
    public let originalPriority: MessagePriority?
    /// The priority at which FCM delivered it, perhaps a lower one; `nil` if the payload does not state it.
    public let deliveredPriority: MessagePriority?
    /// The id for the platform's list of recent messages (FCM: the last ten, in the app's process); a delivery whose id
    /// is in the list ends as `duplicate`. `nil` if it has no id, or does not reach the list.
    public let duplicateID: String?
    /// The app: the request's, or the one that an `.apns` file names.
    public let app: String?
    /// The payload's keys and the dashboard's key-values, for matching routes.
    public let keys: PayloadKeys
    /// Whether the tracker records a receipt: for a Braze payload that reaches Braze's code or is displayed (rule T9),
    /// except an uninstall probe and a notice of deleted messages.
    public let received: Bool
    /// Whether the tracker counts a Braze payload as displayed (rule T9).
    public let displayed: Bool
    /// The reasons in order: the provider, the kind of payload, the platform's treatment. The last one explains
    /// `outcome`.
    public let reasons: [Reason]
    /// The facts of the delivery beside the payload, for the warnings.
    private let circumstances: Circumstances

    init(
        providers: [ProviderMatch], braze: BrazeFacts?, fate: Fate, messageID: String?, transport: Transport,
        priorities: (original: MessagePriority?, delivered: MessagePriority?), duplicateID: String?,
        app: String?, keys: PayloadKeys, received: Bool, displayed: Bool, reasons: [Reason],
        circumstances: Circumstances
    ) {
        self.providers = providers
        self.braze = braze
        switch fate {
        case .callbacks(let callbacks): (self.callbacks, outcome) = (callbacks, nil)
        case .decided(let outcome): (callbacks, self.outcome) = ([], outcome)
        }
        self.messageID = messageID
        self.transport = transport
        (originalPriority, deliveredPriority) = priorities
        self.duplicateID = duplicateID
        self.app = app
        self.keys = keys
        self.received = received
        self.displayed = displayed
        self.reasons = reasons
        self.circumstances = circumstances
    }

    /// The owner of the callbacks.
    public var owner: PlannedInvocation.Owner { braze == nil ? .route : .tracker }

    /// The callbacks, each with its owner.
    public var invocations: [PlannedInvocation] {
        callbacks.map { PlannedInvocation(callback: $0, owner: owner) }
    }

    /// Whether the system shows a Braze push that Braze's SDK never sees, so that its open is lost.
    public var losesOpen: Bool { reasons.contains { $0.code == .brazeLost } }

    /// The change of the push token that a callback reports to the app; `nil` if none does. Parsed on each access.
    var tokenChange: TokenChange? {
        callbacks.first?.isBroadcast == true ? keys.payload.tokenChange : nil
    }

    /// The time for which the push service keeps the message; `nil` if the payload does not state it. Parsed on each
    /// access.
    var timeToLive: TimeToLive? { keys.payload.timeToLive }

    /// The digest of the payload that the platform hands back on a tap (rule T15). Computed on each access.
    public var digest: UInt64? { keys.payload.digest }

    /// The values that the getters of FCM's `RemoteMessage` would return; `nil` if there is no message. Parsed on each
    /// access.
    public var message: RemoteMessage? { keys.payload.remoteMessage }

    /// The platform of the delivery.
    public var platform: Platform { circumstances.platform }

    /// The name of the payload's provider; `nil` if no rule matches.
    public var provider: String? { providers.first?.name }

    /// The names of the providers whose rules match, the owner first.
    public var matches: [String] { providers.map(\.name) }

    /// Calls a closure for each button of a Braze notification that has an id and a known action, in order: with its id
    /// in UTF-8 and its action.
    ///
    /// - Parameter isEnough: returns whether to stop.
    func forEachButton(until isEnough: (UnsafeBufferPointer<UInt8>, ButtonAction) -> Bool) {
        defer { withExtendedLifetime(keys) {} }
        keys.payload.forEachButton { button in
            guard let id = button.id, let action = ButtonAction(button.kind) else { return false }
            return id.withUTF8 { isEnough($0, action) }
        }
    }

    /// Warnings about the payload. Computed on each access, because no decision depends on them.
    public var warnings: [Warning] {
        let titles = providers.map(\.provider.title)
        let owners = titles.count > 1 ? [Warning.twoOwners(titles[0], others: Array(titles.dropFirst()))] : []
        let others = keys.payload.warnings(braze: braze)
        let ofPayload = transport == .adm || transport == .hms ? others.filter { !$0.isOfFCM } : others
        return owners + circumstances.stateWarnings + ofPayload
            + (braze?.warnings(on: platform) ?? [])
            + (braze?.kind == .silent && braze?.campaignID != nil && received && !displayed
                ? [.brazeCampaignNotDisplayed] : [])
            + circumstances.warnings(isBraze: braze != nil)
    }
}

/// A platform callback that a delivery leads to.
public struct PlannedInvocation: Hashable, Sendable {
    /// The owner of a callback.
    public enum Owner: Hashable, Sendable {
        /// The tracker of opens, for a Braze payload.
        case tracker
        /// The first matching route.
        case route
    }

    /// The callback.
    public var callback: Callback
    /// The owner.
    public var owner: Owner

    /// Joins the two.
    public init(callback: Callback, owner: Owner) {
        self.callback = callback
        self.owner = owner
    }
}

/// The platform's treatment of a payload, independent of its provider.
enum Fate: Hashable, Sendable {
    /// It runs code of the app: these callbacks in this order, at least one.
    case callbacks([Callback])
    /// It runs no code of the app; the delivery has this outcome.
    case decided(Outcome)

    /// The outcome without code of the app; `nil` if the platform runs some.
    var outcome: Outcome? {
        if case .decided(let outcome) = self { outcome } else { nil }
    }
}

/// A change of the push token in an intent.
struct TokenChange: Hashable, Sendable {
    /// The kind of change.
    public var kind: TokenRequest.Kind
    /// The token, or the installation id; `nil` if the intent has none.
    public var token: String?
}

/// Decides the platform's treatment of `delivery`, and finds the provider of its payload.
///
/// The result depends only on the arguments. The caller handles the platform's memory, such as the ids that FCM has
/// seen.
/// - Parameters:
///   - delivery: the delivery; its payload may have any accepted form.
///   - settings: the settings of provider detection.
/// - Returns: the decision, with its reasons.
/// - Throws: `PayloadError` for a payload that the platform's own server would refuse, or whose form is unreadable.
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
    if let refusal = delivery.refusal {
        reasons.append(Reason(refusal))
        fate = .decided(.swallowed)
    } else if payload.validateOnly {
        reasons.append(.validateOnly)
        fate = .decided(.swallowed)
    } else {
        fate = payload.fate(of: delivery, settings, because: &reasons)
    }
    owner?.change(&fate, over: payload.transport, because: &reasons)

    let isUndelivered = payload.validateOnly || delivery.refusal != nil || fate.outcome == .notWoken
    let displayed =
        braze?.mayBeDisplayed == true && delivery.notifications == .allowed
        && payload.shows(braze?.kind ?? .silent, under: fate)
    let received = braze?.isMessage == true && (displayed || fate.outcome == nil)
    // T4: a push without a campaign has no influenced open.
    if displayed, braze?.campaignID != nil, braze?.isInternal == false { braze?.countsForInfluencedOpen = true }

    return Decision(
        providers: providers, braze: braze, fate: fate, messageID: payload.messageID,
        transport: payload.transport, priorities: payload.priorities,
        duplicateID: isUndelivered ? nil : payload.duplicateID, app: delivery.app ?? payload.app,
        keys: PayloadKeys(payload: payload), received: received, displayed: displayed, reasons: reasons,
        circumstances: Circumstances(delivery))
}

extension ProviderMatch {
    /// Replaces the callbacks by an outcome if the payload is a probe, or if the receiver of the owner's SDK gets it. A
    /// fate without callbacks, and FCM's callbacks without a message, stay unchanged.
    fileprivate func change(_ fate: inout Fate, over transport: Transport, because reasons: inout [Reason]) {
        // FCM's other callbacks concern the app's messages as a whole.
        guard case .callbacks(let callbacks) = fate else { return }
        switch platform {
        case .android: guard callbacks == [.onMessageReceived] else { return }
        case .ios, .web: break
        }
        if isProbe {
            let isForUninstallation = provider.purpose == .uninstallProbe
            reasons.append(isForUninstallation ? .uninstallProbe(title: provider.title) : .probe(title: provider.title))
            fate = .decided(.swallowed)
        } else if entry == .ownReceiver, transport == .fcm {
            // Only FCM's message is a broadcast; HMS and ADM have one service for all.
            reasons.append(.ownReceiver(title: provider.title))
            fate = .decided(.ownReceiver)
        }
    }
}
