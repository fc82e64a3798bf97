public import PushModel

/// The rules for the payloads of one provider: one `.provider` file.
public struct ProviderRule: Hashable, Sendable {
    /// The confidence of a rule. The raw values are the configuration's.
    public enum Confidence: String, Hashable, Sendable, CaseIterable {
        /// The rule was read in the provider's own source.
        case high
        /// The rule is known from third-party copies only.
        case low
    }

    /// The origin of a rule. The raw values are the configuration's.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// A test in the provider's own SDK with these conditions.
        case sdk
        /// The keys that the provider's own SDK reads; it has no such test.
        case reading
        /// Payloads in the provider's documentation.
        case documentation
        /// Other people's app code, samples or decompiled apps.
        case copy
        /// An interpretation: the provider's own test is not public.
        case interpretation
    }

    /// The purpose of the provider's payloads. The raw values are the configuration's.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// Messages for the user or the app.
        case messages
        /// Tests whether the app is still installed: no handler gets them.
        case uninstallProbe = "uninstall-probe"
    }

    /// The part of the app that gets a payload. The raw values are the configuration's.
    public enum Entry: String, Hashable, Sendable, CaseIterable {
        /// The app's only service, delegate or worker, which dispatches it.
        case service
        /// A receiver of the provider's own SDK, beside the service.
        case ownReceiver = "own-receiver"
    }

    /// The rule on one platform.
    public struct PlatformRule: Hashable, Sendable {
        /// The rank: of several matching rules of the same confidence, the lowest number owns the payload.
        public var order: Int
        /// The confidence of the rule. A rule of low confidence owns the payload only if no other rule matches.
        public var confidence: Confidence
        /// The part of the app that gets a payload.
        public var entry: Entry
        /// The conditions of which all must hold.
        public var all: [ProviderCondition]
        /// The conditions of which one must hold; empty: no such condition.
        public var any: [ProviderCondition]
        /// The conditions for a probe that the provider's SDK sends to itself: if one holds, the payload is the
        /// provider's whatever `all` and `any` say, and no handler gets it.
        public var probes: [ProviderCondition] = []
        /// The origin of the rule; `nil`: its file has none.
        public var origin: Origin?
        /// The evidence: repository, file and function.
        public var source: String?
        /// A remark for people, shown by `explain`.
        public var remark: String?
        /// The conditions for the remark: it is shown if one holds, even if the rule does not match. Empty: it is shown
        /// if the rule matches.
        public var remarkConditions: [ProviderCondition] = []

        /// Joins the parts that decide; without any condition the rule matches nothing.
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

        /// Returns the rule with its origin.
        ///
        /// - Parameters:
        ///   - origin: the origin of the rule.
        ///   - source: the evidence.
        ///   - remark: a remark for people.
        func known(from origin: Origin, _ source: String, remark: String? = nil) -> PlatformRule {
            var rule = self
            rule.origin = origin
            rule.source = source
            rule.remark = remark
            return rule
        }
    }

    /// The provider's name in routes and reports.
    public var name: String
    /// The provider's name for people.
    public var title: String
    /// The purpose of its payloads.
    public var purpose: Purpose
    /// The rules on the platforms that the provider sends to.
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

    /// Braze's rule as shipped, known without any configuration.
    public static let braze = ProviderRule(
        name: brazeName, title: "Braze",
        platforms: [
            .android: PlatformRule(order: 0, all: [.value(at: ["_ab"], .equals("true"))])
                .known(
                    from: .sdk, "braze-android-sdk 43.0.0, BrazeFirebaseMessagingService.isBrazePushNotification"),
            .ios: PlatformRule(
                order: 0,
                any: [
                    // Does not require `ab`: a dispatcher that tests `ab` first misses the uninstall test.
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
