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
