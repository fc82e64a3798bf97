import PushModel

/// What detection takes from the configuration.
public struct DetectionSettings: Hashable, Sendable {
    /// The providers that are known, in any order; the names differ.
    public var providers: [ProviderRule] {
        didSet { candidates = Candidates(providers) }
    }
    /// The names of Braze's keys that the vendor has not published.
    public var brazeKeys: BrazeKeys
    /// The rules as they are tried.
    private var candidates: Candidates

    /// - Parameters:
    ///   - providers: the providers that are known, in any order; without a configuration only Braze.
    ///   - brazeKeys: the names of Braze's keys that the vendor has not published.
    public init(providers: [ProviderRule] = [.braze], brazeKeys: BrazeKeys = BrazeKeys()) {
        self.providers = providers
        self.brazeKeys = brazeKeys
        candidates = Candidates(providers)
    }

    /// The providers whose rule matches, the owner first. Nothing but the rules decides.
    func matches(_ payload: some PlatformPayload, on platform: Platform) -> [ProviderMatch] {
        var matches: [ProviderMatch] = []
        for candidate in candidates[platform] {
            guard let conditions = candidate.rule.conditions(that: payload) else { continue }
            matches.append(
                ProviderMatch(provider: providers[candidate.position], platform: platform, conditions: conditions))
        }
        return matches
    }

    /// Why a payload is not Braze's; `nil` where Braze is not known.
    func reasonAgainstBraze(_ payload: some PlatformPayload, on platform: Platform) -> Reason? {
        guard let rule = providers.first(where: { $0.name == ProviderRule.brazeName })?.platforms[platform] else {
            return nil
        }
        let shipped = ProviderRule.braze.platforms[platform]
        return rule.all == shipped?.all && rule.any == shipped?.any ? payload.reasonAgainstBraze : .otherBrazeRule
    }
}

/// The rules of each platform in the order in which they are tried: this runs for every delivery, so they are laid out
/// once, when the configuration is read.
private struct Candidates: Hashable, Sendable {
    struct Candidate: Hashable, Sendable {
        var rule: ProviderRule.PlatformRule
        /// Where the provider stands in the settings.
        var position: Int
    }

    private let android: [Candidate]
    private let ios: [Candidate]
    private let web: [Candidate]

    init(_ providers: [ProviderRule]) {
        func candidates(on platform: Platform) -> [Candidate] {
            providers.enumerated()
                .compactMap { position, provider in
                    provider.platforms[platform].map { Candidate(rule: $0, position: position) }
                }
                .sorted {
                    ($0.rule.order, providers[$0.position].name) < ($1.rule.order, providers[$1.position].name)
                }
        }
        android = candidates(on: .android)
        ios = candidates(on: .ios)
        web = candidates(on: .web)
    }

    subscript(platform: Platform) -> [Candidate] {
        switch platform {
        case .android: android
        case .ios: ios
        case .web: web
        }
    }
}

extension ProviderRule.PlatformRule {
    /// The conditions by which `payload` matches: all of `all`, and the first that holds of `any`. `nil`: it does not.
    fileprivate func conditions(that payload: some PlatformPayload) -> [ProviderCondition]? {
        guard all.allSatisfy({ $0.holds(for: payload) }) else { return nil }
        if any.isEmpty { return all.isEmpty ? nil : all }
        return any.first { $0.holds(for: payload) }.map { all + [$0] }
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
