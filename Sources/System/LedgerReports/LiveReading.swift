public import PushModel
public import PushViews
public import Store

/// The figures of the last minutes, updated as the ledger grows.
public struct LiveReading {
    private static let pageSize = 4096
    /// The largest number of earlier requests that the start reads.
    private static let pastRequests: Int64 = 100_000

    private let ledger: LedgerReader
    private var cursor: OutcomeCursor
    /// The figures, as far as they were read.
    public var figures: LiveFigures

    /// - Parameters:
    ///   - ledger: the ledger.
    ///   - now: the current time.
    public init(_ ledger: LedgerReader, at now: WallTime) throws(StoreError) {
        let begin = WallTime(milliseconds: now.milliseconds - LiveFigures.reach.milliseconds)
        let all = try ledger.outcomeCursor(from: begin)
        let some = try ledger.outcomeCursor(from: begin, limit: Self.pastRequests)
        self.ledger = ledger
        cursor = some
        figures = LiveFigures(since: begin)
        if all != some {
            var cursor = some
            let first = try ledger.outcomes(after: &cursor, limit: Self.pageSize)
            figures = LiveFigures(since: first.accepted.first ?? begin)
        }
    }

    /// Reads new rows, and drops old ones.
    ///
    /// - Parameter now: returns the current time; called after each page.
    public mutating func refresh(now: () -> WallTime) throws(StoreError) {
        var hasMore = true
        while hasMore {
            var moved = cursor
            let new = try ledger.outcomes(after: &moved, limit: Self.pageSize)
            cursor = moved
            new.accepted.forEach { figures.add(acceptedAt: $0) }
            new.decided.compactMap(ReportRow.init).forEach { figures.add($0) }
            figures.forget(at: now())
            hasMore = new.hasMore
        }
    }
}
