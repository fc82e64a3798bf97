public import PushModel
import PushRouter

/// The token of a provider of pushes to APNs, with an unchecked signature.
struct ProviderToken: Sendable {
    /// The token itself.
    public let token: WebToken
    /// `kid`: Apple's id of the key.
    let keyID: String
    /// `iss`: the team.
    let team: String
    /// `iat`: the time of issue.
    let issued: WallTime

    /// Reads the header `authorization`.
    ///
    /// - Throws: ``APNsReason/missingProviderToken`` or ``APNsReason/invalidProviderToken``.
    init(_ header: String?) throws(APNsReason) {
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

extension ProviderToken {
    /// The fault in the time of issue, for people.
    func remark(at now: WallTime) -> String {
        let ahead = issued.seconds - now.seconds
        if ahead > 100 * 365 * 86400 { return "iat is far in the future: it is in seconds, and not in milliseconds" }
        return ahead > 0
            ? "iat is \(ahead) s ahead of this clock" : "iat is \(-ahead) s ago: a token is valid for an hour"
    }
}

/// The checks on the tokens of providers.
struct ProviderRules: Hashable, Sendable {
    /// The age in seconds from which a token is refused. Apple says an hour (UNVERIFIED to the second).
    public var oldest: Int64 = 3600
    /// The tolerance in seconds for a time of issue in the future, by our clock (UNVERIFIED).
    var skew: Int64 = 300
    /// The least difference in seconds between a provider's token and its next one. Apple says 20 minutes (UNVERIFIED
    /// to the second).
    var soonestUpdate: Int64 = 1200

    /// Creates Apple's rules.
    init() {}

    /// APNs' reason to refuse a token; `nil` if it passes.
    func refusal(of token: ProviderToken, at now: WallTime) -> APNsReason? {
        guard token.issued.seconds <= now.seconds + skew else { return .invalidProviderToken }
        return now.seconds - token.issued.seconds >= oldest ? .expiredProviderToken : nil
    }
}

/// The last tokens of the providers on each connection: a provider may not make a new one for each send.
///
/// Source: pushy#682 (a maintainer: the limit is for one connection, and several instances of an application have no
/// problem), PyAPNs2#76, #80.
struct ProviderTokenUpdates: Sendable {
    /// A key of a team on a connection.
    private struct Provider: Hashable {
        let connection: UInt64
        let team: String
        let keyID: String
    }

    private var issued: [Provider: WallTime] = [:]
    private let rules: ProviderRules
    private let providersMax: Int

    /// Creates a table without tokens.
    ///
    /// - Parameters:
    ///   - rules: the rules, with the least difference between two tokens.
    ///   - providersMax: the limit of remembered providers; beyond it the table forgets all, so that it refuses no
    ///     token wrongly.
    init(_ rules: ProviderRules = ProviderRules(), providersMax: Int = 1000) {
        self.rules = rules
        self.providersMax = providersMax
    }

    /// Takes the token of a send, after the check of its signature. An older token of the same provider is valid at any
    /// time.
    ///
    /// - Parameter connection: the connection's number.
    /// - Returns: APNs' reason to refuse it; `nil` if it passes.
    public mutating func use(_ token: ProviderToken, on connection: UInt64) -> APNsReason? {
        let provider = Provider(connection: connection, team: token.team, keyID: token.keyID)
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

/// A JSON Web Token with an unchecked signature: its claims prove nothing before that check.
///
/// Source: RFC 7515 and RFC 7519.
public struct WebToken: Sendable {
    /// `alg`: the algorithm of the signature.
    public let algorithm: String?
    /// `kid`: the id of the key that signed it.
    let keyID: String?
    /// The claims.
    let claims: JSONNode
    /// The bytes that the signature covers.
    public let signedBytes: [UInt8]
    /// The signature.
    public let signature: [UInt8]

    /// Parses a token; `nil` for any other text.
    ///
    /// - Parameters:
    ///   - text: three parts in base64url, separated by dots.
    ///   - longest: the limit of its length in bytes.
    init?(_ text: String, longest: Int = 16 << 10) {
        guard text.utf8.count <= longest else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decoded(parts[2])
        else { return nil }
        algorithm = header["alg"]?.string
        keyID = header["kid"]?.string
        self.claims = claims
        signedBytes = Array(text.utf8.dropLast(parts[2].count + 1))
        self.signature = signature
    }

    /// A claim with a text.
    public func text(_ claim: String) -> String? { claims[claim]?.string }

    /// A claim with a time in whole seconds since 1970. Some clients write a fraction or a text (kalyke).
    public func time(_ claim: String) -> WallTime? {
        guard let value = claims[claim] else { return nil }
        let number = value.double ?? value.string.flatMap(Double.init)
        guard let number, let seconds = Int64(exactly: number.rounded(.down)), abs(seconds) < 1 << 40 else {
            return nil
        }
        return WallTime(milliseconds: seconds * 1000)
    }

    private static func object(_ part: some Collection<UInt8>) -> JSONNode? {
        guard let bytes = Base64URL.decoded(part), let root = try? JSONDocument(scanning: bytes).root,
            root.kind == .object
        else { return nil }
        return root
    }
}
