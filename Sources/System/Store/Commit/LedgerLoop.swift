import LinuxSystem
import PushModel

/// The work of the ledger's thread.
struct LedgerInbox: Sendable {
    /// The bytes of rows in the backlog at which the ledger's thread applies them at once.
    static let bytesDue = 1 << 20

    var backlog = Backlog()
    /// The number up to which the ledger's thread applies batches without delay.
    var urgentThrough: UInt64 = 0
    /// Whether the log's thread waits for room in the log. The answer is ``LogInbox/releases``.
    var isRoomWanted = false
    var prune: Pruning?
    var space = LedgerSpace()
    /// The dead letters, as the thread last counted them.
    var deadLetters: DeadLetterTotals?
    /// Whether an erasure has steps left.
    var isErasing = false
    var erase: ErasureOrder?
    var isStopping = false
    /// Whether the thread has finished its work.
    var hasEnded = false
    /// A counter that goes up with each change that the thread must look at.
    var signals: UInt64 = 0
    /// The result of the opening; `nil` until it is done.
    var opening: Opening?
    /// The length of the WAL, in bytes, as the thread last saw it.
    var walLength = 0

    enum Opening: Sendable {
        case opened(any BatchLog, RecoverySummary)
        case failed(StoreError)
    }
}

/// The loop of the ledger's thread, from the recovered ledger to the stop.
struct LedgerLoop {
    /// The longest time that a durable batch waits for others to join its transaction.
    static let patience: Duration = .milliseconds(50)
    /// The time between two tries to write the ledger after a failure.
    static let retryInterval: Duration = .milliseconds(500)
    /// The idle time after which the WAL is copied to the database ahead of need.
    static let idleInterval: Duration = .seconds(1)
    /// The bytes of rows that one transaction applies.
    static let chunkLength = 2 << 20
    private let writer: LedgerWriter
    private let log: any BatchLog
    private let inbox: Monitor<LedgerInbox>
    private let logInbox: Monitor<LogInbox>
    private let pool: BufferPool
    private let report: @Sendable (StoreReport) -> Void
    /// The longest WAL, in bytes, while a reader keeps it from being emptied.
    private let walLimit: Int
    /// Whether every page of the ledger from before the start is known to be on the disk.
    private var isTrusted: Bool
    private var isStalled = false
    private var hasRollUpFailed = false
    private var pruning: Pruning?
    /// Whether a slice of the pruning is an order on its way to the log, whose application the pruning awaits.
    private var isSliceUnderway = false
    private var erasure: ErasureSteps?
    private var reportedWALLength = -1
    private var seen: UInt64 = 0

    /// - Parameter erasure: an erasure that an earlier run left open, with its rows removed already.
    init(
        _ writer: LedgerWriter, _ log: any BatchLog, walLimit: Int, isTrusted: Bool, inbox: Monitor<LedgerInbox>,
        logInbox: Monitor<LogInbox>, pool: BufferPool, erasure: ErasureSteps? = nil,
        report: @escaping @Sendable (StoreReport) -> Void
    ) {
        self.erasure = erasure
        self.writer = writer
        self.log = log
        self.walLimit = walLimit
        self.isTrusted = isTrusted
        self.inbox = inbox
        self.pool = pool
        self.logInbox = logInbox
        self.report = report
    }

    /// Runs until the stop or an error that does not pass.
    mutating func run() {
        do throws(StoreError) {
            try writer.prepareRows()
            try reportSpace()
            try reportDeadLetters()
            while true {
                let isStopping = waitForWork()
                try applyDue(all: isStopping)
                if isStopping { return try finish() }
                try prune()
                try erase()
                try rollUp()
                try runMaintenance()
            }
        } catch {
            report(.failed(error))
        }
    }

    // MARK: Waiting

    /// Waits until there is work.
    ///
    /// - Returns: whether to stop.
    private mutating func waitForWork() -> Bool {
        // An order may have come while the previous one was carried out.
        let (seen, mayPrune, mayErase) = (seen, pruning == nil, erasure == nil)
        let woken = inbox.wait(atMost: timeToNextWork()) {
            $0.signals != seen || mayPrune && $0.prune != nil || mayErase && $0.erase != nil ? $0.signals : nil
        }
        if let woken { self.seen = woken }
        return inbox.withLock { inbox in
            if pruning == nil, let next = inbox.prune.take() { pruning = next }
            if erasure == nil, let order = inbox.erase.take() {
                erasure = ErasureSteps(order, isShared: log.isShared)
            }
            return inbox.isStopping
        }
    }

