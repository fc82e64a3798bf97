public import PushModel

/// How far somebody who follows the outcomes has come: the last request seen, and which invocations of it and of those
/// before had no outcome yet. Bounded by the requests that the daemon lets be in flight.
public struct OutcomeCursor: Hashable, Sendable {
    fileprivate(set) var last: SequenceNumber
    fileprivate(set) var pending: Set<InvocationID>

    /// How many invocations had no outcome when it was moved last.
    public var pendingCount: Int { pending.count }
}

/// What is new since an ``OutcomeCursor``.
public struct NewOutcomes: Sendable {
    /// Invocations that were decided, in the order of their ends.
    public internal(set) var decided: [LedgerRow] = []
    /// When the new requests were accepted, in order of their numbers.
    public internal(set) var accepted: [WallTime] = []
    /// Whether there may be more already.
    public internal(set) var hasMore = false
}

extension LedgerReader {
    /// A number that changes when another process commits to the ledger. It costs no disk.
    public func changeNumber() throws(StoreError) -> Int64 { try database.integer("PRAGMA data_version") }

    /// Where following the outcomes begins.
    ///
    /// - Parameters:
    ///   - start: with the requests accepted from then on; `nil`: with what is decided from now on.
    ///   - limit: with the last so many requests at most; `nil` is no bound.
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

    /// What was decided and accepted since, and moves the cursor behind it.
    ///
    /// A request and its invocations are committed together and numbers only grow, so whoever goes on from a cursor gets
    /// every outcome once, over restarts of the daemon, too. What was pruned before it was read is left out.
    ///
    /// - Parameters:
    ///   - cursor: where to go on.
    ///   - limit: how many rows of new requests are read at most; no request has as many.
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
            // Of the last request there may be more.
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

    /// The cursor behind which the events of a time from `start` on begin; reads every event of the ledger once.
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
    /// The rows that it gives; it can be bound again.
    fileprivate mutating func rowsOfOutcomes() throws(StoreError) -> [LedgerRow] {
        defer { reset() }
        var rows: [LedgerRow] = []
        while try step() { rows.append(try ledgerRow()) }
        return rows
    }
}
