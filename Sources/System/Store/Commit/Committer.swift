import CLinux
import Glibc
import LinuxSystem
public import PushModel
import Synchronization

/// Makes batches durable in the log, and applies them to the ledger behind it.
///
/// Durable and applied are separate states: replies and starts follow the first, look-ups and reports the second. One
/// thread writes the log, another the ledger. All calls are allowed on any thread; `submit` does not wait.
public final class Committer: Sendable {
    /// The limits of the store's own files.
    public struct Limits: Hashable, Sendable {
        /// The log, in bytes; values below 16 MiB count as 16 MiB.
        public var logLength: Int
        /// The ledger's WAL, in bytes, while a reader keeps it from being emptied. A longer WAL stops the ledger until
        /// the reader ends, and the log fills.
        public var walLength: Int

        /// - Parameters:
        ///   - logLength: the log, in bytes.
        ///   - walLength: the ledger's WAL, in bytes; `nil` means as much as the log.
        public init(logLength: Int = 256 << 20, walLength: Int? = nil) {
            self.logLength = logLength
            self.walLength = walLength ?? logLength
        }
    }

    /// The threads, with the lock that keeps other processes out.
    private struct Running: ~Copyable {
        let directory: StateDirectory
        let logThread: WorkerThread
        let ledgerThread: WorkerThread

        /// Waits for the log's thread to end, then for the ledger's, then unlocks the directory.
        consuming func end(_ ledger: Monitor<LedgerInbox>, every interval: Duration, _ onWait: () -> Void) {
            logThread.join()
            ledger.update { inbox in
                inbox.isStopping = true
                inbox.signals &+= 1
            }
            while ledger.wait(atMost: interval, { $0.hasEnded ? true : nil }) == nil { onWait() }
            ledgerThread.join()
            directory.unlock()
        }
    }

    /// The result of recovery from the log.
    public let recovery: RecoverySummary
    /// The number of the last batch of an earlier run; the next batch has the number after it.
    public let lastNumber: UInt64
    private let failure: FirstFailure
    private let ledger: Monitor<LedgerInbox>
    let log: any BatchLog
    private let logWriter: LogWriter
    private let logInbox: Monitor<LogInbox>
    private let pool: BufferPool
    let directory: String
    let files = FileWatch()
    private let running: Mutex<Running?>

    /// Opens ledger and log, and brings the ledger up to date; returns once that is synced.
    ///
    /// - Parameters:
    ///   - directory: the locked directory; it stays locked until `stop` returns.
    ///   - limits: the limits of the files.
    ///   - onMigration: called before the migration of an older ledger, which may take long, on another thread.
    ///   - onProgress: called at intervals while a log is applied, on another thread.
    ///   - onRecovered: gets the ledger as an earlier run left it, on the ledger's thread, which applies nothing before
    ///     it
    ///     returns; this initializer does not wait for it.
    ///   - onReport: gets every report, on the store's threads, which wait for it to return.
    /// - Throws: the error that kept the ledger from being opened, created or brought up to date.
    public convenience init(
        directory: consuming StateDirectory, limits: Limits = Limits(),
        onMigration: @escaping @Sendable () -> Void = {}, onProgress: @escaping @Sendable () -> Void = {},
        onRecovered: @escaping @Sendable (LedgerReader) -> Void = { _ in },
        onReport: @escaping @Sendable (StoreReport) -> Void
    ) throws(StoreError) {
        let (path, logLimits) = (directory.path, CommitLog.Limits(length: limits.logLength))
        try self.init(
            directory: directory, walLimit: limits.walLength, onMigration: onMigration, onRecovered: onRecovered,
            onReport: onReport
        ) { (writer, now) throws(StoreError) in
            try Recovery.run(writer, stateDirectory: path, limits: logLimits, now: now, onProgress: onProgress)
        }
    }

