import PushModel

extension LedgerWriter {
    /// Removes the oldest requests of a slice with all rows that belong to them, except requests with an invocation in
    /// flight. The receipts of remembered deliveries stay.
    ///
    /// Removes as many entries of custom data that reached a final state before `cutoff`, whether their requests are
    /// removed or not. Other entries stay, and so do profiles: they describe the present.
    ///
    /// A request stays as long as it has a dead letter; dead letters that are too old or beyond the size limit are
    /// removed first.
    ///
    /// - Parameters:
    ///   - slice: the rows to remove. Without a cutoff, entries are removed that are as old as the removed requests.
    ///   - position: the place in the log behind the order; `nil` if this is not an order.
    /// - Returns: how many requests and dead letters were removed, and whether there may be more.
    func prune(_ slice: PruningSlice, through position: LogPosition? = nil) throws(StoreError) -> Pruned {
        let (cutoff, limit) = (slice.cutoff, slice.limit)
        var pruned = Pruned()
        let rows = try rows()
        try transaction(through: position) { () throws(StoreError) in
            if let deadLetters = slice.deadLetters {
                try database.execute(deadLetters.deletionByAge(limit: limit))
                pruned.deadLetters = database.changes
                if pruned.deadLetters < limit {
                    try database.execute(deadLetters.deletionBySize(limit: limit - pruned.deadLetters))
                    pruned.deadLettersBySize = database.changes
                    pruned.deadLetters += pruned.deadLettersBySize
                }
                if pruned.deadLetters > 0 { rows.deadLetters.invalidate() }
            }
            if let cutoff { try database.execute(GapRows.deletion(before: cutoff)) }
            let old = try oldest(before: cutoff, limit: limit)
            pruned.requests = old.count
            let isFinishedBefore = cutoff?.milliseconds ?? old.newest ?? .max
            try database.execute(
                """
                UPDATE meta SET highest_seq = max(highest_seq, \(old.highest)), highest_cursor = \(rows.lastCursor),
                    highest_entry = max(highest_entry, (SELECT coalesce(max(number), 0) FROM entries));
                DELETE FROM entries WHERE number IN (
                    SELECT number FROM entries INDEXED BY entries_finished WHERE \(EntryFilter.isFinished)
                        AND coalesce(settled_at, saved_at) < \(isFinishedBefore)
                    ORDER BY state, coalesce(settled_at, saved_at), number LIMIT \(limit));
                """)
            let entries = database.changes
            pruned.isPartial = [old.count, entries, pruned.deadLetters].contains(limit)
            if let figures = slice.figures {
                try database.execute(AuditRows.deletion(before: figures, limit: limit))
                if database.changes == limit { pruned.isPartial = true }
                if try rows.figures.forget(before: FigureMinute.of(milliseconds: figures.milliseconds)) {
                    pruned.isPartial = true
                }
            }
            guard let newest = old.newest else { return }
            pruned.newest = WallTime(milliseconds: newest)
            try rows.figures.notePruned(before: FigureMinute.of(milliseconds: newest) + 1)
            try database.execute(
                """
                DELETE FROM clock_steps WHERE seq IN (\(old.list));
                DELETE FROM event_rows WHERE seq IN (\(old.list))
                    AND NOT EXISTS (SELECT 1 FROM tracked_deliveries WHERE event = cursor);
                DELETE FROM attempts WHERE seq IN (\(old.list));
                DELETE FROM attempts_left_out WHERE seq IN (\(old.list));
                DELETE FROM interactions WHERE cause IN (\(old.list));
                DELETE FROM fan_outs WHERE seq IN (\(old.list));
                DELETE FROM invocation_rows WHERE seq IN (\(old.list));
                DELETE FROM request_rows WHERE seq IN (\(old.list));
                DELETE FROM configurations WHERE first_seq < (SELECT max(first_seq) FROM configurations
                    WHERE first_seq <= (SELECT min(seq) FROM request_rows));
                """)
            try rows.texts.forget(before: try database.integer(SharedTexts.firstUser))
        }
        rows.pruned = SequenceNumber(try database.integer("SELECT highest_seq FROM meta"))
        return pruned
    }

    /// Requests to be removed.
    private struct ExpiredRequests {
        /// Their numbers, separated by commas.
        var list = ""
        var count = 0
        var highest: Int64 = 0
        /// The time of acceptance of the last of them; `nil` if there is none.
        var newest: Int64?
    }

