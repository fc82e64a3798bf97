import LedgerReports
import PushModel
import PushReporting
import Store

/// The figures of the last minutes, as the ledger grows.
struct LiveReading {
    private static let pageSize = 4096
    /// How many requests before the start are read.
    private static let pastRequests: Int64 = 100_000

    private let ledger: LedgerReader
    private var cursor: OutcomeCursor
    var figures: LiveFigures

    /// - Parameters:
    ///   - ledger: what is read.
    ///   - now: when.
    init(_ ledger: LedgerReader, at now: WallTime) throws(Failure) {
        let begin = WallTime(milliseconds: now.milliseconds - LiveFigures.reach.milliseconds)
        let (all, some) = try Session.reading { () throws(StoreError) in
            let all = try ledger.outcomeCursor(from: begin)
            return (all, try ledger.outcomeCursor(from: begin, limit: Self.pastRequests))
        }
        self.ledger = ledger
        cursor = some
        figures = LiveFigures(since: begin)
        if all != some {
            var cursor = some
            let first = try Session.reading { () throws(StoreError) in
                try ledger.outcomes(after: &cursor, limit: Self.pageSize)
            }
            figures = LiveFigures(since: first.accepted.first ?? begin)
        }
    }

    /// Reads what is new.
    mutating func refresh() throws(Failure) {
        var hasMore = true
        while hasMore {
            var moved = cursor
            let new = try Session.reading { () throws(StoreError) in
                try ledger.outcomes(after: &moved, limit: Self.pageSize)
            }
            cursor = moved
            new.accepted.forEach { figures.add(acceptedAt: $0) }
            new.decided.compactMap(ReportRow.init).forEach { figures.add($0) }
            figures.forget(at: LocalTime.now)
            hasMore = new.hasMore
        }
    }
}