    /// Opens a ledger whose log other machines write as well, brings it up to date, and begins the term.
    ///
    /// - Parameters:
    ///   - directory: the locked directory; it stays locked until `stop` returns.
    ///   - shared: the engine and the term.
    ///   - limits: the limits of the files; that of the log limits how far the ledger may fall behind.
    ///   - onProgress, onRecovered, onReport: as above.
    /// - Throws: the error that kept the ledger from being opened; `fenced` if a later term has begun.
    public convenience init(
        directory: consuming StateDirectory, shared: SharedStore, limits: Limits = Limits(),
        onProgress: @escaping @Sendable () -> Void = {},
        onRecovered: @escaping @Sendable (LedgerReader) -> Void = { _ in },
        onReport: @escaping @Sendable (StoreReport) -> Void
    ) throws(StoreError) {
        let limit = limits.logLength
        try self.init(
            directory: directory, walLimit: limits.walLength, onMigration: {}, onRecovered: onRecovered,
            onReport: onReport
        ) { (writer, _) throws(StoreError) in
            try SharedLog.open(writer, shared, limit: limit, onProgress: onProgress)
        }
    }

    /// - Parameter openLog: brings the ledger up to date and makes the log for this run; called on the ledger's thread.
    init(
        directory: consuming StateDirectory, walLimit: Int, onMigration: @escaping @Sendable () -> Void,
        onRecovered: @escaping @Sendable (LedgerReader) -> Void, onReport: @escaping @Sendable (StoreReport) -> Void,
        openLog:
            @escaping @Sendable (LedgerWriter, WallTime) throws(StoreError) -> (
                log: any BatchLog, summary: RecoverySummary
            )
    ) throws(StoreError) {
        let path = directory.path
        let ledger = Monitor(LedgerInbox())
        let pool = BufferPool()
        let logInbox = Monitor(LogInbox())
        let failure = FirstFailure()
        let onReport: @Sendable (StoreReport) -> Void = {
            failure.note($0)
            onReport($0)
        }
        // The ledger's thread opens the connection, and no other thread uses it.
        let ledgerThread = try storeThread("ledger") {
            do throws(StoreError) {
                let now = WallTime(milliseconds: SystemClock.wallMilliseconds)
                let setAside = try SetAside.moveOtherFormat(in: path, at: now)
                let writer = try LedgerWriter(directory: path, onMigration: onMigration)
                var (log, summary) = try openLog(writer, now)
                summary.setAside = setAside ?? summary.setAside
                // An erasure that was left open goes first, before any reader sees the rows.
                let erasure =
                    log.isShared
                    ? try writer.leftErasure()
                    : try ErasureOrder.left(in: path).map {
                        (order) throws(StoreError) in try ErasureSteps(goingOnWith: order, writer)
                    }
                let reader = try writer.reader()
                ledger.update { [summary] in $0.opening = .opened(log, summary) }
                onRecovered(reader)
                // Look-ups can wait, acceptance cannot. A sandbox may forbid the change of priority, which does no
                // harm.
                _ = CLinux_lower_thread_priority()
                var loop = LedgerLoop(
                    writer, log, walLimit: walLimit, isTrusted: !summary.hasCopies, inbox: ledger,
                    logInbox: logInbox, pool: pool, erasure: erasure,
                    report: onReport)
                loop.run()
                ledger.update { $0.hasEnded = true }
            } catch {
                ledger.update { $0.opening = .failed(error) }
            }
        }
        let opening = ledger.wait { $0.opening }
        guard case .opened(let log, let summary) = opening else {
            ledgerThread.join()
            guard case .failed(let error) = opening else {
                preconditionFailure("a wait without a limit ends with a value")
            }
            throw error
        }
        recovery = summary
        lastNumber = log.position.number
        self.failure = failure
        self.ledger = ledger
        self.log = log
        self.pool = pool
        self.directory = path
        let logWriter = LogWriter(log, inbox: logInbox, ledger: ledger, pool: pool, report: onReport)
        self.logWriter = logWriter
        self.logInbox = logInbox
        let logThread = try storeThread("log") { logWriter.run() }
        running = Mutex(Running(directory: directory, logThread: logThread, ledgerThread: ledgerThread))
    }

    deinit { stop() }

    // MARK: Batches

