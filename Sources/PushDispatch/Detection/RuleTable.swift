import PushModel

/// The rules of each platform as they are tried for every delivery: laid out once, when the configuration is read.
struct RuleTable: Sendable {
    /// The rules of one platform, in the order in which they are tried.
    struct Rules: Sendable {
        /// What Braze's rule is.
        enum BrazeRule { case unknown, shipped, other }

        /// One for each rule, side by side.
        let gates: [Gate]
        /// Each rule, and where its provider stands in the settings.
        let rules: [(rule: ProviderRule.PlatformRule, position: Int)]
        let brazeRule: BrazeRule

        fileprivate init(_ providers: [ProviderRule], on platform: Platform) {
            rules = providers.enumerated()
                .compactMap { position, provider in provider.platforms[platform].map { ($0, position) } }
                .sorted {
                    ($0.rule.order, providers[$0.position].name) < ($1.rule.order, providers[$1.position].name)
                }
            gates = rules.map { Gate($0.rule) }
            let braze = rules.first { providers[$0.position].name == ProviderRule.brazeName }?.rule
            let shipped = ProviderRule.braze.platforms[platform]
            brazeRule = braze.map { $0.all == shipped?.all && $0.any == shipped?.any ? .shipped : .other } ?? .unknown
        }
    }

    /// What the sketch of a payload's keys must contain for a rule to match.
    struct Gate: Sendable {
        private var all = KeySketch()
        /// Of `any`: one of these; empty when the sketch tells nothing.
        private var any: [KeySketch] = []

        fileprivate init(_ rule: ProviderRule.PlatformRule) {
            for sketch in rule.all.compactMap({ KeySketch($0) }) { all.formUnion(sketch) }
            let sketches = rule.any.compactMap { KeySketch($0) }
            any = sketches.count == rule.any.count ? sketches : []
        }

        /// Whether the rule may match; `false` is sure.
        func mayPass(_ keys: KeySketch) -> Bool {
            keys.contains(all) && (any.isEmpty || any.contains { keys.contains($0) })
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

extension ProviderRule.PlatformRule {
    /// The conditions by which `payload` matches: all of `all`, and the first that holds of `any`. `nil`: it does not.
    func conditions(that payload: some PlatformPayload) -> [ProviderCondition]? {
        guard all.allSatisfy({ $0.holds(for: payload) }) else { return nil }
        if any.isEmpty { return all.isEmpty ? nil : all }
        return any.first { $0.holds(for: payload) }.map { all + [$0] }
    }
}
