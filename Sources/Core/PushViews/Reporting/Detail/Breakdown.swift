import PushModel

/// The figures of the rows, grouped by one dimension or by two.
///
/// It holds at most ``capacity`` groups, because producers choose the names of apps. Further rows count in ``rest``, so
/// the sum stays right.
struct Breakdown: Hashable, Sendable {
    /// The most groups.
    public static let capacity = 1000

    /// The dimensions of the groups.
    public let dimensions: [Dimension]
    /// The figures by the values of the dimensions, in their order.
    public private(set) var groups: [[String]: FigureGroup] = [:]
    /// The figures of the rows beyond the most groups.
    public private(set) var rest = FigureGroup()

    /// A breakdown without rows.
    init(by dimensions: [Dimension]) { self.dimensions = dimensions }

    /// Counts one row.
    public mutating func add(_ row: ReportRow) {
        let names = dimensions.map { $0.value(of: row) }
        if groups[names] != nil || groups.count < Self.capacity {
            groups[names, default: FigureGroup()].add(row.invocation.result)
        } else {
            rest.add(row.invocation.result)
        }
    }

    /// Counts the ledger's figures of a key. If the breakdown is by app, the figures of apps beyond the ledger's limit
    /// (`isOtherApp`) count in ``rest``.
    mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        let names = dimensions.map { $0.value(of: key) }
        let hasPlace = groups[names] != nil || groups.count < Self.capacity
        if hasPlace, !(key.isOtherApp && dimensions.contains(.app)) {
            groups[names, default: FigureGroup()].add(figures, of: key)
        } else {
            rest.add(figures, of: key)
        }
    }

    /// The groups by their names.
    var sorted: [(names: [String], group: FigureGroup)] {
        groups.map { (names: $0.key, group: $0.value) }.sorted { $0.names.lexicographicallyPrecedes($1.names) }
    }

    /// `handler and platform`.
    var words: String { dimensions.map(\.words).joined(separator: " and ") }
}

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

extension FigureGroup {
    /// One of the three times of an invocation.
    enum Clock: String, CaseIterable {
        /// From acceptance to the start of the handler.
        case queue
        /// From the start of the handler to its end.
        case exec
        /// From acceptance to the end.
        case total

        /// The name in a table.
        var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    }

    /// Returns the histogram of a clock.
    func histogram(_ clock: Clock) -> Histogram {
        switch clock {
        case .queue: queue
        case .exec: exec
        case .total: total
        }
    }

    /// The times that tables show beside a group's counts; their headings name the clock.
    static let times: [(title: String, clock: Clock, permille: Int?)] = [
        ("Exec p50", .exec, 500), ("Exec p99", .exec, 990), ("Exec max", .exec, nil), ("Queue p50", .queue, 500),
        ("Queue p99", .queue, 990), ("Total p50", .total, 500), ("Total p99", .total, 990),
    ]

    /// The values of `times` in milliseconds.
    var shownTimes: [String] {
        Self.times.map { time in
            let histogram = histogram(time.clock)
            return groupedMilliseconds(time.permille.map { histogram.quantile(permille: $0) } ?? histogram.max)
        }
    }

    /// The quantiles that tables show for each clock.
    static let quantiles: [(title: String, permille: Int)] = [
        ("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999),
    ]

    /// A row for each clock: its name, the quantiles and the maximum, in milliseconds.
    var shownClocks: [[String]] {
        Clock.allCases.map { clock in
            let histogram = histogram(clock)
            let quantiles = Self.quantiles.map { groupedMilliseconds(histogram.quantile(permille: $0.permille)) }
            return [clock.title] + quantiles + [groupedMilliseconds(histogram.max)]
        }
    }

    /// The headings above `shownClocks`.
    static let clockTitles = ["Time (ms)"] + quantiles.map(\.title) + ["max"]
}