    /// Returns an empty buffer for the rows of a batch.
    public func takeBuffer() -> RowBuffer {
        let buffer = pool.take()
        buffer.readers = log.readers
        return buffer
    }

    /// Hands a batch to the log's thread; a report says when it is durable. At most one batch may be under way.
    public func submit(_ batch: CommitBatch) {
        logInbox.update { inbox in
            precondition(inbox.batch == nil, "one batch is written at a time")
            inbox.batch = batch
        }
    }

    /// Writes a batch on the calling thread, which waits for the disk: with few requests this is faster than another
    /// thread. No other batch may be under way.
    ///
    /// - Returns: how long it took; `nil` if it cannot be written now: then the log's thread has it, and a report says
    ///   when it is durable.
    /// - Throws: if the disk cannot be trusted.
    public func commit(_ batch: CommitBatch) throws(StoreError) -> Duration? {
        do throws(StoreError) {
            return try logWriter.write(batch)
        } catch let error where error.isTransient {
            submit(batch)
            return nil
        }
    }

    /// Returns whether a batch with so many bytes of rows can be written without waiting for the ledger.
    public func hasRoom(for rows: Int) -> Bool { log.hasRoom(for: rows) }

    /// Whether the ledger is so far behind that large requests should wait: half of the log is reserved for small ones.
    /// An `applied` report follows each possible change.
    public var isFarBehind: Bool { ledger.withLock { $0.backlog.bytes } > log.usage.limit / 2 }

    /// Has the batches up to a number applied as soon as they are durable; an `applied` report follows.
    public func expedite(through number: UInt64) {
        ledger.update { inbox in
            inbox.urgentThrough = max(inbox.urgentThrough, number)
            inbox.signals &+= 1
        }
    }

    /// Removes requests accepted before `cutoff` from the ledger, in small transactions. Requests with an invocation in
    /// flight stay, and no number is reused.
    ///
    /// - Parameters:
    ///   - cutoff: requests that were accepted before it are removed.
    ///   - deadLetters: the limits for age and size of dead letters.
    ///   - sizeMax: the largest size of the ledger, in bytes; above it the oldest finished requests are removed,
    ///     whatever their age.
    public func prune(
        olderThan cutoff: WallTime, deadLetters: DeadLetterLimits? = nil, figures: WallTime? = nil, sizeMax: Int? = nil
    ) {
        ledger.update { inbox in
            inbox.prune = Pruning(cutoff: cutoff, deadLetters: deadLetters, figures: figures, sizeMax: sizeMax)
            inbox.signals &+= 1
        }
    }

    /// Removes a person from ledger and log. All batches submitted up to the order's bound must be applied. Reports
    /// tell when the rows are removed and when the whole erasure is done; one order is carried out at a time.
    public func erase(_ order: ErasureOrder) {
        ledger.update { inbox in
            inbox.erase = order
            inbox.signals &+= 1
        }
    }

    // MARK: State

    /// The state of the store.
    public var status: StoreStatus {
        let usage = log.usage
        var status = ledger.withLock { inbox in
            StoreStatus(
                batchesBehind: inbox.backlog.count, bytesBehind: inbox.backlog.bytes,
                behindSince: inbox.backlog.first?.durableAt, walLength: inbox.walLength,
                ledgerUsed: inbox.space.used, deadLetters: inbox.deadLetters,
                isErasing: inbox.isErasing || inbox.erase != nil)
        }
        (status.logUsed, status.logLength, status.logLimit) = (usage.used, usage.length, usage.limit)
        var facts = stat()
        if stat(directory + "/ledger.db", &facts) == 0 { status.ledgerLength = Int(facts.st_size) }
        return status
    }

    /// The directories in the state directory that hold damaged or replaced files, set aside by starts and restores.
    public var setAside: [String] { SetAside.list(in: directory) }

