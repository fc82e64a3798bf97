public import PushDispatch
public import PushHosts
public import PushModel

/// The rules of a gateway's desk: those that an operator decides, and the facts that nobody saw.
public struct DeskRules: Sendable {
    /// Whether only the service accounts and the keys that are known may send.
    public enum Proof: Hashable, Sendable {
        /// Anybody may send: nothing is checked.
        case anybody
        /// A sender proves who it is.
        case strict
    }

    /// The senders of FCM.
    public var accounts = Proof.anybody
    /// The providers of APNs.
    public var providers = Proof.anybody
    /// The answer to an unknown token.
    public var unknown = GatewaySettings.Unknown.accept
    /// Facts about assertions, provider tokens, APNs, conditions and misdirected requests.
    public var assertions = AssertionRules()
    public var providerTokens = ProviderRules()
    public var apns = APNsRules()
    public var conditions = TopicCondition.Rules()
    public var routing = RoutingRules()
    /// The quotas that are told of.
    public var quotas = QuotaRules()
    /// The bounds of the daemon's lines.
    public var lines = JSONLimits()
    /// How long a send counts as the same as an earlier one.
    public var retryWindow: Duration = .seconds(60)
    /// How many access tokens, and how many sends, are remembered.
    public var remembered = 4096

    /// Those under which anybody may send.
    public init() {}
}

/// A check of a token's signature.
public enum SignatureVerdict: Hashable, Sendable {
    /// The signature is the signer's.
    case good
    /// It is not.
    case bad
    /// No key of the signer is known.
    case unknownSigner
}

/// Whoever signed a token.
public enum TokenSigner: Hashable, Sendable {
    /// A service account, by its address.
    case account(String)
    /// A key of a team at Apple.
    case providerKey(id: String, team: String)
}
