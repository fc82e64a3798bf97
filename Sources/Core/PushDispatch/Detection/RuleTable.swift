import PushModel

/// The rules of each platform in the order of trial, prepared once for each configuration.
struct RuleTable: Sendable {
    /// The rules of one platform.
    struct Rules: Sendable {
        /// The state of Braze's rule.
        enum BrazeRule { case unknown, shipped, other }

        /// The rules in the order of trial.
        fileprivate let rules: [TriedRule]
        /// The prepared result for a payload that a single rule matches, if the rule can match in one way only.
        private let soleMatches: [[ProviderMatch]]
        /// The keys of which a matching payload has at least one, each with the bits of its rules.
        private let telltales: JSONKeyMasks
        /// The bits of the rules without such keys.
        private let untold: UInt64
        let brazeRule: BrazeRule

        /// Rules from this index on have no bit, and are tried for every payload.
        private static var bits: Int { UInt64.bitWidth }

        fileprivate init(_ providers: [ProviderRule], on platform: Platform) {
            rules =
                providers.compactMap { provider in
                    provider.platforms[platform].map { TriedRule(provider, platform, $0) }
                }
                .sorted { $0.place < $1.place }
            soleMatches = rules.map { [ProviderMatch($0)] }
            var names: [(name: String, mask: UInt64)] = []
            var untold: UInt64 = 0
            for (place, tried) in rules.prefix(Self.bits).enumerated() {
                let bit: UInt64 = 1 << UInt64(place)
                for telltale in tried.rule.telltales {
                    if let telltale { names.append((telltale, bit)) } else { untold |= bit }
                }
            }
            telltales = JSONKeyMasks(names)
            self.untold = untold
            let braze = rules.first { $0.isBraze }?.rule
            let shipped = ProviderRule.braze.platforms[platform]
            brazeRule = braze.map { $0.all == shipped?.all && $0.any == shipped?.any ? .shipped : .other } ?? .unknown
        }

        /// Returns the providers whose rules match, the owner first.
        func matches(_ payload: some PlatformPayload) -> [ProviderMatch] {
            defer { withExtendedLifetime(payload) {} }
            var matches: [ProviderMatch] = []
            var texts = TextsRead()
            let (keys, others) = payload.keyHolders
            var candidates = untold
            if let keys { candidates |= telltales.mask(ofKeysOf: keys.view) }
            if let others { candidates |= telltales.mask(ofKeysOf: others.view) }
            while candidates != 0 {
                let place = candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                // All bits are set if the keys cannot be checked.
                guard place < rules.count else { break }
                match(place, payload, &texts, &matches)
            }
            if rules.count > Self.bits {
                for place in Self.bits..<rules.count { match(place, payload, &texts, &matches) }
            }
            return matches
        }

        @inline(__always)
        private func match(
            _ place: Int, _ payload: some PlatformPayload, _ texts: inout TextsRead, _ matches: inout [ProviderMatch]
        ) {
            guard let match = rules[place].match(payload, &texts) else { return }
            // Most payloads match one rule, and most rules match in one way.
            matches = matches.isEmpty && match.isWhole ? soleMatches[place] : matches + [match]
        }
    }

    private let android: Rules
    private let ios: Rules
    private let web: Rules

    init(_ providers: [ProviderRule]) {
        android = Rules(providers, on: .android)
        ios = Rules(providers, on: .ios)
        web = Rules(providers, on: .web)
    }

    subscript(platform: Platform) -> Rules {
        switch platform {
        case .android: android
        case .ios: ios
        case .web: web
        }
    }
}

/// The rule of a provider on a platform. A class, because matches share it.
final class TriedRule: Sendable {
    let provider: ProviderRule
    let platform: Platform
    let rule: ProviderRule.PlatformRule
    let isBraze: Bool

    init(_ provider: ProviderRule, _ platform: Platform, _ rule: ProviderRule.PlatformRule) {
        self.provider = provider
        self.platform = platform
        self.rule = rule
        isBraze = provider.name == ProviderRule.brazeName
    }

    /// The order of trial. Rules of low confidence come after all others, whatever their `Order=`.
    fileprivate var place: (Int, Int, String) { (rule.confidence == .low ? 1 : 0, rule.order, provider.name) }

    /// Returns the match: by a probe, or by the whole of `all` and the first of `any` that holds. `nil`: the rule does
    /// not match.
    fileprivate func match(_ payload: some PlatformPayload, _ texts: inout TextsRead) -> ProviderMatch? {
        for (place, condition) in rule.probes.enumerated() where condition.holds(for: payload, &texts) {
            return ProviderMatch(self, .probe(place))
        }
        for condition in rule.all where !condition.holds(for: payload, &texts) { return nil }
        if rule.any.isEmpty { return rule.all.isEmpty ? nil : ProviderMatch(self) }
        for (place, condition) in rule.any.enumerated() where condition.holds(for: payload, &texts) {
            return ProviderMatch(self, .any(place))
        }
        return nil
    }

    /// Whether the remark of the rule applies to a payload.
    ///
    /// - Parameter isMatch: whether the rule matches.
    fileprivate func hasRemark(on payload: some PlatformPayload, isMatch: Bool) -> Bool {
        defer { withExtendedLifetime(payload) {} }
        guard rule.remark != nil else { return false }
        guard !rule.remarkConditions.isEmpty else { return isMatch }
        var texts = TextsRead()
        return rule.remarkConditions.contains { $0.holds(for: payload, &texts) }
    }
}

extension RuleTable.Rules {
    /// Returns the remarks of the rules on a payload, each with the provider's title.
    ///
    /// - Parameter matches: the names of the providers whose rules match.
    func remarks(on payload: some PlatformPayload, matches: [String]) -> [String] {
        rules.compactMap { tried in
            guard tried.hasRemark(on: payload, isMatch: matches.contains(tried.provider.name)) else { return nil }
            return tried.rule.remark.map { "\(tried.provider.title): \($0)" }
        }
    }
}

extension ProviderRule.PlatformRule {
    /// The keys of which a matching payload has at least one; a `nil` among them: no key is certain.
    fileprivate var telltales: [String?] {
        let probes = probes.map(\.telltale)
        if let key = all.lazy.compactMap(\.telltale).first { return probes + [key] }
        guard any.isEmpty else { return probes + any.map(\.telltale) }
        return all.isEmpty ? probes : probes + [nil]
    }
}

extension ProviderCondition {
    /// The key that a payload has if the condition holds; `nil`: no key is certain.
    fileprivate var telltale: String? {
        switch self {
        case .value(let path, _): path[0]
        case .inText(let key, _): key
        case .every(let conditions): conditions.lazy.compactMap(\.telltale).first
        case .keyBeginning, .keyContaining, .keyCount: nil
        }
    }
}
