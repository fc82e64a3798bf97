public import PushDispatch
public import PushModel

/// The token of a provider of pushes to APNs, before anybody checks its signature.
public struct ProviderToken: Sendable {
    /// The token itself.
    public let token: WebToken
    /// `kid`: the key, as Apple names it.
    public let keyID: String
    /// `iss`: the team.
    public let team: String
    /// `iat`: when it was made.
    public let issued: WallTime

    /// Reads the header `authorization`.
    ///
    /// - Throws: APNs' reason: ``APNsReason/missingProviderToken``, ``APNsReason/invalidProviderToken``.
    public init(_ header: String?) throws(APNsReason) {
        guard let header, !header.isEmpty else { throw .missingProviderToken }
        guard let bearer = BearerToken(header), let token = WebToken(bearer.text), token.algorithm == "ES256",
            let keyID = token.keyID, let team = token.text("iss"), let issued = token.time("iat"), !keyID.isEmpty,
            !team.isEmpty
        else { throw .invalidProviderToken }
        self.token = token
        self.keyID = keyID
        self.team = team
        self.issued = issued
    }
}

/// The demands on the tokens of providers.
public struct ProviderRules: Hashable, Sendable {
    /// The age from which on a token is refused, in seconds. Apple says an hour (UNVERIFIED to the second).
    public var oldest: Int64 = 3600
    /// How far ahead of us the clock of whoever made it may be, in seconds (UNVERIFIED).
    public var skew: Int64 = 300
    /// How old a provider's token must be before the next one is taken, in seconds. Apple says 20 minutes (UNVERIFIED to the
    /// second).
    public var soonestUpdate: Int64 = 1200

    /// Apple's.
    public init() {}

    /// APNs' reason against a token; `nil`: none.
    public func refusal(of token: ProviderToken, at now: WallTime) -> APNsReason? {
        guard token.issued.seconds <= now.seconds + skew else { return .invalidProviderToken }
        return now.seconds - token.issued.seconds >= oldest ? .expiredProviderToken : nil
    }
}

/// The tokens that the providers on one connection, or all of them, used last: a provider may not make a new one at each
/// send.
public struct ProviderTokenUpdates: Sendable {
    /// A key of a team.
    private struct Provider: Hashable {
        let team: String
        let keyID: String
    }

    private var issued: [Provider: WallTime] = [:]
    private let rules: ProviderRules
    private let providersMax: Int

    /// Nobody used one.
    ///
    /// - Parameters:
    ///   - rules: how soon the next one may come.
    ///   - providersMax: how many providers are remembered; with more all are forgotten, and nobody is refused wrongly.
    public init(_ rules: ProviderRules = ProviderRules(), providersMax: Int = 1000) {
        self.rules = rules
        self.providersMax = providersMax
    }

    /// Takes the token of a send whose signature was checked. An older one of the same provider may come at any time: its
    /// machines change over one by one.
    ///
    /// - Returns: APNs' reason against it; `nil`: none.
    public mutating func use(_ token: ProviderToken) -> APNsReason? {
        let provider = Provider(team: token.team, keyID: token.keyID)
        guard let last = issued[provider] else {
            if issued.count >= providersMax { issued.removeAll(keepingCapacity: true) }
            issued[provider] = token.issued
            return nil
        }
        guard token.issued > last else { return nil }
        guard token.issued.seconds - last.seconds >= rules.soonestUpdate else { return .tooManyProviderTokenUpdates }
        issued[provider] = token.issued
        return nil
    }
}
