import LinuxSystem
import PushModel

/// What the ledger's thread has to do.
struct LedgerInbox: Sendable {
    /// With so many bytes of rows behind, the ledger is written.
    static let bytesDue = 1 << 20

    var backlog = Backlog()
    /// Up to this number the ledger is to have everything as soon as it can.
    var urgentThrough: UInt64 = 0
    var prune: Pruning?
    var space = LedgerSpace()
    var erase: ErasureOrder?
    var isStopping = false
    /// Whether the thread has done its last.
    var hasEnded = false
    /// Goes up with everything that the thread is to look at.
    var signals: UInt64 = 0
    /// How the opening went; `nil` while it goes on.
    var opening: Opening?
    /// How long the WAL is, in bytes, as the thread last saw it.
    var walLength = 0

    enum Opening: Sendable {
        case opened(any BatchLog, RecoverySummary)
        case failed(StoreError)
    }
}

/// What the ledger's thread does, from the recovered ledger to the stop.
struct LedgerLoop {
    /// How long a batch that is durable may wait until others join it.
    static let patience: Duration = .milliseconds(50)
    /// How long a ledger that cannot be written is left alone before the next try.
    static let retryInterval: Duration = .milliseconds(500)
    /// How long nothing may come before the WAL is copied to the database ahead of need.
    static let idleInterval: Duration = .seconds(1)
    /// How many bytes of rows a transaction applies.
    static let chunkLength = 2 << 20
    private let writer: LedgerWriter
    private let log: any BatchLog
    private let inbox: Monitor<LedgerInbox>
    private let logInbox: Monitor<LogInbox>
    private let pool: BufferPool
    private let report: @Sendable (StoreReport) -> Void
    /// How long the WAL may become, in bytes, while a reader keeps it from being emptied.
    private let walLimit: Int
    /// Whether all that the ledger has from before the start is on the disk for sure.
    private var isTrusted: Bool
    private var isStalled = false
    private var hasRollUpFailed = false
    private var pruning: Pruning?
    /// Whether a slice of it is on its way to the log, and waited for.
    private var isSliceUnderway = false
    private var erasure: ErasureSteps?
    private var toldWALLength = -1
    private var seen: UInt64 = 0

    /// - Parameter erasure: the erasure that an earlier run left, whose rows are out already.
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

    /// Works until the stop or an error that is not passing.
    mutating func run() {
        do throws(StoreError) {
            try writer.prepareRows()
            try tellSpace()
            while true {
                let isStopping = waitForWork()
                try applyWhatIsDue(all: isStopping)
                if isStopping { return try finish() }
                try prune()
                try erase()
                try rollUp()
                try keepHouse()
            }
        } catch {
            report(.failed(error))
        }
    }

    // MARK: Waiting

    /// Waits until there is something to do.
    ///
    /// - Returns: whether to stop.
    private mutating func waitForWork() -> Bool {
        // An order may have come while the one before it was carried out.
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

    /// How long nothing needs to be done unless something comes; `nil` for as long as nothing comes.
    private func timeToNextWork() -> Duration? {
        if isStalled { return Self.retryInterval }
        if pruning != nil, !isSliceUnderway { return .zero }
        if writer.isRollUpDue { return hasRollUpFailed ? Self.retryInterval : .zero }
        let (applying, isEmpty) = inbox.withLock { (Self.due($0), $0.backlog.isEmpty) }
        if let due = [applying, erasure?.nextTry].compactMap(\.self).min() {
            return .nanoseconds(max(0, due - SystemClock.monotonicNanoseconds))
        }
        return isEmpty && writer.hasLog(of: LedgerWriter.idleCheckpointLength) ? Self.idleInterval : nil
    }

    /// When the backlog is to be applied, in monotonic nanoseconds; `nil` when there is none.
    private static func due(_ inbox: LedgerInbox) -> Int64? {
        guard let first = inbox.backlog.first else { return nil }
        if inbox.urgentThrough >= first.position.number || inbox.backlog.bytes >= LedgerInbox.bytesDue { return 0 }
        return first.durableAt + patience.nanoseconds
    }

    private func isDue() -> Bool {
        let now = SystemClock.monotonicNanoseconds
        return inbox.withLock { inbox in Self.due(inbox).map { $0 <= now } ?? false }
    }

    // MARK: Applying

    private mutating func applyWhatIsDue(all: Bool) throws(StoreError) {
        guard all || isDue() else { return }
        while true {
            let entries = takeChunk()
            guard let last = entries.last else { return }
            do throws(StoreError) {
                try apply(entries)
            } catch let error where error.isPassing {
                inbox.withLock { $0.backlog.putBack(entries) }
                if !isStalled { report(.ledgerStalled(error)) }
                isStalled = true
                // What was pruned is free space inside the database: once the WAL is copied, both can be written again.
                return try writer.checkpoint()
            }
            if isStalled { report(.ledgerResumed) }
            isStalled = false
            report(.applied(through: last.position.number))
            try makeRoom()
            // However much comes, the pruning has its turn.
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
        defer { for buffer in borrowed { pool.giveBack(buffer) } }
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
        for rows in entries.compactMap(\.rows) { pool.giveBack(rows) }
    }

    /// An order is carried out.
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
            erasure?.tookRows()
            report(.erasedRows(receipt))
        }
    }