    /// The longest time to wait for a signal; `nil` means without limit.
    private func timeToNextWork() -> Duration? {
        if isStalled { return Self.retryInterval }
        if pruning != nil, !isSliceUnderway { return .zero }
        if writer.isRollUpDue { return hasRollUpFailed ? Self.retryInterval : .zero }
        let (applying, isEmpty) = inbox.withLock { (Self.due($0), $0.backlog.isEmpty) }
        if let due = [applying, erasure?.nextTry].compactMap(\.self).min() {
            return .nanoseconds(max(0, due - SystemClock.monotonicNanoseconds))
        }
        // A reader keeps the ledger's first sync from its end, and nothing reports when the reader ends.
        if inbox.withLock(\.isRoomWanted) { return Self.retryInterval }
        return isEmpty && writer.hasLog(of: LedgerWriter.idleCheckpointLength) ? Self.idleInterval : nil
    }

    /// The time at which the backlog is to be applied, in monotonic nanoseconds; `nil` if it is empty.
    private static func due(_ inbox: LedgerInbox) -> Int64? {
        guard let first = inbox.backlog.first else { return nil }
        if inbox.isRoomWanted || inbox.urgentThrough >= first.position.number
            || inbox.backlog.bytes >= LedgerInbox.bytesDue
        {
            return 0
        }
        return first.durableAt + patience.nanoseconds
    }

    private func isDue() -> Bool {
        let now = SystemClock.monotonicNanoseconds
        return inbox.withLock { inbox in Self.due(inbox).map { $0 <= now } ?? false }
    }

    // MARK: Applying

    private mutating func applyDue(all: Bool) throws(StoreError) {
        guard all || isDue() else { return }
        while true {
            let entries = takeChunk()
            guard let last = entries.last else { return }
            do throws(StoreError) {
                try apply(entries)
            } catch let error where error.isTransient {
                inbox.withLock { $0.backlog.reinsert(entries) }
                if !isStalled { report(.ledgerStalled(error)) }
                isStalled = true
                // Pruned rows leave free pages in the database: once the WAL is copied, new commits can reuse WAL and
                // pages.
                return try writer.checkpoint()
            }
            if isStalled { report(.ledgerResumed) }
            isStalled = false
            // Updates the status before the report: a client that waited for the batches finds their changes in it.
            try reportDeadLetters()
            report(.applied(through: last.position.number))
            try makeRoom()
            // One chunk at a time, so that the pruning has its turn under any load.
            if !all { return }
        }
    }

    private func takeChunk() -> [Backlog.Entry] {
        inbox.withLock { inbox in
            var entries: [Backlog.Entry] = []
            var length = 0
            while let next = inbox.backlog.first,
                entries.last.map({ !$0.isOrder && !next.isOrder && length + next.length <= Self.chunkLength }) ?? true
            {
                guard let entry = inbox.backlog.popFirst() else { break }
                length += entry.length
                entries.append(entry)
            }
            return entries
        }
    }

    private mutating func apply(_ entries: [Backlog.Entry]) throws(StoreError) {
        guard let last = entries.last else { return }
        if writer.walLength > walLimit { try emptyWAL() }
        var buffers: [RowBuffer] = []
        var borrowed: [RowBuffer] = []
        defer { for buffer in borrowed { pool.recycle(buffer) } }
        for entry in entries {
            if let rows = entry.rows {
                buffers.append(rows)
            } else {
                let buffer = pool.take()
                borrowed.append(buffer)
                try log.read(entry.position, rows: entry.length, into: buffer)
                buffers.append(buffer)
            }
        }
        if let result = try writer.apply(buffers, through: last.position) { take(result) }
        for rows in entries.compactMap(\.rows) { pool.recycle(rows) }
    }

    /// Notes the result of an order that was applied.
    private mutating func take(_ result: OrderResult) {
        switch result {
        case .pruned(let slice):
            isSliceUnderway = false
            do throws(StoreError) {
                try pruning?.took(slice, writer)
            } catch {
                pruning?.giveUp()
            }
        case .erased(let receipt):
            erasure?.noteErasedRows()
            report(.erasedRows(receipt))
        }
    }

    /// - Throws: `walHeld` while a reader keeps the WAL from being emptied; `noSpace`.
    private func emptyWAL() throws(StoreError) {
        do throws(StoreError) {
            try writer.emptyWAL()
        } catch let error where error.kind == .busy {
            throw .walHeld(writer.walLength)
        }
    }

    // MARK: Keeping house

    /// Makes room in the log: adds segments, and releases those that the ledger has on disk. Where the log's thread
    /// waits for room, only a release gives it: another segment would take the place of the one that it wants.
    private mutating func makeRoom() throws(StoreError) {
        if writer.hasLog(of: LedgerWriter.checkpointLength) { try writer.checkpoint() }
        if inbox.withLock(\.isRoomWanted) { return try release() }
        guard log.isShort else { return }
        do throws(StoreError) {
            if try log.addSegment() { return notifyRoom() }
        } catch let error where error.isTransient {
            // The existing segments must do.
        }
        try release()
    }

