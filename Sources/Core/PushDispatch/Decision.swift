public import PushModel

/// The platform's treatment of a delivery, and the provider of its payload. A class: it is large and never changes.
public final class Decision: Sendable {
    /// The providers whose rules match, the owner first.
    public let providers: [ProviderMatch]
    /// The classification of a Braze payload; `nil` if `provider` is not `braze`.
    public let braze: BrazeFacts?
    /// The callbacks in the order of the platform's calls. Empty: `outcome` is set.
    public let callbacks: [Callback]
    /// The outcome of a delivery without a callback: `shownBySystem`, `notWoken`, `swallowed` or `ownReceiver`.
    public let outcome: Outcome?
    /// The payload's own id; `nil`: it has none.
    public let messageID: String?
    /// The transport of the payload.
    public let transport: Transport
    /// The priority at which the message was sent over FCM; `nil`: the payload does not have it.
    public let originalPriority: MessagePriority?
    /// The priority at which FCM delivered it, perhaps a lower one; `nil`: the payload does not have it.
    public let deliveredPriority: MessagePriority?
    /// The id for the platform's list of recent messages (FCM: the last ten, in the app's process). A delivery whose id
    /// is in the list ends as `duplicate`. `nil`: the payload has none, or the platform does not check the list.
    public let duplicateID: String?
    /// The app: the request's, or the one that an `.apns` file names.
    public let app: String?
    /// The payload's keys and the dashboard's key-values, for the conditions of routes.
    public let keys: PayloadKeys
    /// Whether the tracker records a receipt: a Braze payload that reaches Braze's code, or is displayed (rule T9);
    /// never an uninstall probe or a notice of deleted messages.
    public let received: Bool
    /// Whether the tracker counts a Braze payload as displayed (rule T9).
    public let displayed: Bool
    /// The reasons in order: the provider, the kind, the platform's treatment. The last one explains `outcome`.
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

    /// The change of the push token that a callback passes to the app's code. Computed on each read.
    public var tokenChange: TokenChange? {
        callbacks.first?.isBroadcast == true ? keys.payload.tokenChange : nil
    }

    /// A digest of the payload that the platform hands back on a tap (rule T15). Computed on each read.
    public var digest: UInt64? { keys.payload.digest }

    /// The getters of FCM's `RemoteMessage`, computed on each read; `nil`: there is no such object.
    public var message: RemoteMessage? { keys.payload.remoteMessage }

    /// The platform of the payload.
    public var platform: Platform { circumstances.platform }

    /// The provider of the payload; `nil`: no provider's rule matches.
    public var provider: String? { providers.first?.name }

    /// The names of the providers whose rules match, the owner first.
    public var matches: [String] { providers.map(\.name) }

    /// Calls a closure for each button of a Braze notification with an id and a known action, in order: with the id in
    /// UTF-8 and the action.
    ///
    /// - Parameter isEnough: returns whether to stop.
    public func forEachButton(until isEnough: (UnsafeBufferPointer<UInt8>, ButtonAction) -> Bool) {
        defer { withExtendedLifetime(keys) {} }
        keys.payload.forEachButton { button in
            guard let id = button.id, let action = ButtonAction(button.kind) else { return false }
            return id.withUTF8 { isEnough($0, action) }
        }
    }

    /// The warnings about the payload. Computed on each read: no decision depends on them.
    public var warnings: [Warning] {
        let titles = providers.map(\.provider.title)
        let owners = titles.count > 1 ? [Warning.twoOwners(titles[0], others: Array(titles.dropFirst()))] : []
        return owners + circumstances.stateWarnings + keys.payload.warnings(braze: braze)
            + (braze?.warnings(on: platform) ?? [])
            + (braze?.kind == .silent && braze?.campaignID != nil && received && !displayed
                ? [.brazeCampaignNotDisplayed] : [])
            + circumstances.warnings(isBraze: braze != nil)
    }
}

/// A callback of the platform for a delivery.
public struct PlannedInvocation: Hashable, Sendable {
    /// The owner of a callback.
    public enum Owner: Hashable, Sendable {
        /// The tracker of opens: the payload is Braze's.
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

/// The platform's treatment of a payload, whichever provider it has.
enum Fate: Hashable, Sendable {
    /// The platform calls code of the app: these callbacks, in this order; never empty.
    case callbacks([Callback])
    /// The platform calls no code of the app.
    case decided(Outcome)

    /// The outcome without code of the app; `nil`: some runs.
    var outcome: Outcome? {
        if case .decided(let outcome) = self { outcome } else { nil }
    }
}

/// A change of the push token that an intent brings.
public struct TokenChange: Hashable, Sendable {
    /// The kind of the change.
    public var kind: TokenRequest.Kind
    /// The token, or the installation id; `nil`: the intent has none.
    public var token: String?
}
