public import PushDispatch
public import PushHosts
public import PushModel

/// The rules of a gateway's desk: those that an operator sets, and unverified facts about the services.
public struct DeskRules: Sendable {
    /// The proof that a sender needs.
    public enum Proof: Hashable, Sendable {
        /// None: any sender may send.
        case anybody
        /// A known service account or key.
        case strict
    }

    /// The proof for senders of FCM.
    public var accounts = Proof.anybody
    /// The proof for providers of APNs.
    public var providers = Proof.anybody
    /// The answer to an unknown token.
    public var unknown = GatewaySettings.Unknown.accept
    /// The rules for assertions, provider tokens, APNs, conditions and misdirected requests.
    public var assertions = AssertionRules()
    public var providerTokens = ProviderRules()
    public var apns = APNsRules()
    public var conditions = TopicCondition.Rules()
    public var routing = RoutingRules()
    /// The quotas that are reported.
    public var quotas = QuotaRules()
    /// The limits of the daemon's lines.
    public var lines = JSONLimits()
    /// The time in which an equal send counts as a repetition.
    public var retryWindow: Duration = .seconds(60)
    /// The largest number of remembered access tokens, and of remembered sends.
    public var remembered = 4096

    /// Makes rules under which any sender may send.
    public init() {}
}

/// The result of the check of a token's signature.
public enum SignatureVerdict: Hashable, Sendable {
    /// The signer made the signature.
    case good
    /// The signer did not make the signature.
    case bad
    /// The gateway knows no key of the signer.
    case unknownSigner
}

/// The signer of a token.
public enum TokenSigner: Hashable, Sendable {
    /// A service account, by its address.
    case account(String)
    /// A key of a team at Apple.
    case providerKey(id: String, team: String)
}
