import PushModel

/// The configuration of detection. A single reference, so that a copy is cheap.
public struct DetectionSettings: Sendable {
    /// The known providers, in any order, with distinct names.
    public var providers: [ProviderRule] {
        get { content.providers }
        set {
            content = Content(
                newValue, content.brazeKeys, runsServiceExtensionInForeground: runsServiceExtensionInForeground)
        }
    }
    /// The names of Braze's keys that the vendor has not published.
    public var brazeKeys: BrazeKeys {
        get { content.brazeKeys }
        set {
            content = Content(
                content.providers, newValue, runsServiceExtensionInForeground: runsServiceExtensionInForeground)
        }
    }
    /// Whether iOS runs the service extension while the app is in the foreground, before `willPresent`. Apple documents
    /// neither case.
    public var runsServiceExtensionInForeground: Bool {
        get { content.runsServiceExtensionInForeground }
        set {
            content = Content(content.providers, content.brazeKeys, runsServiceExtensionInForeground: newValue)
        }
    }

    private var content: Content

    /// The settings, and the rules in the order of trial.
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
    ///   - providers: the known providers, in any order; Braze alone without a configuration.
    ///   - brazeKeys: the names of Braze's keys that the vendor has not published.
    public init(providers: [ProviderRule] = [.braze], brazeKeys: BrazeKeys = BrazeKeys()) {
        content = Content(providers, brazeKeys, runsServiceExtensionInForeground: false)
    }

    /// Returns the providers whose rules match, the owner first. Only the rules decide.
    func matches(_ payload: some PlatformPayload, on platform: Platform) -> [ProviderMatch] {
        content.table[platform].matches(payload)
    }

    /// Returns the remarks of the rules on a payload, matching or not: a sentence each, with the provider's title. No
    /// decision depends on them.
    public func remarks(on decision: Decision) -> [String] {
        content.table[decision.platform].remarks(on: decision.keys.payload, matches: decision.matches)
    }

    /// Returns the reason why a payload is not Braze's; `nil`: Braze is not a known provider.
    func reasonAgainstBraze(_ payload: some PlatformPayload, on platform: Platform) -> Reason? {
        switch content.table[platform].brazeRule {
        case .unknown: nil
        case .shipped: payload.reasonAgainstBraze
        case .other: .otherBrazeRule
        }
    }
}

/// The names of keys in Braze's Android payloads whose constants are public, but whose values are known from decompiled
/// apps only. So they are settings.
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

/// The hashes of those keys, for a fast check: most payloads have none of them.
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
