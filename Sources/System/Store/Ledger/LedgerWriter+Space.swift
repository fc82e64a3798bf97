import PushFigures
import PushModel

/// Bytes of the ledger's pages.
struct LedgerSpace: Hashable, Sendable {
    /// Of all of them, free ones too: what the file has once the WAL is copied.
    var length = 0
    /// Of those that nothing uses.
    var free = 0

    /// Of those that have something.
    var used: Int { length - free }

    /// How much may stay free, for what comes next: an eighth, and 8 MiB in a small ledger.
    var reserve: Int { max(8 << 20, used / 8) }
}

extension LedgerWriter {
    /// How the ledger's pages are used.
    func space() throws(StoreError) -> LedgerSpace {
        defer {
            pageCount.reset()
            freePageCount.reset()
        }
        guard try pageCount.step(), try freePageCount.step() else { return LedgerSpace() }
        return LedgerSpace(
            length: Int(pageCount.integer(0)) * pageLength, free: Int(freePageCount.integer(0)) * pageLength)
    }

    /// The contents of a ledger from which nothing more can be taken.
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

    /// Gives so many bytes of the free pages at most back to the file system, which has them once the WAL is copied.
    ///
    /// - Returns: whether there may be more to give back.
    func giveBack(bytes: Int) throws(StoreError) -> Bool {
        let before = try space()
        let surplus = (before.free - before.reserve) / pageLength
        guard surplus > 0 else { return false }
        try database.execute("PRAGMA incremental_vacuum(\(min(bytes / pageLength, surplus)))")
        return try space().free < before.free
    }
}