    /// - Throws: `walHeld` while a reader keeps it from that; `noSpace`.
    private func emptyWAL() throws(StoreError) {
        do throws(StoreError) {
            try writer.emptyWAL()
        } catch let error where error.kind == .busy {
            throw .walHeld(writer.walLength)
        }
    }

    // MARK: Keeping house

    /// Sees to it that the log has room: makes segments, and lets those go that the ledger has on disk.
    private mutating func makeRoom() throws(StoreError) {
        if writer.hasLog(of: LedgerWriter.checkpointLength) { try writer.checkpoint() }
        guard log.isShort else { return }
        do throws(StoreError) {
            if try log.makeAnother() { return tellOfRoom() }
        } catch let error where error.isPassing {
            // The segments that are there have to do.
        }
        try release()
    }

    /// Lets go of what the ledger has.
    private mutating func release() throws(StoreError) {
        if isTrusted {
            try writer.sync()
        } else {
            // What is from before the start may be in the page cache alone, and a sync of new pages does not write it.
            isTrusted = try writer.checkpointWhole()
            guard isTrusted else { return }
        }
        log.release(through: writer.position.number)
        tellOfRoom()
    }

    /// The log may have room that it had not.
    private func tellOfRoom() { logInbox.update { $0.releases &+= 1 } }

    /// Notes how large WAL and ledger are, where either may have changed.
    private mutating func tellSpace() throws(StoreError) {
        let walLength = writer.walLength
        guard walLength != toldWALLength else { return }
        toldWALLength = walLength
        let space = try writer.space()
        inbox.withLock { ($0.walLength, $0.space) = (walLength, space) }
    }

    private mutating func keepHouse() throws(StoreError) {
        try tellSpace()
        guard inbox.withLock({ $0.backlog.isEmpty }), pruning == nil || isSliceUnderway else { return }
        if writer.hasLog(of: LedgerWriter.idleCheckpointLength) {
            try writer.checkpoint()
            try release()
        }
        try makeRoom()
    }

    /// One slice of the pruning. A full disk ends it early; the next one asked for goes on from there.
    private mutating func prune() throws(StoreError) {
        guard var work = pruning, !isStalled, !isSliceUnderway else { return }
        do throws(StoreError) {
            if !log.isShared {
                try work.next(writer)
            } else if let slice = try work.nextSlice(writer, limit: Pruning.orderedSlice) {
                isSliceUnderway = true
                report(.orderDue(.prune(slice)))
            } else {
                try work.giveBack(writer)
            }
            // However much it takes out, the WAL does not grow without bound.
            if writer.hasLog(of: LedgerWriter.checkpointLength) { try writer.checkpoint() }
        } catch let error where error.isPassing {
            work.giveUp()
        }
        pruning = work.isDone ? nil : work
        if work.isDone { report(work.report) }
    }

    /// One step of an erasure. What keeps it from being done passes, and then it is tried again.
    private mutating func erase() throws(StoreError) {
        let begin = SystemClock.monotonicNanoseconds
        guard var steps = erasure, let next = steps.nextTry, next <= begin, !isStalled else { return }
        do throws(StoreError) {
            let told = try steps.next(writer, log, release: { () throws(StoreError) in try release() })
            if let told { report(told) }
        } catch let error where error.isPassing || error.kind == .notPermitted {
            if !steps.hasToldOfWait { report(.erasureWaits(error)) }
            steps.hasToldOfWait = true
            // What a step wrote in vain is in the WAL, and others need that room.
            if error.kind == .noSpace { _ = try writer.checkpointWhole() }
            // A step may take long, and then fail again: batches and the disk have most of the time to themselves.
            let now = SystemClock.monotonicNanoseconds
            steps.nextTry = now + max(Self.retryInterval.nanoseconds, 10 * (now - begin))
        }
        erasure = steps.isDone ? nil : steps
        tellOfRoom()
    }

    /// Adds up the figures of one long span. What a full disk prevents is tried again.
    private mutating func rollUp() throws(StoreError) {
        guard !isStalled, writer.isRollUpDue else { return }
        do throws(StoreError) {
            try writer.rollUp()
            hasRollUpFailed = false
        } catch let error where error.isPassing {
            hasRollUpFailed = true
        }
    }

    /// The last thing: what a full disk keeps out of the ledger stays in the log.
    private func finish() throws(StoreError) {
        guard !isStalled else { return }
        _ = try writer.checkpointWhole()
        do throws(StoreError) {
            try log.close()
        } catch let error where error.isPassing {
            // The next start takes longer.
        }
    }
}

extension StoreError {
    /// A reader has had one state of the ledger open for so long that the WAL has grown to its bound.
    fileprivate static func walHeld(_ length: Int) -> StoreError {
        StoreError(
            .busy, message: "a reader keeps the WAL from being emptied, which has \(length >> 20) MiB by now",
            context: "ledger.db-wal")
    }
}
