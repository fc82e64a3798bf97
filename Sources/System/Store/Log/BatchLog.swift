import PushModel

/// A log in which batches become durable, and stay until the ledger has them on disk. `CommitLog` is the log of a
/// single machine.
///
/// One thread at a time appends one batch; all other calls are allowed on any thread meanwhile. Each call is for a
/// batch or for a slice of batches, so dispatch through an existential costs little.
protocol BatchLog: AnyObject, Sendable {
    /// The place behind the last batch.
    var position: LogPosition { get }
    /// How full the log is.
    var usage: LogUsage { get }

    /// The version of batches that all its readers read.
    var readers: Int { get }

    // MARK: Writing

    /// Appends a batch, which is durable when the call returns.
    ///
    /// - Parameters:
    ///   - buffer: its rows.
    ///   - lastSequence: the number of the last request that was accepted, in this batch or before it.
    ///   - time: the current time.
    /// - Returns: the place behind it.
    /// - Throws: `fenced` if another writer's batch follows the last one; `logFull` if there is no room until the
    ///   ledger has more on disk, and nothing was written; `noSpace` if the file system has no room, and the same batch
    ///   may be written again; `failed` for any other error: then the content of the disk is unknown. After `fenced`
    ///   and `failed` the caller must append no more.
    func append(_ buffer: RowBuffer, lastSequence: SequenceNumber, at time: WallTime) throws(StoreError) -> LogPosition

    /// Returns whether the log has room now for a batch with so many bytes of rows.
    func hasRoom(for rows: Int) -> Bool

    /// Whether the room will soon run out: time to call `addSegment()`, or to sync the ledger.
    var isShort: Bool { get }

    /// Makes a segment, if few are free and the limit allows it; takes some milliseconds.
    ///
    /// - Returns: whether it made one.
    func addSegment() throws(StoreError) -> Bool

    /// Releases batches.
    ///
    /// - Parameter number: the last batch that the ledger has on disk.
    func release(through number: UInt64)

    /// Notes on the disk that no batch follows the last one, which saves the next start a search. The caller must write
    /// nothing after this call.
    func close() throws(StoreError)

    // MARK: Reading back

    /// Reads the rows of a written batch into an empty buffer.
    ///
    /// - Parameters:
    ///   - position: the place behind the batch.
    ///   - length: the length of its rows, in bytes.
    func read(_ position: LogPosition, rows length: Int, into buffer: RowBuffer) throws(StoreError)

    // MARK: Erasing

    /// Marks all present segments: each is overwritten before the next write to it.
    func markForErasure()

    /// Overwrites one free part of the log that holds data to be erased; takes some milliseconds.
    ///
    /// - Returns: whether there was one.
    func overwriteNextPart() throws(StoreError) -> Bool

    /// Whether no part of the log holds data to be erased.
    var isClean: Bool { get }

    /// Whether other machines make ledgers from this log. Then pruning and erasing are rows of the log, and no ledger
    /// removes anything on its own.
    var isShared: Bool { get }
}

extension BatchLog {
    var isShared: Bool { false }
    var readers: Int { RowKind.newestVersion }
}

/// How full a log is.
struct LogUsage: Hashable, Sendable {
    /// Bytes of batches that the ledger may not have on disk yet, with the bytes before them in their segments.
    var used: Int
    /// Bytes of all segments, with the free ones.
    var length: Int
    /// The limit for the bytes of all segments.
    var limit: Int
}

/// A source of the batches that a ledger lacks.
protocol BatchSource: ~Copyable {
    /// Returns the batch that follows a position; `nil` if there is none.
    mutating func next(after position: LogPosition) throws(StoreError) -> LogChain.Batch?

    /// Returns what is damaged behind the last readable batch; `nil` if there is no damage.
    mutating func damage(behind position: LogPosition) throws(StoreError) -> String?
}