    /// Syncs the ledger and releases the batches that it has.
    private mutating func release() throws(StoreError) {
        if isTrusted {
            try writer.sync()
        } else {
            // Pages from before the start may be in the page cache alone, and a sync of new pages does not write them.
            isTrusted = try writer.checkpointWhole()
            guard isTrusted else { return }
        }
        log.release(through: writer.position.number)
        notifyRoom()
    }

    /// Tells the log's thread that the log may have more room: it tries again, and asks again if that was too little.
    private func notifyRoom() {
        inbox.withLock { $0.isRoomWanted = false }
        logInbox.update { $0.releases &+= 1 }
    }

    /// Notes the lengths of WAL and ledger, if either may have changed.
    private mutating func reportSpace() throws(StoreError) {
        let walLength = writer.walLength
        guard walLength != reportedWALLength else { return }
        reportedWALLength = walLength
        let space = try writer.space()
        inbox.withLock { ($0.walLength, $0.space) = (walLength, space) }
    }

    /// Stores the dead letters, if they changed, and whether an erasure is under way.
    private func reportDeadLetters() throws(StoreError) {
        let news = try writer.deadLetterNews(countsAnew: pruning == nil)
        let isErasing = erasure != nil
        inbox.withLock { inbox in
            if let news { inbox.deadLetters = news }
            inbox.isErasing = isErasing
        }
    }

    private mutating func runMaintenance() throws(StoreError) {
        try reportSpace()
        try reportDeadLetters()
        if inbox.withLock(\.isRoomWanted) { try makeRoom() }
        guard inbox.withLock({ $0.backlog.isEmpty }), pruning == nil || isSliceUnderway else { return }
        if writer.hasLog(of: LedgerWriter.idleCheckpointLength) {
            try writer.checkpoint()
            try release()
        }
        try makeRoom()
    }

    /// Prunes one slice. A full disk ends the pruning early; the next one continues there.
    private mutating func prune() throws(StoreError) {
        guard var work = pruning, !isStalled, !isSliceUnderway else { return }
        do throws(StoreError) {
            if !log.isShared {
                try work.next(writer)
            } else if let slice = try work.nextSlice(writer, limit: Pruning.orderedSlice) {
                isSliceUnderway = true
                report(.orderDue(.prune(slice)))
            } else {
                try work.releasePages(writer)
            }
            // Bounds the length of the WAL, however much the pruning removes.
            if writer.hasLog(of: LedgerWriter.checkpointLength) { try writer.checkpoint() }
        } catch let error where error.isTransient {
            work.giveUp()
        }
        pruning = work.isDone ? nil : work
        if work.isDone { report(work.report) }
    }

    /// Does one step of an erasure. After a passing error it is tried again.
    private mutating func erase() throws(StoreError) {
        let begin = SystemClock.monotonicNanoseconds
        guard var steps = erasure, let next = steps.nextTry, next <= begin, !isStalled else { return }
        do throws(StoreError) {
            let stepReport = try steps.next(writer, log, release: { () throws(StoreError) in try release() })
            if let stepReport { report(stepReport) }
        } catch let error where error.isTransient || error.kind == .notPermitted {
            if !steps.hasReportedWait { report(.erasureWaits(error)) }
            steps.hasReportedWait = true
            // The pages of the failed step are in the WAL, and others need that room.
            if error.kind == .noSpace { _ = try writer.checkpointWhole() }
            // A step may take long and fail again, so the pause is at least ten times as long: batches have most of the
            // time.
            let now = SystemClock.monotonicNanoseconds
            steps.nextTry = now + max(Self.retryInterval.nanoseconds, 10 * (now - begin))
        }
        erasure = steps.isDone ? nil : steps
        notifyRoom()
    }

    /// Adds up the figures of one long span. After a passing error, such as a full disk, it is tried again.
    private mutating func rollUp() throws(StoreError) {
        guard !isStalled, writer.isRollUpDue else { return }
        do throws(StoreError) {
            try writer.rollUp()
            hasRollUpFailed = false
        } catch let error where error.isTransient {
            hasRollUpFailed = true
        }
    }

    /// Ends the thread's work: batches that a full disk keeps out of the ledger stay in the log.
    private func finish() throws(StoreError) {
        guard !isStalled else { return }
        do throws(StoreError) {
            if !log.isShared { try writer.moveOn(toSegment: 0, end: 0) }
        } catch let error where error.isTransient {
            // The error costs nothing while the log is there.
        }
        _ = try writer.checkpointWhole()
        do throws(StoreError) {
            try log.close()
        } catch let error where error.isTransient {
            // The error costs time only: the next start takes longer.
        }
    }
}

extension StoreError {
    /// Makes the error for a WAL that has grown to its limit because a reader kept one state of the ledger open.
    fileprivate static func walHeld(_ length: Int) -> StoreError {
        StoreError(
            .busy, message: "a reader keeps SQLite from emptying the WAL, which has \(length >> 20) MiB",
            context: "ledger.db-wal")
    }
}
