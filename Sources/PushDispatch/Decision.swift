public import PushModel

/// What the platform would do with a delivery, and whose payload it is.
public struct Decision: Sendable {
    /// Every provider whose rule matches, the owner first.
    public var providers: [ProviderMatch]
    /// What a Braze payload is; `nil` unless `provider` is `braze`.
    public var braze: BrazeFacts?
    /// The callbacks in the order in which the platform would run them. Empty: `outcome` is set.
    public var invocations: [PlannedInvocation]
    /// How the delivery ends where no code of the app is called: `shownBySystem`, `notWoken`, `swallowed` or
    /// `ownReceiver`.
    public var outcome: Outcome?
    /// The payload's own id, if it has one.
    public var messageID: String?
    /// The id that the platform's list of recent messages goes by (FCM: the last ten, in the app's process); a delivery
    /// whose id is in it ends as `duplicate`. `nil` when it has none, or never gets so far.
    public var duplicateID: String?
    /// A digest of what the platform hands back when the notification is tapped (tracker, T15). Read when asked for.
    public var digest: UInt64? { keys.payload.digest }
    /// The app: the request's, else the one that an `.apns` file names.
    public var app: String?
    /// The payload's keys and the dashboard's key-values, for routes to match.
    public var keys: PayloadKeys
    /// Whether the tracker records a receipt: a Braze payload that reaches Braze's code, or is displayed (tracker, T9);
    /// never a probe for uninstallation or a notice of deleted messages.
    public var received: Bool
    /// Whether the tracker counts a Braze payload as shown to the user (tracker, T9).
    public var displayed: Bool
    /// Why, in order: whose payload it is, what it is, what the platform does. The last one explains `outcome`.
    public var reasons: [Reason]
    /// What the delivery says beside the payload, for the warnings.
    let circumstances: Circumstances

    /// What FCM's `RemoteMessage` would tell the app, by its getters. Read when asked for; `nil` where there is none.
    public var message: RemoteMessage? { keys.payload.remoteMessage }

    /// Whose payload it is; `nil` when no provider's rule matches.
    public var provider: String? { providers.first?.provider.name }

    /// The names of the providers whose rule matches, the owner first.
    public var matches: [String] { providers.map(\.provider.name) }

    /// What a reviewer would say about the payload. Looked for when asked: nothing is decided by it.
    public var warnings: [Warning] {
        let titles = providers.map(\.provider.title)
        let owners = titles.count > 1 ? [Warning.twoOwners(titles[0], others: Array(titles.dropFirst()))] : []
        return owners + keys.payload.warnings(state: circumstances.state, braze: braze)
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
}
