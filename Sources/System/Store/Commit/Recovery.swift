import PushModel

/// The result of recovery from the log.
public struct RecoverySummary: Hashable, Sendable {
    /// A log or a ledger that the start moved away.
    public struct SetAside: Hashable, Sendable {
        /// Its kind.
        public enum Kind: Hashable, Sendable {
            /// A damaged log.
            case damagedLog
            /// Ledger and log of another format.
            case otherFormat
        }

        /// Its kind.
        public var kind: Kind
        /// Its path now.
        public var path: String
        /// The fault that was found, and the loss.
        public var reason: String
    }

    /// The number of batches that were durable and not in the ledger yet.
    public var batches = 0
    /// The log or the ledger that the start moved away; `nil` if nothing was damaged.
    public var setAside: SetAside?
    /// Whether batches were written again as copies, because a reader has an older state of the ledger open.
    var hasCopies = false
}

/// Brings a ledger up to date from its log, and makes the log for this run.
///
/// Recovery does not trust that data which it can read is on the disk: after a failed sync the page cache may have data
/// that the disk lacks. So it applies the batches to the ledger, copies the whole WAL to the database file and syncs
/// it, before the log begins anew. If a reader prevents that, it writes the batches that may be missing again, to
/// segments of their own.
enum Recovery {
    /// - Parameters:
    ///   - writer: the ledger.
    ///   - stateDirectory: the state directory.
    ///   - limits: the limits of the log's size.
    ///   - now: the current time.
    ///   - onProgress: called at intervals.
    static func run(
        _ writer: LedgerWriter, stateDirectory: String, limits: CommitLog.Limits, now: WallTime,
        onProgress: () -> Void
    ) throws(StoreError) -> (log: any BatchLog, summary: RecoverySummary) {
        var summary = RecoverySummary()
        let directory = try LogDirectory(in: stateDirectory, state: writer.stateID)
        let (segments, damage) = try directory.segments()
        var chain = try LogChain(segments)
        let gap = try replay(&chain, writer) { () throws(StoreError) in
            summary.batches += 1
            guard summary.batches % 64 == 0 else { return }
            onProgress()
            if writer.hasLog(of: LedgerWriter.checkpointLength) { try writer.checkpoint() }
        }
        if damage != nil || gap != nil {
            let reason = [damage?.message, gap].compactMap(\.self).joined(separator: "; ")
            // The lost requests had numbers, and replies had told them: none is reused.
            // A missing segment may have had as many rows as the whole log.
            let rows = max(try directory.rowsAtMost(), Int64(limits.length / LogDirectory.shortestRow))
            try writer.skipNumbers(rows)
            try writer.sync()
            summary.setAside = .init(kind: .damagedLog, path: try directory.setAside(at: now), reason: reason)
            chain = try LogChain([])
        }
        let log = try log(after: writer, &chain, directory, limits, &summary)
        try noteOpened(log, in: writer)
        return (log, summary)
    }

    /// Notes in the ledger that a log exists with batches that the ledger may lack: a start without it tells the loss. A
    /// full disk only keeps the note away.
    private static func noteOpened(_ log: CommitLog, in writer: LedgerWriter) throws(StoreError) {
        guard !log.hasSegment(writer.position.segment), let segment = log.anySegment else { return }
        do throws(StoreError) {
            try writer.moveOn(toSegment: segment, end: LogSegment.headerLength)
            try writer.sync()
        } catch let error where error.isTransient {
            return
        }
    }

    /// Applies the batches that the ledger lacks.
    ///
    /// - Parameter onBatch: called after each batch.
    /// - Returns: why the log cannot be used any further; `nil` if it is whole.
    static func replay<Source: BatchSource & ~Copyable>(
        _ source: inout Source, _ writer: LedgerWriter, onBatch: () throws(StoreError) -> Void = {}
    ) throws(StoreError) -> String? {
        do throws(StoreError) {
            while let batch = try source.next(after: writer.position) {
                try writer.apply([batch.rows], through: batch.position)
                try onBatch()
            }
        } catch let error where error.kind == .contradiction {
            return "batch \(writer.position.number + 1) cannot be applied: \(error.message)"
        }
        return try source.damage(behind: writer.position)
    }

    /// Makes a log that continues after the ledger's last batch.
    private static func log(
        after writer: LedgerWriter, _ chain: inout LogChain, _ directory: LogDirectory, _ limits: CommitLog.Limits,
        _ summary: inout RecoverySummary
    ) throws(StoreError) -> CommitLog {
        let position = writer.position
        if try writer.checkpointWhole() {
            let log = try CommitLog(
                directory, limits: limits, segments: chain.segments.filter { !$0.isCopy }, after: position,
                released: position.number)
            for segment in chain.segments where segment.isCopy { segment.remove() }
            return log
        }
        // The last batch's header has the released number of the time when it was written.
        let released = try chain.batch(position.number)?.released ?? position.number
        let copies = try copies(&chain, after: released, through: position.number, directory, limits)
        summary.hasCopies = !copies.isEmpty
        let log = try CommitLog(
            directory, limits: limits, segments: [], copies: copies, after: position, released: released)
        for segment in chain.segments { segment.remove() }
        return log
    }

    /// Writes batches again, as copies.
    private static func copies(
        _ chain: inout LogChain, after first: UInt64, through last: UInt64, _ directory: LogDirectory,
        _ limits: CommitLog.Limits
    ) throws(StoreError) -> [CommitLog.Copy] {
        var copies: [CommitLog.Copy] = []
        var id = chain.segments.map(\.id).max() ?? 0
        try chain.forEach(after: first, through: last) { (batch) throws(StoreError) in
            let length = batch.header.blocksLength
            if copies.last.map({ $0.segment.length - $0.end < length }) ?? true {
                id += 1
                let segment = try directory.create(
                    id, length: max(limits.segmentLength, LogSegment.headerLength + length), isCopy: true)
                copies.append(.init(segment: segment, last: 0, end: LogSegment.headerLength))
            }
            let place = copies.count - 1
            try copies[place].segment.write(batch.blocks, at: copies[place].end)
            copies[place].last = batch.header.number
            copies[place].end += length
        }
        return copies
    }
}
