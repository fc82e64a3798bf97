import PushModel

/// What a start found in the log.
public struct RecoverySummary: Hashable, Sendable {
    /// A log or a ledger that a start could not go on with.
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

    /// How many batches were durable and not in the ledger yet.
    public var batches = 0
    /// The log or the ledger that the start could not go on with; `nil`: all was whole.
    public var setAside: SetAside?
    /// Whether batches were written once more, because somebody reads an older state of the ledger.
    public var hasCopies = false
}

/// Brings a ledger up to date from its log, and makes a log to go on with.
///
/// Nothing that is read is trusted to be on the disk: after a failed sync the page cache has what the disk has not. So
/// what was recovered goes into the ledger, which is copied whole from its WAL to its file and synced, before the log
/// begins anew behind it. Where a reader keeps that from being done, the batches that may be missing are written once
/// more, to segments of their own.
enum Recovery {
    /// - Parameters:
    ///   - writer: the ledger.
    ///   - stateDirectory: the state directory.
    ///   - limits: how large the log may become.
    ///   - now: the clock.
    ///   - onProgress: called from time to time.
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
            // What is lost had numbers, and those were told.
            try writer.skipNumbers(try directory.rowsAtMost())
            try writer.sync()
            summary.setAside = .init(kind: .damagedLog, path: try directory.setAside(at: now), reason: reason)
            chain = try LogChain([])
        }
        return (try log(after: writer, &chain, directory, limits, &summary), summary)
    }

    /// Applies what the ledger does not have.
    ///
    /// - Parameter onBatch: called after each batch.
    /// - Returns: why the log cannot be gone on with; `nil` when it is whole.
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

    /// A log behind what the ledger has.
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
        // What the last batch says of the ledger was so when it was written.
        let released = try chain.batch(position.number)?.released ?? position.number
        let copies = try copies(&chain, after: released, through: position.number, directory, limits)
        summary.hasCopies = !copies.isEmpty
        let log = try CommitLog(
            directory, limits: limits, segments: [], copies: copies, after: position, released: released)
        for segment in chain.segments { segment.remove() }
        return log
    }

    /// Writes batches once more.
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