    /// Writes the submitted batch, applies it, ends the threads and unlocks the directory. A batch that a full disk
    /// still refuses was never acknowledged.
    ///
    /// - Parameters:
    ///   - interval: how often `onWait` is called.
    ///   - onWait: called while the ledger still has batches to apply.
    /// - Returns: the error after which the disk cannot be trusted, if there was one: the log has what was
    ///   acknowledged, for the next start.
    @discardableResult
    public func stop(every interval: Duration = .seconds(5), onWait: () -> Void = {}) -> StoreError? {
        logInbox.update { $0.isStopping = true }
        if let running = running.withLock({ $0.take() }) { running.end(ledger, every: interval, onWait) }
        return failure.error
    }
}

/// The work of the log's thread.
struct LogInbox: Sendable {
    var batch: CommitBatch?
    /// A counter that goes up when the ledger's thread has made room in the log: its answer to
    /// `LedgerInbox.isRoomWanted`.
    var releases: UInt64 = 0
    var isStopping = false
}

/// Writes batches to the log, one after the other, on a thread of its own or on the caller's, and hands them to the
/// ledger's thread.
final class LogWriter: Sendable {
    /// The time between two tries on a full disk.
    private static let retryInterval: Duration = .milliseconds(500)

    private let log: any BatchLog
    private let inbox: Monitor<LogInbox>
    private let ledger: Monitor<LedgerInbox>
    private let pool: BufferPool
    private let report: @Sendable (StoreReport) -> Void

    init(
        _ log: any BatchLog, inbox: Monitor<LogInbox>, ledger: Monitor<LedgerInbox>, pool: BufferPool,
        report: @escaping @Sendable (StoreReport) -> Void
    ) {
        self.log = log
        self.inbox = inbox
        self.ledger = ledger
        self.pool = pool
        self.report = report
    }

    /// Writes a batch.
    ///
    /// - Returns: how long the write took. The batch is on the disk, and the ledger's thread has it.
    /// - Throws: `tooLong` for a batch above ``BatchLimits/longest``; the errors of the log.
    func write(_ batch: CommitBatch) throws(StoreError) -> Duration {
        guard batch.rows.byteCount <= BatchLimits.longest else {
            throw .tooLong(batch.rows.byteCount, limit: BatchLimits.longest)
        }
        let start = SystemClock.monotonicNanoseconds
        let time = WallTime(milliseconds: SystemClock.wallMilliseconds)
        let position = try log.append(batch.rows, lastSequence: batch.lastSequence, at: time)
        precondition(position.number == batch.number, "batches are numbered without a gap")
        let now = SystemClock.monotonicNanoseconds
        let (surplus, isNews) = ledger.withLock { inbox in
            let before = inbox.backlog.bytes
            // The next slice of a pruning, or the next step of an erasure, waits for this order.
            if ChainOrder.isOrder(batch.rows.rows) { inbox.urgentThrough = max(inbox.urgentThrough, position.number) }
            let surplus = inbox.backlog.append(position, batch.rows, at: now)
            // The ledger's thread looks at the clock by itself: the first batch of a backlog wakes it, and many bytes
            // do.
            let isNews =
                before == 0 || before < LedgerInbox.bytesDue && inbox.backlog.bytes >= LedgerInbox.bytesDue
                || inbox.urgentThrough >= position.number
            if isNews { inbox.signals &+= 1 }
            return (surplus, isNews)
        }
        if isNews { ledger.wake() }
        if let surplus { pool.recycle(surplus) }
        return .nanoseconds(now - start)
    }

    /// The body of the thread: writes the submitted batches until the stop, or until the disk cannot be trusted.
    func run() {
        while case .write(let batch) = nextJob() {
            do throws(StoreError) {
                try writeWithRetries(batch)
            } catch {
                return report(.failed(error))
            }
        }
    }

    private enum Job: Sendable {
        case write(CommitBatch)
        case stop
    }

    private func nextJob() -> Job {
        let job = inbox.wait { inbox -> Job? in
            if let batch = inbox.batch.take() { return .write(batch) }
            return inbox.isStopping ? .stop : nil
        }
        return job ?? .stop
    }

