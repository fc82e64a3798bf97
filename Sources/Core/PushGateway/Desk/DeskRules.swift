public import PushModel
import PushRouter
public import PushSettings

/// The rules of a gateway's desk: the operator's choices, and unverified facts.
public struct DeskRules: Sendable {
    /// Whether senders must authenticate.
    public enum Proof: Hashable, Sendable {
        /// Any sender: the desk checks nothing.
        case anybody
        /// Senders must authenticate as a known service account or key.
        case strict
    }

    /// The proof for senders of FCM.
    public var accounts = Proof.anybody
    /// The proof for providers of APNs.
    public var providers = Proof.anybody
    /// The answer to an unknown token.
    public var unknown = GatewaySettings.Unknown.accept
    /// The service whose answers web pushes get.
    public var webPush = GatewaySettings.WebPushService.google
    /// The requests that no sender makes.
    var guests = GuestRules()
    /// Rules on assertions, provider tokens, APNs, conditions and misdirected requests.
    var assertions = AssertionRules()
    var providerTokens = ProviderRules()
    var apns = APNsRules()
    var conditions = TopicCondition.Rules()
    var routing = RoutingRules()
    /// The quotas that cause a remark.
    var quotas = QuotaRules()
    /// The limits of the daemon's lines.
    public var lines = JSONLimits()
    /// The time within which an equal send counts as a repetition.
    var retryWindow: Duration = .seconds(60)
    /// The limit of remembered access tokens, and of remembered sends.
    var remembered = 4096

    /// Creates rules by which anybody may send.
    public init() {}
}

/// The result of the check of a token's signature.
public enum SignatureVerdict: Hashable, Sendable {
    /// The signer made the signature.
    case good
    /// The signature is wrong.
    case bad
    /// The gateway has no key of the signer.
    case unknownSigner
}

/// The signer of a token.
public enum TokenSigner: Hashable, Sendable {
    /// A service account, by its address.
    case account(String)
    /// A key of a team at Apple.
    case providerKey(id: String, team: String)
}

extension GatewaySettings {
    /// The rules of the desk.
    public var rules: DeskRules {
        var rules = DeskRules()
        if credentials != nil { rules.accounts = .strict }
        if provider == .strict { rules.providers = .strict }
        rules.unknown = unknown
        rules.webPush = webPush
        rules.guests.names = Set(names.map { $0.lowercased() })
        rules.apns.takesOnlyHexadecimalTokens = hexadecimalTokens
        rules.quotas.projectPerMinute = projectPerMinute
        rules.quotas.devicePerMinute = devicePerMinute
        rules.quotas.devicePerHour = devicePerHour
        rules.quotas.appleDevicePerMinute = appleDevicePerMinute
        return rules
    }
}

extension GatewaySettings {
    /// The changed keys that take effect only at the next start.
    public func keysForNextStart(from running: GatewaySettings) -> [String] {
        let keys: [(String, Bool)] = [
            ("Listen", listen != running.listen), ("Names", names != running.names),
            ("ConnectionsMax", connectionsMax != running.connectionsMax),
            ("StreamsMax", streamsMax != running.streamsMax), ("BodySizeMax", bodySizeMax != running.bodySizeMax),
            ("IdleTimeout", idleTimeout != running.idleTimeout),
        ]
        return keys.filter(\.1).map(\.0)
    }
}

/// The facts about the connection that brought a request.
public struct ConnectionFacts: Hashable, Sendable {
    /// The peer and the connection's number, for people: `127.0.0.1 #12`, `uid 1000 #3`.
    public var name: String
    /// The connection's number.
    public var number: UInt64
    /// The topics in the client's certificate; `nil` if the client showed none.
    public var certificateTopics: [String]?
    /// Whether the client is on this machine.
    public var isLocal: Bool
    /// Whether the client came by a Unix socket, which no page in a browser reaches.
    public var isUnix: Bool
    /// Whether the client speaks HTTP/2; otherwise HTTP/1.1.
    public var isHTTP2: Bool
    /// The number of its requests that wait for an answer, this one included.
    public var unanswered = 1

    /// Joins the parts.
    public init(
        name: String, number: UInt64 = 1, certificateTopics: [String]? = nil, isLocal: Bool = true,
        isUnix: Bool = false, isHTTP2: Bool = true
    ) {
        (self.name, self.number, self.certificateTopics) = (name, number, certificateTopics)
        (self.isLocal, self.isUnix, self.isHTTP2) = (isLocal, isUnix, isHTTP2)
    }
}
