import PushModel

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
