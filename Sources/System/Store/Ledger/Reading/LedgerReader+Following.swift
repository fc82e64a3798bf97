public import PushModel

/// The progress of a reader that follows outcomes: the last request it has seen, and the invocations up to it that had
/// no outcome yet. Its size is bounded by the daemon's limit of requests in flight.
public struct OutcomeCursor: Hashable, Sendable {
    fileprivate(set) var last: SequenceNumber
    fileprivate(set) var pending: Set<InvocationID>

    /// The number of invocations without an outcome at the last move.
    var pendingCount: Int { pending.count }
}

/// The outcomes and requests since an ``OutcomeCursor``.
public struct NewOutcomes: Sendable {
    /// The decided invocations, in the order of their ends.
    public internal(set) var decided: [LedgerRow] = []
    /// The times of acceptance of the new requests, in order of their numbers.
    public internal(set) var accepted: [WallTime] = []
    /// Whether there may be more.
    public internal(set) var hasMore = false
}

extension LedgerReader {
    /// Returns a number that changes when another process commits to the ledger. The query reads no disk.
    public func changeNumber() throws(StoreError) -> Int64 { try database.integer("PRAGMA data_version") }

    /// Returns a cursor from which to follow the outcomes.
    ///
    /// - Parameters:
    ///   - start: the time of acceptance to begin with; `nil` begins with the next decision.
    ///   - limit: the largest number of requests to begin with, the last ones; `nil` means no limit.
    public func outcomeCursor(from start: WallTime?, limit: Int64? = nil) throws(StoreError) -> OutcomeCursor {
        try snapshot { () throws(StoreError) in
            let highest = try highestSequenceNumber()
            var last = highest
            if let start {
                let statement = try database.prepare(
                    "SELECT min(seq) FROM request_rows INDEXED BY requests_by_time WHERE accepted_at >= ?1")
                statement.bind(start.milliseconds, at: 1)
                if try statement.step(), let first: SequenceNumber = try statement.value() {
                    last = SequenceNumber(first.value - 1)
                }
            }
            if let limit { last = max(last, SequenceNumber(highest.value - limit)) }
            return OutcomeCursor(last: last, pending: try pendingIDs().filter { $0.seq <= last })
        }
    }

    /// Returns the outcomes and requests after a cursor, and moves the cursor behind them.
    ///
    /// A request and its invocations are committed together and numbers only grow, so a reader that continues from a
    /// cursor gets every outcome once, across restarts of the daemon. Rows that were pruned before they were read are
    /// missing.
    ///
    /// - Parameters:
    ///   - cursor: the place to continue from.
    ///   - limit: the largest number of rows of new requests; no request has as many.
    public func outcomes(after cursor: inout OutcomeCursor, limit: Int) throws(StoreError) -> NewOutcomes {
        var moved = cursor
        let found = try snapshot { () throws(StoreError) in
            var found = NewOutcomes()
            if !moved.pending.isEmpty {
                let settled = moved.pending.subtracting(try pendingIDs())
                var statement = try database.prepare(Self.following + "WHERE requests.seq = ?1 AND n = ?2")
                for id in settled {
                    statement.bind(id.seq.value, at: 1)
                    statement.bind(Int64(id.n), at: 2)
                    found.decided += try statement.rowsOfOutcomes()
                }
                moved.pending.subtract(settled)
            }
            var statement = try database.prepare(
                Self.following + "WHERE requests.seq > ?1 ORDER BY requests.seq, n LIMIT ?2")
            statement.bind(moved.last.value, at: 1)
            statement.bind(Int64(limit), at: 2)
            var rows = try statement.rowsOfOutcomes()
            found.hasMore = rows.count == limit
            // The limit may have cut the rows of the last request.
            if found.hasMore, let last = rows.last?.seq { rows.removeAll { $0.seq == last } }
            for row in rows {
                if row.seq > moved.last { found.accepted.append(row.acceptedAt) }
                moved.last = row.seq
                guard let invocation = row.invocation else { continue }
                if invocation.result == nil { moved.pending.insert(invocation.id) } else { found.decided.append(row) }
            }
            return found
        }
        cursor = moved
        return found.inOrder
    }

    /// Returns the cursor behind which the events with a time at or after `start` begin; reads every event of the
    /// ledger once.
    public func eventCursor(from start: WallTime) throws(StoreError) -> Int64 {
        let statement = try database.prepare("SELECT min(cursor) FROM event_rows WHERE time >= ?1")
        statement.bind(start.seconds, at: 1)
        guard try statement.step(), !statement.isNull(0) else { return try lastCursor() }
        return try statement.integer(0, in: StoredRange.number) - 1
    }

    private func pendingIDs() throws(StoreError) -> Set<InvocationID> {
        let statement = try database.prepare(
            "SELECT seq, n FROM invocation_rows INDEXED BY invocations_pending WHERE outcome IS NULL")
        var pending: Set<InvocationID> = []
        while try statement.step() {
            pending.insert(InvocationID(seq: try statement.value(0), n: try statement.value(1)))
        }
        return pending
    }

    private static let following = """
        SELECT \(rowColumns) FROM \(LedgerTable.requests.source) LEFT JOIN \(LedgerTable.invocations.source) USING (seq)\u{20}
        """
}

extension NewOutcomes {
    fileprivate var inOrder: NewOutcomes {
        var ordered = self
        ordered.decided.sort { left, right in
            guard let first = left.invocation, let second = right.invocation else { return false }
            let times = (first.result?.decidedAt.milliseconds ?? 0, second.result?.decidedAt.milliseconds ?? 0)
            return times.0 == times.1 ? first.id < second.id : times.0 < times.1
        }
        return ordered
    }
}

extension Statement {
    /// Returns the rows of the statement, and resets it.
    fileprivate mutating func rowsOfOutcomes() throws(StoreError) -> [LedgerRow] {
        defer { reset() }
        var rows: [LedgerRow] = []
        while try step() { rows.append(try ledgerRow()) }
        return rows
    }
}
