public import PushModel

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
