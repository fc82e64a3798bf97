import PushModel

/// The rows that missed their deadline; above ``capacity`` only the slowest.
public struct MissList: Hashable, Sendable {
    /// The most rows to keep.
    public static let capacity = 200

    /// The number of all misses.
    public private(set) var count = 0
    private var kept: [ReportRow] = []

    /// The kept rows in the order of their numbers.
    public var rows: [ReportRow] { kept.sorted { $0.invocation.id < $1.invocation.id } }

    /// The kept rows, the slowest first.
    public var slowest: [ReportRow] { kept }

    mutating func add(_ row: ReportRow) {
        guard row.invocation.result?.outcome.isMissed == true else { return }
        count += 1
        insert(row)
    }

    /// Adds misses from the ledger.
    /// - Parameters:
    ///   - rows: the slowest of them.
    ///   - total: the number of all of them.
    mutating func add(_ rows: [ReportRow], of total: Int) {
        count += total
        for row in rows { insert(row) }
    }

    private mutating func insert(_ row: ReportRow) {
        if kept.count == Self.capacity {
            guard let last = kept.last, Self.isSlower(row, last) else { return }
            kept.removeLast()
        }
        kept.insert(row, at: kept.firstIndex { Self.isSlower(row, $0) } ?? kept.count)
    }

    private static func isSlower(_ left: ReportRow, _ right: ReportRow) -> Bool {
        let times = (left.invocation.result?.total ?? .zero, right.invocation.result?.total ?? .zero)
        return times.0 == times.1 ? left.invocation.id < right.invocation.id : times.0 > times.1
    }
}
