import PushDispatch
public import PushModel

/// A condition on an explanation: `provider=braze`, `campaign=spring-*`, `warning=none`.
public struct ExplainExpectation: Sendable {
    /// What can be expected. The raw values are the keys.
    public enum Key: String, CaseIterable, Sendable {
        case provider, platform, outcome, callback, handler, route, campaign, kind, confidence, reason, warning

        /// Where it stands in the object of `explain --json`.
        var path: [String] {
            switch self {
            case .provider, .platform, .outcome, .confidence: [rawValue]
            case .callback, .handler, .route: ["invocations", rawValue]
            case .campaign: ["braze", "campaign_id"]
            case .kind: ["braze", "kind"]
            case .reason: ["reason_codes"]
            case .warning: ["warnings"]
            }
        }
    }

    /// The word for nothing at all.
    public static let none = "none"

    private let key: Key
    private let pattern: Glob

    /// - Parameter text: `KEY=VALUE`.
    /// - Returns: `nil` for a key that is none.
    public init?(_ text: String) {
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), let key = Key(rawValue: String(text[..<sign]))
        else { return nil }
        self.key = key
        pattern = Glob(String(text[text.utf8.index(after: sign)...]))
    }

    /// What is so instead; `nil` when it holds. Of several values, such as the callbacks, one has to match.
    ///
    /// - Parameter explanation: the object of `explain --json`.
    public func failure(in explanation: JSONNode) -> String? {
        var nodes = [explanation]
        for name in key.path { nodes = nodes.flatMap(Self.elements).compactMap { $0[name] } }
        let values = nodes.flatMap(Self.elements).compactMap(\.string)
        guard !(values.isEmpty ? [Self.none] : values).contains(where: pattern.matches) else { return nil }
        let found = values.isEmpty ? Self.none : values.joined(separator: ", ")
        return "\(key.rawValue) is \(found), not \(pattern.description)"
    }

    private static func elements(_ node: JSONNode) -> [JSONNode] { node.kind == .array ? node.elements : [node] }
}

extension Explanation {
    /// The callbacks that somebody owns, each once, in the order in which the platform would run them.
    public var callbackNames: [String] {
        ownInvocations.map(\.planned.callback.rawValue).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// What comes of it in a word: its outcome, where the platform decides it; else who has it.
    public var outcomeWord: String {
        if let outcome = decision.outcome { return outcome.rawValue }
        let words = ownInvocations.map { invocation in
            if invocation.planned.owner == .tracker { return Outcome.handedToTracker.rawValue }
            return invocation.handler.map { "handler \($0)" } ?? Outcome.unrouted.rawValue
        }
        return words.reduce(into: [String]()) { list, word in
            if !list.contains(word) { list.append(word) }
        }.joined(separator: ", ")
    }

    private var ownInvocations: [Invocation] { invocations.filter { !$0.isObserver } }
}
