import PushModel

/// What detection takes from the configuration.
public struct DetectionSettings: Sendable {
    /// The providers that are known, in any order; the names differ.
    public var providers: [ProviderRule] {
        didSet { table = RuleTable(providers) }
    }
    /// The names of Braze's keys that the vendor has not published.
    public var brazeKeys: BrazeKeys
    /// Whether iOS runs the service extension while the app is in the foreground, before `willPresent`. Apple does not say.
    public var runsServiceExtensionInForeground = false
    /// The rules as they are tried.
    private var table: RuleTable

    /// - Parameters:
    ///   - providers: the providers that are known, in any order; without a configuration only Braze.
    ///   - brazeKeys: the names of Braze's keys that the vendor has not published.
    public init(providers: [ProviderRule] = [.braze], brazeKeys: BrazeKeys = BrazeKeys()) {
        self.providers = providers
        self.brazeKeys = brazeKeys
        table = RuleTable(providers)
    }

    /// The providers whose rule matches, the owner first. Nothing but the rules decides.
    func matches(_ payload: some PlatformPayload, on platform: Platform) -> [ProviderMatch] {
        var matches: [ProviderMatch] = []
        let tried = table[platform]
        let sketch = payload.keySketch
        for (index, gate) in tried.gates.enumerated() where gate.mayPass(sketch) {
            let (rule, position) = tried.rules[index]
            guard let conditions = rule.conditions(that: payload) else { continue }
            matches.append(ProviderMatch(provider: providers[position], platform: platform, conditions: conditions))
        }
        return matches
    }

    /// Why a payload is not Braze's; `nil` where Braze is not known.
    func reasonAgainstBraze(_ payload: some PlatformPayload, on platform: Platform) -> Reason? {
        switch table[platform].brazeRule {
        case .unknown: nil
        case .shipped: payload.reasonAgainstBraze
        case .other: .otherBrazeRule
        }
    }
}

/// Names of keys in Braze's Android payloads whose constants are public and whose values are known only from
/// decompiled apps. So they are settings.
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
