import PushModel

/// The rules of each platform as they are tried for every delivery: laid out once, when the configuration is read.
struct RuleTable: Sendable {
    /// The rules of one platform.
    struct Rules: Sendable {
        /// What Braze's rule is.
        enum BrazeRule { case unknown, shipped, other }

        /// In the order in which they are tried.
        private let rules: [TriedRule]
        /// What a payload that a rule alone matches gets, where nothing but the rule decides how.
        private let soleMatches: [[ProviderMatch]]
        /// Keys of which a payload has one when a rule matches, in the order of the rules; `nil` where no key can tell.
        private let telltales: [JSONKeyHash?]
        /// The place of the rule of each.
        private let told: [Int]
        let brazeRule: BrazeRule

        fileprivate init(_ providers: [ProviderRule], on platform: Platform) {
            rules =
                providers.compactMap { provider in
                    provider.platforms[platform].map { TriedRule(provider, platform, $0) }
                }
                .sorted { ($0.rule.order, $0.provider.name) < ($1.rule.order, $1.provider.name) }
            soleMatches = rules.map { [ProviderMatch($0)] }
            telltales = rules.flatMap(\.rule.telltales)
            told = rules.enumerated().flatMap { place, tried in tried.rule.telltales.map { _ in place } }
            let braze = rules.first { $0.isBraze }?.rule
            let shipped = ProviderRule.braze.platforms[platform]
            brazeRule = braze.map { $0.all == shipped?.all && $0.any == shipped?.any ? .shipped : .other } ?? .unknown
        }

        /// The providers whose rule matches, the owner first.
        func matches(_ payload: some PlatformPayload) -> [ProviderMatch] {
            defer { withExtendedLifetime(payload) {} }
            var matches: [ProviderMatch] = []
            var texts = TextsRead()
            let (keys, others) = payload.keyHolders
            var tried = -1
            var next = 0
            while true {
                let own = keys?.firstPlace(in: telltales, from: next) ?? telltales.count
                let place = min(own, others?.firstPlace(in: telltales, from: next) ?? telltales.count)
                guard place < telltales.count else { return matches }
                next = place + 1
                guard told[place] != tried else { continue }
                tried = told[place]
                guard let match = rules[tried].match(payload, &texts) else { continue }
                // Most payloads match one rule, and most rules in one way.
                matches = matches.isEmpty && match.isWhole ? soleMatches[tried] : matches + [match]
            }
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

/// The rule of a provider on a platform. A reference: matches have it in common.
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

    /// How the rule matches: by all of `all`, and the first that holds of `any`. `nil`: it does not.
    fileprivate func match(_ payload: some PlatformPayload, _ texts: inout TextsRead) -> ProviderMatch? {
        for condition in rule.all where !condition.holds(for: payload, &texts) { return nil }
        if rule.any.isEmpty { return rule.all.isEmpty ? nil : ProviderMatch(self) }
        for (place, condition) in rule.any.enumerated() where condition.holds(for: payload, &texts) {
            return ProviderMatch(self, any: place)
        }
        return nil
    }
}

extension ProviderRule.PlatformRule {
    /// Keys of which a payload has one, if the rule matches; `nil` among them: that cannot be told.
    fileprivate var telltales: [JSONKeyHash?] {
        if let key = all.lazy.compactMap(\.telltale).first { return [key] }
        return any.isEmpty ? [nil] : any.map(\.telltale)
    }
}

extension ProviderCondition {
    /// The key that a payload has, if the condition holds; `nil` when there is none.
    fileprivate var telltale: JSONKeyHash? {
        if case .value(let path, _) = self { JSONKeyHash(path[0]) } else { nil }
    }
}
