import PushFigures
import PushModel

/// A fact of a row by which figures are kept apart; the raw values are the words of `--by`.
public enum Dimension: String, Sendable, CaseIterable {
    case handler, route, provider, platform, app, callback, outcome, transport, priority
    case originalPriority = "original_priority"

    /// What stands for a row that has no such fact.
    static let none = "none"

    /// The head of a column.
    var title: String { words.capitalizingFirst }

    /// For people: `original priority`.
    var words: String { rawValue.replacingUnderscores }

    /// The fact of one row.
    func value(of row: ReportRow) -> String {
        let value: String? =
            switch self {
            case .handler: row.invocation.handler
            case .route: row.invocation.route
            case .provider: row.invocation.provider
            case .platform: row.platform.rawValue
            case .app: row.app
            case .callback: row.invocation.callback.rawValue
            case .outcome: row.invocation.result?.outcome.rawValue ?? "in_flight"
            case .transport: row.transport?.rawValue
            case .priority: row.deliveredPriority?.rawValue
            case .originalPriority: row.originalPriority?.rawValue
            }
        return value ?? Self.none
    }

    /// The fact that all invocations of a key have in common.
    func value(of key: FigureKey) -> String {
        let value: String? =
            switch self {
            case .handler: key.handler
            case .route: key.route
            case .provider: key.provider
            case .platform: key.platform.rawValue
            case .app: key.app
            case .callback: key.callback.rawValue
            case .outcome: key.outcome.rawValue
            case .transport: key.transport?.rawValue
            case .priority: key.deliveredPriority?.rawValue
            case .originalPriority: key.originalPriority?.rawValue
            }
        return value ?? Self.none
    }

    /// Reads `handler` or `handler,platform`: one dimension or two different ones; `nil` for anything else.
    public static func list(_ text: String) -> [Dimension]? {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let dimensions = words.compactMap { Dimension(rawValue: String($0)) }
        guard dimensions.count == words.count, (1...2).contains(words.count), Set(dimensions).count == words.count
        else { return nil }
        return dimensions
    }
}
