public import PushModel

/// The rules that recognize the payloads of one provider: one `.provider` file.
public struct ProviderRule: Hashable, Sendable {
    /// The confidence in a rule. The raw values are the configuration's.
    public enum Confidence: String, Hashable, Sendable, CaseIterable {
        /// From the provider's own source code.
        case high
        /// Only from third-party copies.
        case low
    }

    /// The origin of a rule. The raw values are the configuration's.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// The provider's SDK tests these conditions.
        case sdk
        /// The provider's SDK has no such test; its code reads these keys.
        case reading
        /// The provider's documentation shows such payloads.
        case documentation
        /// Apps, samples or decompiled apps of third parties.
        case copy
        /// The provider's test is not public: the rule interprets the known facts.
        case interpretation
    }

    /// The purpose of the provider's payloads. The raw values are the configuration's.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// Messages for the user or the app.
        case messages
        /// Tests whether the app is still installed: no handler gets them.
        case uninstallProbe = "uninstall-probe"
    }

    /// The component of the app that gets a payload. The raw values are the configuration's.
    public enum Entry: String, Hashable, Sendable, CaseIterable {
        /// The app's one service, delegate or worker, which dispatches the payload.
        case service
        /// A receiver of the provider's SDK, beside the service.
        case ownReceiver = "own-receiver"
    }

    /// The rule on one platform.
    public struct PlatformRule: Hashable, Sendable {
        /// The priority among matching rules of the same confidence: the lowest number is the owner.
        public var order: Int
        /// The confidence in the rule. A rule of low confidence is the owner only if no other rule matches.
        public var confidence: Confidence
        /// The component of the app that gets a payload.
        public var entry: Entry
        /// The conditions that must all hold.
        public var all: [ProviderCondition]
        /// The conditions of which one must hold, unless the list is empty.
        public var any: [ProviderCondition]
        /// The conditions for a probe that the provider's SDK sends to itself: if one holds, the payload is the
        /// provider's regardless of `all` and `any`, and no handler gets it.
        public var probes: [ProviderCondition] = []
        /// The origin of the rule; `nil` if it is not stated.
        public var origin: Origin?
        /// The source of the rule: repository, file and function.
        public var source: String?
        /// A remark for people; `explain` prints it.
        public var remark: String?
        /// The conditions for the remark: it applies if one holds, whether or not the rule matches. Empty: it applies
        /// if the rule matches.
        public var remarkConditions: [ProviderCondition] = []

        /// Joins the parts that decide; a rule without conditions matches nothing.
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
        ///   - source: the place in the source.
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
    /// The rule for each platform that the provider sends to.
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

    /// Braze's shipped rule. It needs no configuration, because Braze is the main purpose of the router.
    public static let braze = ProviderRule(
        name: brazeName, title: "Braze",
        platforms: [
            .android: PlatformRule(order: 0, all: [.value(at: ["_ab"], .equals("true"))])
                .known(
                    from: .sdk, "braze-android-sdk 43.0.0, BrazeFirebaseMessagingService.isBrazePushNotification"),
            .ios: PlatformRule(
                order: 0,
                any: [
                    // An uninstall test needs no `ab`; a dispatcher that tests only `ab` would miss it.
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
