import PushModel

/// Where batches become durable, and stay until the ledger has them on disk. The one of a single machine is `CommitLog`.
///
/// One batch is appended at a time, by whoever is to write; everything else may be asked and done on any thread meanwhile.
/// Each call is for a batch or for a slice of them, so it may go by an existential.
protocol BatchLog: AnyObject, Sendable {
    /// Behind the last batch.
    var position: LogPosition { get }
    /// How the log is filled.
    var usage: LogUsage { get }

    // MARK: Writing

    /// Appends a batch. It is durable when this returns.
    ///
    /// - Parameters:
    ///   - buffer: its rows.
    ///   - lastSequence: the number of the last request that was accepted, in it or before it.
    ///   - time: the clock.
    /// - Returns: the place behind it.
    /// - Throws: `fenced` when the log refuses it, because somebody else's batch follows the last one; `logFull` when there is
    ///   no room before the ledger has more on disk, and nothing was written; `noSpace` when the file system has no room,
    ///   and the same batch may be written again; `failed` for anything else: what is on the disk nobody knows then. After
    ///   `fenced` and `failed` nothing may be appended.
    func append(_ buffer: RowBuffer, lastSequence: SequenceNumber, at time: WallTime) throws(StoreError) -> LogPosition

    /// Whether a batch with rows of so many bytes has room now.
    func hasRoom(for rows: Int) -> Bool

    /// Whether there will soon be no room: time to make some, or to have the ledger sync.
    var isShort: Bool { get }

    /// Makes room, if there is not too much of it and the limit allows it; takes some milliseconds.
    ///
    /// - Returns: whether some was made.
    func makeAnother() throws(StoreError) -> Bool

    /// Lets go of batches.
    ///
    /// - Parameter number: up to which number the ledger has them on disk.
    func release(through number: UInt64)

    /// Notes on the disk that nothing was written behind the last batch, for a start that has nothing else to do than to
    /// find that out. To be called when nothing more is written.
    func close() throws(StoreError)

    // MARK: Reading back

    /// Reads the rows of a batch that was written into a buffer that is empty.
    ///
    /// - Parameters:
    ///   - position: the place behind it.
    ///   - length: the length of its rows, in bytes.
    func read(_ position: LogPosition, rows length: Int, into buffer: RowBuffer) throws(StoreError)

    // MARK: Erasing

    /// Has all that is there overwritten before anything more is written to it.
    func taint()

    /// Overwrites a part that is free and has what is to be erased; takes some milliseconds.
    ///
    /// - Returns: whether there was one.
    func cleanAnother() throws(StoreError) -> Bool

    /// Whether nothing has what is to be erased any more.
    var isClean: Bool { get }

    /// Whether other machines make ledgers from this log: what prunes and erases is a row of it then, and nothing is taken
    /// out of a ledger by itself.
    var isShared: Bool { get }
}

extension BatchLog {
    var isShared: Bool { false }
}

/// How a log is filled.
struct LogUsage: Hashable, Sendable {
    /// Bytes of batches that the ledger may not have on disk yet, and of those before them in their segments.
    var used: Int
    /// Bytes of all segments, the free ones too.
    var length: Int
    /// The most that all segments may have, in bytes.
    var limit: Int
}

/// Where a ledger gets the batches from that it does not have.
protocol BatchSource: ~Copyable {
    /// The batch that follows one; `nil` when there is none.
    mutating func next(after position: LogPosition) throws(StoreError) -> LogChain.Batch?

    /// What is damaged behind the last batch that can be had; `nil`: nothing.
    mutating func damage(behind position: LogPosition) throws(StoreError) -> String?
}
