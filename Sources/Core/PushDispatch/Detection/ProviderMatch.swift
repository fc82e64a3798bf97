public import PushModel

/// A provider whose rule matches a payload, and by what.
public struct ProviderMatch: Hashable, Sendable, CustomStringConvertible {
    private let tried: TriedRule
    /// Which of the conditions holds of which one must; `nil` where there is none.
    private let any: Int?

    init(_ tried: TriedRule, any: Int? = nil) {
        self.tried = tried
        self.any = any
    }

    /// The provider.
    public var provider: ProviderRule { tried.provider }

    /// The platform.
    public var platform: Platform { tried.platform }

    /// What made the rule match: all that must hold, and the first that does of those of which one must. Never empty.
    public var conditions: [ProviderCondition] { tried.rule.all + (any.map { [tried.rule.any[$0]] } ?? []) }

    /// The provider's name.
    var name: String { tried.provider.name }

    /// Whether it is Braze.
    var isBraze: Bool { tried.isBraze }

    /// Whether the rule can match in this way only.
    var isWhole: Bool { any == nil }

    /// How well the rule is known.
    public var confidence: ProviderRule.Confidence { tried.rule.confidence }

    /// Who in the app gets the payload.
    public var entry: ProviderRule.Entry { tried.rule.entry }

    public static func == (left: ProviderMatch, right: ProviderMatch) -> Bool {
        left.provider == right.provider && left.platform == right.platform && left.conditions == right.conditions
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(provider)
        hasher.combine(platform)
        hasher.combine(conditions)
    }

    /// Why it matches and what follows, for people. It names keys of the rule, never of the payload.
    public var description: String {
        let what =
            switch provider.purpose {
            case .messages: "the payload is \(provider.title)'s"
            case .uninstallProbe: "\(provider.title) tests whether the app is still installed"
            }
        let doubt = confidence == .low ? "; the rule is known only from third-party copies" : ""
        return "\(conditionText): \(what)\(doubt)"
    }

    private var conditionText: String {
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
        case .value(let path, .present): "\(place(path.dropLast())) has the key \(path[path.count - 1])"
        case .value(let path, .equals(let text)): "\(place(path)) is exactly \"\(text)\""
        case .value(let path, .equalsIgnoringCase(let text)): "\(place(path)) is \"\(text)\" in any case"
        case .value(let path, .string): "\(place(path)) is a string"
        case .value(let path, .object): "\(place(path)) is an object"
        case .value(let path, .nonEmptyObject): "\(place(path)) is an object with members"
        case .value(let path, .truthy): "\(place(path)) counts as true"
        case .value(let path, .jsonText(let key)): "\(place(path)) is a JSON text with the key \(key)"
        case .keyBeginning(let prefix): "\(root) has a key that begins with \(prefix)"
        case .keyCount(1): "\(root) has exactly one key"
        case .keyCount(let count): "\(root) has exactly \(count) keys"
        }
    }

    /// Where a value is, as the platform's developers write it.
    private func place(_ path: some Sequence<String>) -> String { path.reduce(root) { "\($0).\($1)" } }

    private var root: String {
        switch platform {
        case .android: "data"
        case .ios: "userInfo"
        case .web: "payload"
        }
    }
}
