public import PushModel

/// How the payloads of one provider are told: one `.provider` file.
public struct ProviderRule: Hashable, Sendable {
    /// How well a rule is known. The raw values are the configuration's.
    public enum Confidence: String, Hashable, Sendable, CaseIterable {
        /// Read in the provider's own source.
        case high
        /// Known only from third-party copies.
        case low
    }

    /// Where a rule is known from. The raw values are the configuration's.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// The provider's own SDK has a test with these conditions.
        case sdk
        /// The provider's own SDK has no such test; these are the keys that its code reads.
        case reading
        /// The provider's documentation shows payloads like this.
        case documentation
        /// App code, samples or decompiled apps of others.
        case copy
        /// What the provider looks at is not public: a reading of what is known.
        case interpretation
    }

    /// What the provider's payloads are for. The raw values are the configuration's.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// Messages for the user or the app.
        case messages
        /// Tests whether the app is still installed: no handler gets them.
        case uninstallProbe = "uninstall-probe"
    }

    /// Who in the app gets a payload. The raw values are the configuration's.
    public enum Entry: String, Hashable, Sendable, CaseIterable {
        /// The app's one service, delegate or worker, which then dispatches it.
        case service
        /// A receiver of the provider's own SDK, beside the service.
        case ownReceiver = "own-receiver"
    }

    /// The rule on one platform.
    public struct PlatformRule: Hashable, Sendable {
        /// Of several rules of the same confidence that match, the one with the lowest number has the payload.
        public var order: Int
        /// How well the rule is known. A rule of low confidence has the payload only where no other rule matches.
        public var confidence: Confidence
        /// Who in the app gets a payload.
        public var entry: Entry
        /// What must hold, all of it.
        public var all: [ProviderCondition]
        /// Of what one must hold, unless it is empty.
        public var any: [ProviderCondition]
        /// By what a payload is known that the provider's SDK sends to itself: where one holds, whatever `all` and `any`
        /// say, the payload is the provider's, and no handler gets it.
        public var probes: [ProviderCondition] = []
        /// Where the rule is known from; `nil` where nobody says it.
        public var origin: Origin?
        /// The place that shows it: repository, file and function.
        public var source: String?
        /// What else people should know; for `explain`.
        public var remark: String?
        /// When the remark is told: where one of these holds, whether the rule matches or not. Empty: where the rule
        /// matches.
        public var remarkConditions: [ProviderCondition] = []

        /// Joins the parts that decide; without any condition it matches nothing.
        public init(
            order: Int, confidence: Confidence = .high, entry: Entry = .service, all: [ProviderCondition] = [],
            any: [ProviderCondition] = []
        ) {
            self.order = order
            self.confidence = confidence
            self.entry = entry
            self.all = all
            self.any = any
        }

        /// The same rule with where it is from.
        ///
        /// - Parameters:
        ///   - origin: where the rule is known from.
        ///   - source: the place that shows it.
        ///   - remark: what else people should know.
        func known(from origin: Origin, _ source: String, remark: String? = nil) -> PlatformRule {
            var rule = self
            rule.origin = origin
            rule.source = source
            rule.remark = remark
            return rule
        }
    }

    /// The provider, as routes and reports call it.
    public var name: String
    /// The provider, as people call it.
    public var title: String
    /// What its payloads are for.
    public var purpose: Purpose
    /// The rule on each platform that the provider sends to.
    public var platforms: [Platform: PlatformRule]

    /// Joins the parts.
    public init(
        name: String, title: String, purpose: Purpose = .messages, platforms: [Platform: PlatformRule] = [:]
    ) {
        self.name = name
        self.title = title
        self.purpose = purpose
        self.platforms = platforms
    }
}

extension ProviderRule {
    /// Braze's name.
    public static let brazeName = "braze"

    /// Braze's rule as shipped: what the router is for, so that it is known without any configuration.
    public static let braze = ProviderRule(
        name: brazeName, title: "Braze",
        platforms: [
            .android: PlatformRule(order: 0, all: [.value(at: ["_ab"], .equals("true"))])
                .known(
                    from: .sdk, "braze-android-sdk 43.0.0, BrazeFirebaseMessagingService.isBrazePushNotification"),
            .ios: PlatformRule(
                order: 0,
                any: [
                    // Needs no `ab`: a dispatcher that tests `ab` first gives the uninstall test away.
                    .value(at: ["appboy_uninstall_tracking"], .truthy), .value(at: ["ab"], .nonEmptyObject),
                ]
            ).known(from: .sdk, "braze-swift-sdk 18.2.0, Sources/BrazeKitCompat/AppboyKit/ABKPushUtils.m"),
            .web: PlatformRule(
                order: 0,
                any: [
                    .every([.value(at: ["cid"], .string), .value(at: ["t"], .present)]),
                    .every([.value(at: ["cid"], .string), .value(at: ["a"], .present)]), .keyBeginning(with: "ab_"),
                ]
            ).known(
                from: .interpretation, "the keys of the service worker 3.5.1 of braze-web-sdk",
                remark: "the test in later service workers of Braze is not public: the rule is an interpretation"),
        ])
}