    /// Returns the oldest requests without an invocation in flight, without a dead letter and without deliveries to
    /// make.
    private func oldest(before cutoff: WallTime?, limit: Int) throws(StoreError) -> ExpiredRequests {
        let statement = try database.prepare(
            """
            SELECT group_concat(seq), count(*), max(seq), max(accepted_at) FROM (
                SELECT seq, accepted_at FROM request_rows WHERE accepted_at < \(cutoff?.milliseconds ?? .max)
                    AND NOT EXISTS (
                        SELECT 1 FROM invocation_rows WHERE invocation_rows.seq = request_rows.seq AND outcome IS NULL)
                    AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE dead_letters.seq = request_rows.seq)
                    AND NOT EXISTS (
                        SELECT 1 FROM fan_outs WHERE fan_outs.seq = request_rows.seq AND devices IS NOT NULL)
                ORDER BY accepted_at, seq LIMIT \(limit))
            """)
        guard try statement.step(), let list = statement.text(0) else { return ExpiredRequests() }
        return ExpiredRequests(
            list: list, count: try statement.value(1), highest: statement.integer(2), newest: statement.integer(3))
    }
}

/// The sizes of the ledger's pages, in bytes.
struct LedgerSpace: Hashable, Sendable {
    /// All pages, with the free ones: the length of the file once the WAL is copied.
    var length = 0
    /// The free pages.
    var free = 0

    /// The pages in use.
    var used: Int { length - free }

    /// The bytes that may stay free for new rows: an eighth of those in use, and at least 8 MiB.
    var reserve: Int { max(8 << 20, used / 8) }
}

extension LedgerWriter {
    /// Returns how the ledger's pages are used.
    func space() throws(StoreError) -> LedgerSpace {
        defer {
            pageCount.reset()
            freePageCount.reset()
        }
        guard try pageCount.step(), try freePageCount.step() else { return LedgerSpace() }
        return LedgerSpace(
            length: Int(pageCount.integer(0)) * pageLength, free: Int(freePageCount.integer(0)) * pageLength)
    }

    /// Returns the figures of the dead letters if they changed since the last call.
    ///
    /// - Parameter countsAnew: whether to count rows that were removed in bulk: more of them may go soon.
    func deadLetterNews(countsAnew: Bool) throws(StoreError) -> DeadLetterTotals? {
        let counter = try rows().deadLetters
        return counter.isStale && !countsAnew ? nil : try counter.news(database)
    }

    /// Returns the contents of a ledger that pruning cannot remove.
    func remains() throws(StoreError) -> LedgerRemains {
        var remains = LedgerRemains()
        remains.inFlight = Int(try database.integer("SELECT count(*) FROM invocation_rows WHERE outcome IS NULL"))
        remains.deadLetters = Int(try database.integer("SELECT count(*) FROM dead_letters"))
        remains.deadLetterBytes = Int(try database.integer("SELECT coalesce(sum(bytes), 0) FROM dead_letters"))
        remains.entries = Int(
            try database.integer("SELECT count(*) FROM entries WHERE NOT (\(EntryFilter.isFinished))"))
        for length in SpanLength.allCases {
            remains.figureBytes += Int(
                try database.integer(
                    "SELECT coalesce(sum(length(figures)), 0) FROM \(FigureTable.name(length))"))
        }
        return remains
    }

    /// Gives at most so many bytes of free pages back to the file system, which gets them once the WAL is copied.
    ///
    /// - Returns: whether there may be more to give back.
    func releasePages(bytes: Int) throws(StoreError) -> Bool {
        let before = try space()
        let surplus = (before.free - before.reserve) / pageLength
        guard surplus > 0 else { return false }
        try database.execute("PRAGMA incremental_vacuum(\(min(bytes / pageLength, surplus)))")
        return try space().free < before.free
    }
}

extension DeadLetterLimits {
    /// Returns the statement that deletes dead letters older than the cutoff, at most `limit` of them.
    func deletionByAge(limit: Int) -> String {
        """
        DELETE FROM dead_letters WHERE (seq, n) IN (
            SELECT seq, n FROM dead_letters WHERE at < \(cutoff.milliseconds) ORDER BY at, seq, n LIMIT \(limit))
        """
    }

    /// Returns the statement that deletes the oldest dead letters beyond the size limit, among the `limit` oldest. One
    /// sum reads all rows, some milliseconds for 300,000; the rest reads only those `limit` rows.
    func deletionBySize(limit: Int) -> String {
        """
        DELETE FROM dead_letters WHERE (seq, n) IN (
            SELECT seq, n FROM (
                SELECT seq, n, sum(bytes) OVER (ORDER BY seq, n ROWS UNBOUNDED PRECEDING) - bytes AS older
                FROM (SELECT seq, n, bytes FROM dead_letters ORDER BY seq, n LIMIT \(limit)))
            WHERE (SELECT sum(bytes) FROM dead_letters) - older > \(byteCountMax))
        """
    }
}

/// The rows that a slice of pruning removed.
struct Pruned: Hashable {
    var requests = 0
    var deadLetters = 0
    /// Those of them beyond `DeadLetterSizeMax=`.
    var deadLettersBySize = 0
    /// The time of acceptance of the last of the requests; `nil` if there are none.
    var newest: WallTime?
    /// Whether there may be more to remove.
    var isPartial = false
}
