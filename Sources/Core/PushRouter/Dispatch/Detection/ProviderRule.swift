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

/// One condition of a provider's rule on a payload. Only keys that the app can see count.
public indirect enum ProviderCondition: Hashable, Sendable {
    /// A test of a value.
    public enum Test: Hashable, Sendable {
        /// The key exists, with any value: `containsKey`, `!= nil`.
        case present
        /// The key exists with a value other than `null`: `!= nil` and no `NSNull`.
        case notNull
        /// A string that equals this text.
        case equals(String)
        /// A string that equals this text by `equalsIgnoreCase` of Java.
        case equalsIgnoringCase(String)
        /// Any string.
        case string
        /// A string that is not empty: not `TextUtils.isEmpty`.
        case notEmpty
        /// A string with a character other than white space: not `isNullOrBlank` of Kotlin.
        case notBlank
        /// An object.
        case object
        /// An object with members.
        case nonEmptyObject
        /// A value for which Foundation's `boolValue` is true.
        case truthy
        /// A string that is a JSON object with this key.
        case jsonText(key: String)
    }

    /// A test of the value at a path of nested keys. The path is never empty.
    case value(at: [String], Test)
    /// A top-level key begins with this text.
    case keyBeginning(with: String)
    /// A top-level key contains this text.
    case keyContaining(String)
    /// The payload has exactly this many top-level keys.
    case keyCount(Int)
    /// The value of a top-level key is a string with the text of a JSON object that meets this condition.
    case inText(of: String, ProviderCondition)
    /// All of these conditions hold; never empty.
    case every([ProviderCondition])
}

/// The subject of conditions: a payload, or an object in one.
protocol ConditionSubject {
    /// The value of a key that the app can see.
    subscript(key: String) -> JSONView? { get }
    /// The number of top-level keys that the app can see.
    var keyCount: Int { get }
    /// Whether a top-level key that the app can see satisfies `isWanted`.
    ///
    /// - Parameter length: the minimum length in bytes, which excludes most keys cheaply.
    func hasKey(ofLength length: Int, where isWanted: (JSONView) -> Bool) -> Bool
}

extension JSONView: ConditionSubject {
    var keyCount: Int { isObject ? count : 0 }

    func hasKey(ofLength length: Int, where isWanted: (JSONView) -> Bool) -> Bool {
        for (key, _) in members where key.rawLength >= length && isWanted(key) { return true }
        return false
    }
}

extension ProviderCondition {
    /// Whether the condition holds for the payload. The caller must keep the payload alive.
    ///
    /// - Parameter texts: the payload's texts that other conditions have parsed as JSON.
    func holds(for payload: some ConditionSubject, _ texts: inout ParsedTexts) -> Bool {
        switch self {
        case .value(let path, let test):
            guard var value = payload[path[0]] else { return false }
            for key in path.dropFirst() {
                guard let member = value[key] else { return false }
                value = member
            }
            return test.holds(for: value, &texts)
        case .keyBeginning(let prefix):
            // The first byte excludes most keys.
            guard let first = prefix.utf8.first else { return payload.keyCount > 0 }
            return payload.hasKey(ofLength: prefix.utf8.count) {
                ($0.firstRawByte == first || $0.firstRawByte == UInt8(ascii: "\\")) && $0.starts(with: prefix)
            }
        case .keyContaining(var text):
            return text.withUTF8 { wanted in
                payload.hasKey(ofLength: wanted.count) { $0.hasText(containing: wanted) }
            }
        case .keyCount(let count): return payload.keyCount == count
        case .inText(let key, let condition):
            guard let text = payload[key], let object = texts.object(in: text) else { return false }
            return object.root.withView { condition.holds(for: $0, &texts) }
        case .every(let conditions):
            for condition in conditions where !condition.holds(for: payload, &texts) { return false }
            return true
        }
    }
}

extension ProviderCondition.Test {
    fileprivate func holds(for value: JSONView, _ texts: inout ParsedTexts) -> Bool {
        switch self {
        case .present: true
        case .notNull: value.kind != .null
        case .equals(let text): value.hasText(text)
        case .equalsIgnoringCase(let text): isSameIgnoringCase(value, text)
        case .string: value.isString
        case .notEmpty: value.textLength > 0
        case .notBlank: value.isString && !value.isBlank
        case .object: value.isObject
        case .nonEmptyObject: value.isObject && value.count > 0
        case .truthy: value.foundationBool
        case .jsonText(let key): texts.object(in: value)?.root[key] != nil
        }
    }
}

/// The texts of one payload that were parsed as JSON: each is parsed once for all rules.
struct ParsedTexts {
    private var documents: [(text: JSONView, document: JSONDocument?)] = []

    /// Returns the JSON object in a string; `nil` for anything else.
    mutating func object(in value: JSONView) -> JSONDocument? {
        if let known = documents.first(where: { $0.text == value }) { return known.document }
        let document = value.objectInText
        documents.append((value, document))
        return document
    }
}

