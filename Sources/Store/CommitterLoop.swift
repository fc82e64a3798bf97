import LinuxSystem
import PushModel

/// What the committer's thread does, from the open ledger to the stop.
struct CommitterLoop {
    /// How long a full disk is left alone before the next try.
    static let retryInterval: Duration = .milliseconds(500)
    /// How long nothing may come before the WAL is copied to the database ahead of need.
    static let idleInterval: Duration = .seconds(1)
    /// How many requests, and how many entries, a transaction of the pruning takes out: a few milliseconds of work.
    static let pruneSlice = 256

    private let writer: LedgerWriter
    private let inbox: Monitor<Committer.Inbox>
    private let report: @Sendable (CommitReport) -> Void
    /// Taken from the inbox and not on disk; empty between two turns unless stalled.
    private var backlog: [Committer.Batch] = []
    private var isStalled = false
    private var pruning: (cutoff: WallTime, pruned: Int)?

    init(
        writer: LedgerWriter, inbox: Monitor<Committer.Inbox>,
        report: @escaping @Sendable (CommitReport) -> Void
    ) {
        self.writer = writer
        self.inbox = inbox
        self.report = report
    }

    /// Works until the stop or an error that is not passing.
    mutating func run() {
        do throws(StoreError) {
            while true {
                let wakeup = takeWork()
                try commitBacklog(isLastTry: wakeup == .stop)
                if wakeup == .stop { return }
                try prune()
                let isIdle = wakeup == .timeout && pruning == nil
                if writer.hasLog(of: isIdle ? LedgerWriter.idleCheckpointFrames : LedgerWriter.checkpointFrames) {
                    try writer.checkpoint()
                }
            }
        } catch {
            if error.isInputOutput { writer.abandon() }
            report(.failed(error))
        }
    }

    private enum Wakeup: Sendable {
        case work, timeout, stop
    }

    /// Waits for something to do and takes it.
    private mutating func takeWork() -> Wakeup {
        let isStalled = isStalled
        let patience: Duration? =
            if isStalled {
                Self.retryInterval
            } else if pruning != nil {
                .zero
            } else {
                writer.hasLog(of: LedgerWriter.idleCheckpointFrames) ? Self.idleInterval : nil
            }
        let taken = inbox.wait(atMost: patience) { inbox -> Committer.Inbox? in
            // While stalled only a stop cuts the interval short; new batches join the queue.
            let hasWork = !inbox.batches.isEmpty || inbox.pruneCutoff != nil
            guard inbox.isStopping || hasWork && !isStalled else { return nil }
            defer { (inbox.batches, inbox.pruneCutoff) = ([], nil) }
            return inbox
        }
        guard let taken else { return .timeout }
        backlog += taken.batches
        if let cutoff = taken.pruneCutoff { pruning = (cutoff, 0) }
        return taken.isStopping ? .stop : .work
    }

    private mutating func commitBacklog(isLastTry: Bool) throws(StoreError) {
        guard let last = backlog.last else { return }
        // What was pruned is free space inside the database: once the WAL is copied, both can be written again.
        if isStalled { try writer.checkpoint() }
        let start = ContinuousClock.now
        do throws(StoreError) {
            try writer.write(backlog.map(\.records))
        } catch let error where error.isPassing && !isLastTry {
            if !isStalled { report(.stalled(error)) }
            isStalled = true
            return
        }
        isStalled = false
        report(.committed(through: last.number, duration: ContinuousClock.now - start))
        backlog.removeAll()
    }

    /// One slice of the pruning. A full disk ends it early; the next one asked for goes on from there.
    private mutating func prune() throws(StoreError) {
        guard let (cutoff, before) = pruning, backlog.isEmpty else { return }
        var slice = (requests: 0, isPartial: false)
        do throws(StoreError) {
            slice = try writer.prune(olderThan: cutoff, limit: Self.pruneSlice)
        } catch let error where error.isPassing {}
        let pruned = before + slice.requests
        pruning = slice.isPartial ? (cutoff, pruned) : nil
        if pruning == nil { report(.pruned(requests: pruned)) }
    }
}
