import PushModel

/// The rules of each platform, prepared once per configuration for the test of every delivery.
struct RuleTable: Sendable {
    /// The rules of one platform.
    struct Rules: Sendable {
        /// The kind of Braze's rule.
        enum BrazeRule { case unknown, shipped, other }

        /// The rules in the order of the tests.
        fileprivate let rules: [TriedRule]
        /// The result for a payload that only this rule matches, by the rule's index; shared to save allocations.
        private let soleMatches: [[ProviderMatch]]
        /// Keys of which a matching payload has at least one, each with a bit for the rule's index.
        private let requiredKeys: JSONKeyMasks
        /// Prefixes with one of which a key of a matching payload begins, each with a bit for the rule's index.
        private let requiredPrefixes: JSONKeyPrefixes
        /// The rules without such a key or prefix, one bit each.
        private let unkeyed: UInt64
        let brazeRule: BrazeRule

        /// The number of rules with a bit; later rules are tested for every payload.
        private static var bits: Int { UInt64.bitWidth }

        fileprivate init(_ providers: [ProviderRule], on platform: Platform) {
            rules =
                providers.compactMap { provider in
                    provider.platforms[platform].map { TriedRule(provider, platform, $0) }
                }
                .sorted { $0.place < $1.place }
            soleMatches = rules.map { [ProviderMatch($0)] }
            var names: [(name: String, mask: UInt64)] = []
            var prefixes: [(text: String, mask: UInt64)] = []
            var unkeyed: UInt64 = 0
            for (place, tried) in rules.prefix(Self.bits).enumerated() {
                let bit: UInt64 = 1 << UInt64(place)
                for required in tried.rule.requiredKeys {
                    switch required {
                    case .name(let name): names.append((name, bit))
                    case .beginning(let prefix): prefixes.append((prefix, bit))
                    case nil: unkeyed |= bit
                    }
                }
            }
            requiredKeys = JSONKeyMasks(names)
            requiredPrefixes = JSONKeyPrefixes(prefixes)
            self.unkeyed = unkeyed
            let braze = rules.first { $0.isBraze }?.rule
            let shipped = ProviderRule.braze.platforms[platform]
            brazeRule = braze.map { $0.all == shipped?.all && $0.any == shipped?.any ? .shipped : .other } ?? .unknown
        }

        /// Returns the providers whose rules match, the owner first.
        func matches(_ payload: some PlatformPayload) -> [ProviderMatch] {
            defer { withExtendedLifetime(payload) {} }
            var matches: [ProviderMatch] = []
            var texts = ParsedTexts()
            let (keys, others) = payload.keyHolders
            var candidates = unkeyed
            if let keys { candidates |= mask(ofKeysOf: keys.view) }
            if let others { candidates |= mask(ofKeysOf: others.view) }
            while candidates != 0 {
                let place = candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                // An object with colliding keys sets all bits, also those beyond the last rule.
                guard place < rules.count else { break }
                match(place, payload, &texts, &matches)
            }
            if rules.count > Self.bits {
                for place in Self.bits..<rules.count { match(place, payload, &texts, &matches) }
            }
            return matches
        }

        /// The bits of the rules that an object's keys do not exclude.
        private func mask(ofKeysOf object: JSONView) -> UInt64 {
            requiredKeys.mask(ofKeysOf: object) | requiredPrefixes.mask(ofKeysOf: object)
        }

        @inline(__always)
        private func match(
            _ place: Int, _ payload: some PlatformPayload, _ texts: inout ParsedTexts, _ matches: inout [ProviderMatch]
        ) {
            guard let match = rules[place].match(payload, &texts) else { return }
            // Most payloads match one rule, and most rules have only one way to match.
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

    /// The sort key: rules of low confidence come after all others, regardless of their `Order=`.
    fileprivate var place: (Int, Int, String) { (rule.confidence == .low ? 1 : 0, rule.order, provider.name) }

    /// Returns the match: a probe, or all of `all` and the first of `any` that holds. `nil`: the rule does not match.
    fileprivate func match(_ payload: some PlatformPayload, _ texts: inout ParsedTexts) -> ProviderMatch? {
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

    /// Whether the rule's remark applies to a payload.
    ///
    /// - Parameter isMatch: whether the rule matches.
    fileprivate func hasRemark(on payload: some PlatformPayload, isMatch: Bool) -> Bool {
        defer { withExtendedLifetime(payload) {} }
        guard rule.remark != nil else { return false }
        guard !rule.remarkConditions.isEmpty else { return isMatch }
        var texts = ParsedTexts()
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

/// A key that a payload must have for a condition to hold.
private enum RequiredKey {
    case name(String)
    /// Any key that begins with this text, which is not empty.
    case beginning(with: String)
}

extension ProviderRule.PlatformRule {
    /// Keys of which a matching payload has at least one; a `nil` in the list means that the rule has no such key.
    fileprivate var requiredKeys: [RequiredKey?] {
        let probes = probes.map(\.requiredKey)
        if let key = all.lazy.compactMap(\.requiredKey).first { return probes + [key] }
        guard any.isEmpty else { return probes + any.map(\.requiredKey) }
        return all.isEmpty ? probes : probes + [nil]
    }
}

extension ProviderCondition {
    /// A key that a payload must have for the condition to hold; `nil` if there is none.
    fileprivate var requiredKey: RequiredKey? {
        switch self {
        case .value(let path, _): .name(path[0])
        case .inText(let key, _): .name(key)
        case .keyBeginning(let prefix): prefix.isEmpty ? nil : .beginning(with: prefix)
        case .every(let conditions): conditions.lazy.compactMap(\.requiredKey).first
        case .keyContaining, .keyCount: nil
        }
    }
}
