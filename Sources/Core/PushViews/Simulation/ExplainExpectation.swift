public import PushModel
public import PushRouter

/// Tests an explanation: `provider=braze`, `campaign=spring-*`, `warning=none`.
public struct ExplainExpectation: Sendable {
    /// A fact that can be expected. The raw values are the keys.
    public enum Key: String, CaseIterable, Sendable {
        case provider, platform, outcome, callback, handler, route, campaign, kind, tap, confidence, reason, warning

        /// The path of its values in the object of `explain --json`; `nil`: ``Explanation/outcomeWords`` has them.
        var path: [String]? {
            switch self {
            case .outcome: nil
            case .provider, .platform, .confidence: [rawValue]
            case .callback, .handler, .route: ["invocations", rawValue]
            case .campaign: ["braze", "campaign_id"]
            case .kind: ["braze", "kind"]
            case .tap: ["tap", "verdict"]
            case .reason: ["reason_codes"]
            case .warning: ["warnings"]
            }
        }

        /// The values that it may have under a configuration; `nil`: any text.
        func words(_ table: RoutingTable) -> [String]? {
            switch self {
            case .provider:
                [ProviderRule.brazeName]
                    + table.detection.providers.map(\.name).filter { $0 != ProviderRule.brazeName }
            case .platform: Platform.allCases.map(\.rawValue)
            case .outcome: Outcome.allCases.map(\.rawValue) + table.handlers.keys.sorted().map { "handler \($0)" }
            case .callback: Callback.allCases.map(\.rawValue)
            case .handler: table.handlers.keys.sorted()
            case .route: table.routes.map(\.name)
            case .kind: BrazeFacts.Kind.allCases.map(\.rawValue)
            case .tap: Interaction.Verdict.allCases.map(\.rawValue)
            case .confidence: ProviderRule.Confidence.allCases.map(\.rawValue)
            case .reason: ReasonCode.allCases.map(\.rawValue)
            case .campaign, .warning: nil
            }
        }
    }

    /// The word that stands for no value.
    public static let none = "none"

    private let key: Key
    private let pattern: Glob

    /// - Parameter text: `KEY=VALUE`.
    /// - Returns: `nil` for an unknown key.
    public init?(_ text: String) {
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), let key = Key(rawValue: String(text[..<sign]))
        else { return nil }
        self.key = key
        pattern = Glob(String(text[text.utf8.index(after: sign)...]))
    }

    /// Returns why no payload can be as expected: the value matches no word of the key; `nil`: one can be.
    public func complaint(under table: RoutingTable) -> String? {
        guard let words = key.words(table), !(words + [Self.none]).contains(where: pattern.matches) else { return nil }
        let near = suggestion(for: pattern.description, among: words)
        return "there is no \(key.rawValue) \(pattern.description)"
            + (near.isEmpty && words.count <= Self.listedMax ? "; one of \(words.joined(separator: ", "))" : near)
    }

    /// As many words as a message lists.
    private static let listedMax = 20

    /// Returns the values if none matches; `nil` if one does. One match among several values, such as callbacks, is
    /// enough.
    ///
    /// - Parameters:
    ///   - explanation: the explanation.
    ///   - object: its object of `explain --json`.
    public func failure(in explanation: Explanation, _ object: JSONNode) -> String? {
        let values = key.path.map { Self.values(at: $0, of: object) } ?? explanation.outcomeWords
        guard !(values.isEmpty ? [Self.none] : values).contains(where: pattern.matches) else { return nil }
        let found = values.isEmpty ? Self.none : values.joined(separator: ", ")
        return "\(key.rawValue) is \(found), not \(pattern.description)"
    }

    private static func values(at path: [String], of object: JSONNode) -> [String] {
        let nodes = path.reduce([object]) { nodes, name in nodes.flatMap(elements).compactMap { $0[name] } }
        return nodes.flatMap(elements).compactMap(\.string)
    }

    private static func elements(_ node: JSONNode) -> [JSONNode] { node.kind == .array ? node.elements : [node] }
}

extension Explanation {
    /// The callbacks of owners, each once, in the order of the platform's calls.
    public var callbackNames: [String] {
        ownInvocations.map(\.planned.callback.rawValue).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// The outcomes of the payload, each once; `handler NAME` if a handler decides the outcome.
    var outcomeWords: [String] {
        if let outcome = decision.outcome { return [outcome.rawValue] }
        return ownInvocations.reduce(into: []) { words, invocation in
            let word = invocation.outcome?.rawValue ?? "handler \(invocation.handler ?? "")"
            if !words.contains(word) { words.append(word) }
        }
    }

    /// The words of ``outcomeWords`` as one text.
    public var outcomeWord: String { outcomeWords.joined(separator: ", ") }

    /// Whether the app does not get the push, or nobody in it does.
    var losesPush: Bool {
        decision.outcome?.losesPush ?? ownInvocations.contains { $0.outcome?.losesPush ?? false }
    }

    private var ownInvocations: [Invocation] { invocations.filter { !$0.isObserver } }
}
