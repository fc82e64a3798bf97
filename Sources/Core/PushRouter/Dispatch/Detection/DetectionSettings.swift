public import PushModel

/// The settings of provider detection. It holds one reference, so a copy is cheap.
public struct DetectionSettings: Sendable {
    /// The known providers, in any order; names are unique.
    public var providers: [ProviderRule] {
        get { content.providers }
        set {
            content = Content(
                newValue, content.brazeKeys, runsServiceExtensionInForeground: runsServiceExtensionInForeground)
        }
    }
    /// The names of Braze's unpublished keys.
    public var brazeKeys: BrazeKeys {
        get { content.brazeKeys }
        set {
            content = Content(
                content.providers, newValue, runsServiceExtensionInForeground: runsServiceExtensionInForeground)
        }
    }
    /// Whether iOS runs the service extension while the app is in the foreground, before `willPresent`. Apple does not
    /// document it.
    public var runsServiceExtensionInForeground: Bool {
        get { content.runsServiceExtensionInForeground }
        set {
            content = Content(content.providers, content.brazeKeys, runsServiceExtensionInForeground: newValue)
        }
    }

    private var content: Content

    /// The settings, and the rules in the order of the tests.
    private final class Content: Sendable {
        let providers: [ProviderRule]
        let brazeKeys: BrazeKeys
        let runsServiceExtensionInForeground: Bool
        let table: RuleTable
        let brazeKeyHashes: BrazeKeyHashes

        init(_ providers: [ProviderRule], _ brazeKeys: BrazeKeys, runsServiceExtensionInForeground: Bool) {
            self.providers = providers
            self.brazeKeys = brazeKeys
            self.runsServiceExtensionInForeground = runsServiceExtensionInForeground
            table = RuleTable(providers)
            brazeKeyHashes = BrazeKeyHashes(brazeKeys)
        }
    }

    /// The hashes of Braze's unpublished keys.
    var brazeKeyHashes: BrazeKeyHashes { content.brazeKeyHashes }

    /// - Parameters:
    ///   - providers: the known providers, in any order; without a configuration only Braze.
    ///   - brazeKeys: the names of Braze's unpublished keys.
    public init(providers: [ProviderRule] = [.braze], brazeKeys: BrazeKeys = BrazeKeys()) {
        content = Content(providers, brazeKeys, runsServiceExtensionInForeground: false)
    }

    /// Returns the providers whose rules match, the owner first. It depends on the rules alone.
    func matches(_ payload: some PlatformPayload, on platform: Platform) -> [ProviderMatch] {
        content.table[platform].matches(payload)
    }

    /// Returns the remarks of the rules on a payload, for people: one sentence each, with the provider's title. A rule
    /// that does not match may have one, too.
    public func remarks(on decision: Decision) -> [String] {
        content.table[decision.platform].remarks(on: decision.keys.payload, matches: decision.matches)
    }

    /// Returns the reason why a payload is not Braze's; `nil` if Braze is not among the providers.
    func reasonAgainstBraze(_ payload: some PlatformPayload, on platform: Platform) -> Reason? {
        switch content.table[platform].brazeRule {
        case .unknown: nil
        case .shipped: payload.reasonAgainstBraze
        case .other: .otherBrazeRule
        }
    }
}

/// Names of keys in Braze's Android payloads. Their constants are public, but the values are known only from decompiled
/// apps, so they are settings.
public struct BrazeKeys: Hashable, Sendable {
    /// `BRAZE_PUSH_REFRESH_FEATURE_FLAGS_KEY`.
    public var refreshFeatureFlags: String
    /// `BRAZE_PUSH_REFRESH_BANNERS_KEY`.
    public var refreshBanners: String
    /// `BRAZE_PUSH_UNIQUE_ID`.
    public var uniqueID: String

    /// Names the keys.
    public init(
        refreshFeatureFlags: String = "br_ffr", refreshBanners: String = "br_br", uniqueID: String = "br_p_id"
    ) {
        self.refreshFeatureFlags = refreshFeatureFlags
        self.refreshBanners = refreshBanners
        self.uniqueID = uniqueID
    }
}

/// The hashes of these keys: most payloads have none of them.
struct BrazeKeyHashes: Sendable {
    let refreshFeatureFlags: JSONKeyHash
    let refreshBanners: JSONKeyHash
    let uniqueID: JSONKeyHash

    init(_ keys: BrazeKeys) {
        refreshFeatureFlags = JSONKeyHash(keys.refreshFeatureFlags)
        refreshBanners = JSONKeyHash(keys.refreshBanners)
        uniqueID = JSONKeyHash(keys.uniqueID)
    }
}

extension DetectionSettings {
    /// Returns the campaign id in the payload of a delivery that never reached the tracker; `nil`: the payload has
    /// none, the request is no delivery, or its payload was erased.
    ///
    /// - Parameter line: the request as the ledger has it.
    public func campaign(ofLine line: [UInt8], _ platform: Platform) -> String? {
        // Limits may have been higher when the daemon accepted the line.
        guard let request = try? Request(acceptedLine: line), case .deliver(let deliver) = request.action else {
            return nil
        }
        return (try? decide(Delivery(deliver, platform: platform), settings: self))?.braze?.campaignID
    }
}
