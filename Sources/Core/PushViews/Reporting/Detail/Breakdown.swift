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
    var sorted: [FigureGroup.Named] {
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
        var title: String { rawValue.capitalizingFirst }

        /// The name on a page.
        var words: String {
            switch self {
            case .queue: "Queue wait"
            case .exec: "Execution"
            case .total: "Total"
            }
        }
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

    /// The quantiles that tables show for each clock.
    static let quantiles: [(title: String, permille: Int)] = [
        ("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999),
    ]

    /// The columns of the times by each clock, in milliseconds.
    var clockColumns: [Column<Clock>] {
        let quantiles: [Column<Clock>] = Self.quantiles.map { title, permille in
            .numberInText(title, { groupedMilliseconds(histogram($0).quantile(permille: permille)) })
        }
        return [
            .nameInText("Time (ms)", \.title).only(.terminal, .markdown), .name("Time") { "\($0.words)" },
            .number("Count") { "\(grouped(histogram($0).count))" },
        ] + quantiles + [.numberInText("max", { groupedMilliseconds(histogram($0).max) })]
    }

    /// A group with its names.
    typealias Named = (names: [String], group: FigureGroup)

    /// The columns of groups: names, counts and times. A page has more counts, fewer times, and names of its own.
    ///
    /// - Parameters:
    ///   - titles: a heading for each of the names.
    ///   - unit: stands behind the heading of a time.
    static func columns(_ titles: [String] = [], unit: String = "") -> [Column<Named>] {
        let names: [Column<Named>] = titles.enumerated().map { place, title in
            .nameInText(title, { $0.names[place] }).chosen
        }
        let counts: [Column<Named>] = [
            .numberInText("Count", { grouped($0.group.count) }),
            .number("Due") { "\(grouped($0.group.compliance.due))" }, missed,
            .number("Compliance") { "\($0.group.compliance.due > 0 ? $0.group.compliance.description : "-")" },
            .numberInText("Handled", { grouped($0.group.handled) }), failed,
            .numberInText("Missed", { grouped($0.group.compliance.missed) }).only(.terminal, .markdown),
        ]
        func time(_ title: String, _ clock: Clock, _ permille: Int?) -> Column<Named> {
            .numberInText(title) {
                let histogram = $0.group.histogram(clock)
                return groupedMilliseconds(permille.map { histogram.quantile(permille: $0) } ?? histogram.max)
            }
        }
        return names + counts
            + times.map { time($0.title + unit, $0.clock, $0.permille).only(.terminal, .markdown) }
            + times.filter { $0.clock == .total }.map { time("\($0.title), ms", $0.clock, $0.permille).only(.page) }
    }

    /// The missed invocations of a group, on a page.
    static var missed: Column<Named> {
        .number("Missed") {
            let missed = $0.group.compliance.missed
            return missed > 0 ? "<a class=\"bad\" href=\"#misses\">\(grouped(missed))</a>" : "0"
        }
    }

    static var failed: Column<Named> {
        .numberInText("Failed", { grouped($0.group.failed) }) {
            let failed = grouped($0.group.failed)
            return $0.group.alwaysFails ? "<span class=\"bad\">\(failed)</span>" : "\(failed)"
        }
    }

    /// The columns of the attempts that handlers declined or asked to repeat.
    static var answerColumns: [Column<Named>] {
        [
            .nameInText("Handler", { $0.names[0] }).chosen, .numberInText("Declined", { grouped($0.group.declined) }),
            .numberInText("Asked for a retry", { grouped($0.group.retries) }),
        ]
    }
}

extension [String: FigureGroup] {
    /// The groups by their names.
    var byName: [FigureGroup.Named] { sorted { $0.key < $1.key }.map { (names: [$0.key], group: $0.value) } }
}
