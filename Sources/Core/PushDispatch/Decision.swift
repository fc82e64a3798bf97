public import PushModel

/// What the platform would do with a delivery, and whose payload it is. A reference: it is large, and never changes.
public final class Decision: Sendable {
    /// Every provider whose rule matches, the owner first.
    public let providers: [ProviderMatch]
    /// What a Braze payload is; `nil` unless `provider` is `braze`.
    public let braze: BrazeFacts?
    /// The callbacks in the order in which the platform would run them. Empty: `outcome` is set.
    public let callbacks: [Callback]
    /// How the delivery ends where no code of the app is called: `shownBySystem`, `notWoken`, `swallowed` or
    /// `ownReceiver`.
    public let outcome: Outcome?
    /// The payload's own id, if it has one.
    public let messageID: String?
    /// What brought the payload.
    public let transport: Transport
    /// The priority with which the message was sent over FCM; `nil` where the payload does not tell.
    public let originalPriority: MessagePriority?
    /// The priority with which FCM delivered it, which may be lower; `nil` where the payload does not tell.
    public let deliveredPriority: MessagePriority?
    /// The id that the platform's list of recent messages goes by (FCM: the last ten, in the app's process); a delivery
    /// whose id is in it ends as `duplicate`. `nil` when it has none, or never gets so far.
    public let duplicateID: String?
    /// The app: the request's, else the one that an `.apns` file names.
    public let app: String?
    /// The payload's keys and the dashboard's key-values, for routes to match.
    public let keys: PayloadKeys
    /// Whether the tracker records a receipt: a Braze payload that reaches Braze's code, or is displayed (rule T9);
    /// never a probe for uninstallation or a notice of deleted messages.
    public let received: Bool
    /// Whether the tracker counts a Braze payload as shown to the user (rule T9).
    public let displayed: Bool
    /// Why, in order: whose payload it is, what it is, what the platform does. The last one explains `outcome`.
    public let reasons: [Reason]
    /// What the delivery says beside the payload, for the warnings.
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

    /// Who gets the callbacks.
    public var owner: PlannedInvocation.Owner { braze == nil ? .route : .tracker }

    /// The callbacks, each with who gets it.
    public var invocations: [PlannedInvocation] {
        callbacks.map { PlannedInvocation(callback: $0, owner: owner) }
    }

    /// Whether the system shows a Braze push that Braze's SDK never sees: its open is lost.
    public var losesOpen: Bool { reasons.contains { $0.code == .brazeLost } }

    /// What the app's code hears of its push token, where a callback runs that tells it. Read when asked for.
    public var tokenChange: TokenChange? {
        callbacks.first?.isBroadcast == true ? keys.payload.tokenChange : nil
    }

    /// A digest of what the platform hands back when the notification is tapped (rule T15). Read when asked for.
    public var digest: UInt64? { keys.payload.digest }

    /// What FCM's `RemoteMessage` would tell the app, by its getters. Read when asked for; `nil` where there is none.
    public var message: RemoteMessage? { keys.payload.remoteMessage }

    /// The platform that the payload was taken for.
    public var platform: Platform { circumstances.platform }

    /// Whose payload it is; `nil` when no provider's rule matches.
    public var provider: String? { providers.first?.name }

    /// The names of the providers whose rule matches, the owner first.
    public var matches: [String] { providers.map(\.name) }

    /// Shows each button of a Braze notification that a press on can be told apart from others, in their order: its id
    /// in UTF-8 and what it does.
    ///
    /// - Parameter isEnough: returns whether the others need not be shown.
    public func forEachButton(until isEnough: (UnsafeBufferPointer<UInt8>, ButtonAction) -> Bool) {
        defer { withExtendedLifetime(keys) {} }
        keys.payload.forEachButton { button in
            guard let id = button.id, let action = ButtonAction(button.kind) else { return false }
            return id.withUTF8 { isEnough($0, action) }
        }
    }

    /// What a reviewer would say about the payload. Looked for when asked: nothing is decided by it.
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

/// One platform callback that a delivery leads to.
public struct PlannedInvocation: Hashable, Sendable {
    /// Who gets it.
    public enum Owner: Hashable, Sendable {
        /// The tracker of opens: the payload is Braze's.
        case tracker
        /// The first route that matches.
        case route
    }

    /// The callback.
    public var callback: Callback
    /// Who gets it.
    public var owner: Owner

    /// Joins the two.
    public init(callback: Callback, owner: Owner) {
        self.callback = callback
        self.owner = owner
    }
}

/// What the platform does with a payload, whoever's it is.
enum Fate: Hashable, Sendable {
    /// It runs code of the app: these callbacks, in this order; never none.
    case callbacks([Callback])
    /// It runs none.
    case decided(Outcome)

    /// How it ends without code of the app; `nil` when some runs.
    var outcome: Outcome? {
        if case .decided(let outcome) = self { outcome } else { nil }
    }
}

/// A change of the push token that comes as an intent.
public struct TokenChange: Hashable, Sendable {
    /// What happened to it.
    public var kind: TokenRequest.Kind
    /// The token, or the installation id; `nil` where the intent has none.
    public var token: String?
}
