import PushModel

/// A property of a row to group figures by; the raw values are the words of `--by`.
public enum Dimension: String, Sendable, CaseIterable {
    case handler, route, provider, platform, app, callback, outcome, transport, priority
    case originalPriority = "original_priority"

    /// The value for a row without the property.
    static let none = "none"

    /// The heading of a column.
    var title: String { words.capitalizingFirst }

    /// The name for people: `original priority`.
    var words: String { rawValue.replacingUnderscores }

    /// Returns the value of a row.
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

    /// Returns the value that all invocations of a key share.
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

    /// Parses `handler` or `handler,platform`: one dimension or two different ones; `nil` for other texts.
    public static func list(_ text: String) -> [Dimension]? {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let dimensions = words.compactMap { Dimension(rawValue: String($0)) }
        guard dimensions.count == words.count, (1...2).contains(words.count), Set(dimensions).count == words.count
        else { return nil }
        return dimensions
    }
}