extension JSONView {
    /// Whether the key contains a text.
    @inline(__always)
    fileprivate func hasText(containing wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        textLength >= wanted.count && withText { $0.contains(wanted) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these bytes contain the other bytes in sequence.
    fileprivate func contains(_ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = wanted.first else { return true }
        var place = 0
        while let start = firstIndex(of: first, from: place), start + wanted.count <= count {
            if self[start..<start + wanted.count].elementsEqual(wanted) { return true }
            place = start + 1
        }
        return false
    }
}

/// `String.equalsIgnoreCase` of Java: compares character by character, in upper case or in the lower case of that.
private func isSameIgnoringCase(_ value: JSONView, _ text: String) -> Bool {
    // A character takes one to four bytes in UTF-8.
    guard value.textLength <= 4 * text.utf8.count, let left = value.string else { return false }
    return left.unicodeScalars.elementsEqual(text.unicodeScalars) { left, right in
        let left = left.mapped(\.uppercaseMapping)
        let right = right.mapped(\.uppercaseMapping)
        return left == right || left.mapped(\.lowercaseMapping) == right.mapped(\.lowercaseMapping)
    }
}

extension Unicode.Scalar {
    /// Returns the mapped character if the mapping gives a single one; like Java, leaves others unchanged.
    fileprivate func mapped(_ mapping: KeyPath<Properties, String>) -> Unicode.Scalar {
        let scalars = properties[keyPath: mapping].unicodeScalars
        return scalars.count == 1 ? scalars.first ?? self : self
    }
}

/// A provider whose rule matches a payload, and the conditions that hold.
public struct ProviderMatch: Hashable, Sendable, CustomStringConvertible {
    /// The conditions of a rule that hold.
    enum Match: Hashable, Sendable {
        /// All of `all`; the rule has no `any`.
        case all
        /// All of `all`, and the condition at this index of `any`.
        case any(Int)
        /// The condition at this index of `probes`.
        case probe(Int)
    }

    private let tried: TriedRule
    private let match: Match

    init(_ tried: TriedRule, _ match: Match = .all) {
        self.tried = tried
        self.match = match
    }

    /// The provider.
    public var provider: ProviderRule { tried.provider }

    /// The platform.
    public var platform: Platform { tried.platform }

    /// The conditions that made the rule match: `all`, and the first of `any` that holds. Never empty.
    public var conditions: [ProviderCondition] {
        switch match {
        case .all: tried.rule.all
        case .any(let place): tried.rule.all + [tried.rule.any[place]]
        case .probe(let place): [tried.rule.probes[place]]
        }
    }

    /// The provider's name.
    var name: String { tried.provider.name }

    /// Whether it is Braze.
    var isBraze: Bool { tried.isBraze }

    /// Whether the match has all conditions of the rule.
    var isWhole: Bool { match == .all }

    /// Whether the provider's SDK sent the payload to itself, so that no handler gets it.
    var isProbe: Bool {
        if case .probe = match { return true }
        return provider.purpose == .uninstallProbe
    }

    /// The matching rule.
    public var rule: ProviderRule.PlatformRule { tried.rule }

    /// The confidence in the rule.
    public var confidence: ProviderRule.Confidence { tried.rule.confidence }

    /// The component of the app that gets the payload.
    public var entry: ProviderRule.Entry { tried.rule.entry }

    public static func == (left: ProviderMatch, right: ProviderMatch) -> Bool {
        left.provider == right.provider && left.platform == right.platform && left.conditions == right.conditions
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(provider)
        hasher.combine(platform)
        hasher.combine(conditions)
    }

    /// The reason of the match and its consequence, for people. It names keys of the rule, never of the payload.
    public var description: String {
        let what =
            if case .probe = match {
                "the payload is a probe of \(provider.title)'s SDK"
            } else if provider.purpose == .uninstallProbe {
                "\(provider.title) tests whether the app is still installed"
            } else {
                "the payload is \(provider.title)'s"
            }
        let doubt =
            if tried.rule.origin == .interpretation {
                "; the rule is an interpretation"
            } else {
                confidence == .low ? "; the rule is known only from third-party copies" : ""
            }
        return "\(conditionText): \(what)\(doubt)"
    }

    private var conditionText: String { ConditionText(root: platform.payloadName).text(conditions) }
}

extension Platform {
    /// The platform's usual name of the object with a payload's top-level keys.
    fileprivate var payloadName: String {
        switch self {
        case .android: "data"
        case .ios: "userInfo"
        case .web: "payload"
        }
    }
}

/// Conditions as text.
private struct ConditionText {
    /// The name of the object whose keys the conditions name.
    let root: String

    func text(_ conditions: [ProviderCondition]) -> String {
        let strings = conditions.compactMap { condition -> String? in
            guard case .value(let path, .string) = condition else { return nil }
            return place(path)
        }
        if strings.count > 1, strings.count == conditions.count {
            return strings.joined(separator: " and ") + " are strings"
        }
        return conditions.map(text).joined(separator: " and ")
    }

    private func text(_ condition: ProviderCondition) -> String {
        switch condition {
        case .value(let path, let test): text(test, path)
        case .keyBeginning(let prefix): "\(root) has a key that begins with \(prefix)"
        case .keyContaining(let text): "\(root) has a key that contains \(text)"
        case .keyCount(1): "\(root) has exactly one key"
        case .keyCount(let count): "\(root) has exactly \(count) keys"
        case .inText(let key, let condition):
            ConditionText(root: "the JSON text \(place([key]))").text(condition)
        case .every(let conditions): text(conditions)
        }
    }

    private func text(_ test: ProviderCondition.Test, _ path: [String]) -> String {
        switch test {
        case .present: "\(place(path.dropLast())) has the key \(path[path.count - 1])"
        case .notNull: "\(place(path)) is there and not null"
        case .equals(let text): "\(place(path)) is exactly \"\(text)\""
        case .equalsIgnoringCase(let text): "\(place(path)) is \"\(text)\" in any case"
        case .string: "\(place(path)) is a string"
        case .notEmpty: "\(place(path)) is a string that is not empty"
        case .notBlank: "\(place(path)) is a string that is not blank"
        case .object: "\(place(path)) is an object"
        case .nonEmptyObject: "\(place(path)) is an object with members"
        case .truthy: "\(place(path)) counts as true"
        case .jsonText(let key): "\(place(path)) is a JSON text with the key \(key)"
        }
    }

    /// Returns a path of keys in the platform's usual notation.
    private func place(_ path: some Sequence<String>) -> String { path.reduce(root) { "\($0).\($1)" } }
}