    /// Writes a batch, with retries until it succeeds. At a stop there is one last try: a batch that it does not write
    /// was never acknowledged.
    private func writeWithRetries(_ batch: CommitBatch) throws(StoreError) {
        var reported: StoreError.Kind?
        while true {
            let releases = inbox.withLock(\.releases)
            do throws(StoreError) {
                let took = try write(batch)
                return report(.durable(through: batch.number, took: took))
            } catch let error where error.isTransient {
                if inbox.withLock(\.isStopping) { return }
                if reported == nil || error.isOfEngine && reported != error.kind { report(.stalled(error)) }
                reported = error.kind
                let isFull = error.kind == .logFull
                if isFull {
                    ledger.update { inbox in
                        inbox.isRoomWanted = true
                        inbox.signals &+= 1
                    }
                }
                // The ledger's thread answers a full log as soon as it has made room. Nothing reports that a disk has
                // room again.
                _ = inbox.wait(atMost: isFull ? nil : Self.retryInterval) { inbox -> Bool? in
                    inbox.isStopping || isFull && inbox.releases != releases ? true : nil
                }
            }
        }
    }
}

/// Rows that become durable together.
public struct CommitBatch: Sendable {
    /// Its number: one more than that of the batch before it.
    public var number: UInt64
    /// Its rows, which the store owns from now on.
    public var rows: RowBuffer
    /// The number of the last request that was accepted, in this batch or before it.
    public var lastSequence: SequenceNumber

    public init(number: UInt64, rows: RowBuffer, lastSequence: SequenceNumber) {
        (self.number, self.rows, self.lastSequence) = (number, rows, lastSequence)
    }
}

/// The durable batches that are not in the ledger yet, in order.
///
/// At most 4 MiB of rows stay in memory; the ledger's thread reads further rows back from the log.
struct Backlog: Sendable {
    struct Entry: Sendable {
        var position: LogPosition
        /// The bytes of its rows.
        var length: Int
        /// Its rows; `nil` if only the log has them.
        var rows: RowBuffer?
        /// The time at which it became durable, in monotonic nanoseconds.
        var durableAt: Int64
        /// Whether its rows are an order, which is applied in a transaction of its own.
        var isOrder: Bool
    }

    /// The limit for rows in memory, in bytes.
    static let memoryLimit = 4 << 20

    private var entries = Queue<Entry>()
    private(set) var bytes = 0
    private var bytesInMemory = 0

    var count: Int { entries.count }
    var first: Entry? { entries.first }
    var isEmpty: Bool { entries.isEmpty }

    /// Adds a batch.
    ///
    /// - Returns: its rows if they do not stay in memory.
    mutating func append(_ position: LogPosition, _ rows: RowBuffer, at now: Int64) -> RowBuffer? {
        let length = rows.byteCount
        bytes += length
        let stays = bytesInMemory + length <= Self.memoryLimit
        if stays { bytesInMemory += length }
        entries.append(
            Entry(
                position: position, length: length, rows: stays ? rows : nil, durableAt: now,
                isOrder: ChainOrder.isOrder(rows.rows)))
        return stays ? nil : rows
    }

    /// Removes and returns the oldest batch.
    mutating func popFirst() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        bytes -= entry.length
        if entry.rows != nil { bytesInMemory -= entry.length }
        return entry
    }

    /// Puts back the batches that were removed last.
    mutating func reinsert(_ entries: [Entry]) {
        var rest = Queue<Entry>()
        for entry in entries { rest.append(entry) }
        while let entry = self.entries.popFirst() { rest.append(entry) }
        self.entries = rest
        for entry in entries {
            bytes += entry.length
            if entry.rows != nil { bytesInMemory += entry.length }
        }
    }
}

/// A pool of empty buffers, for the next batches.
final class BufferPool: Sendable {
    private static let count = 4
    private static let capacity = 256 << 10
    private let buffers = Mutex<[RowBuffer]>([])

    func take() -> RowBuffer { buffers.withLock { $0.popLast() } ?? RowBuffer(headroom: BatchHeader.length) }

    func recycle(_ buffer: RowBuffer) {
        buffer.removeAll(keeping: Self.capacity)
        buffers.withLock { if $0.count < Self.count { $0.append(buffer) } }
    }
}
