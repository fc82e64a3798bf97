import JournalLog
import PushModel
import PushRouting
import Store

/// Gathers what the turns of the loop want written, and has it committed: one batch for all that came while the last one
/// was being written. What follows a batch is done once that is durable, some of it at a time.
///
/// With few requests and nothing that runs against a deadline the loop writes itself, and waits for the disk: that is
/// faster than to hand the batch to another thread and back.
final class CommitPipeline {
    private struct Batch {
        var effects: Effects
        var followUps = Queue<FollowUp>()

        var rowBytes: Int { effects.rows?.byteCount ?? 0 }
        var hasRows: Bool { effects.rows?.isEmpty == false }
        var isEmpty: Bool { !hasRows && followUps.isEmpty }
    }

    /// A batch of more rows than these bytes is closed: what comes next goes into another.
    private static let batchLength = 1 << 20
    /// The loop writes a batch itself that has no more rows than these bytes.
    private static let ownLength = 16 << 10
    /// How long after a batch the next one is handed over at the earliest where the processors are short, in nanoseconds.
    private static let spacing: Int64 = 200_000

    private let committer: Committer
    private let watch: CommitWatch
    private let isShort: (Int64) -> Bool
    private var growing: Batch
    private var closed = Queue<Batch>()
    private var underway: Queue<FollowUp>?
    /// What follows the batches that are durable, batch by batch; none is empty.
    private var due = Queue<Queue<FollowUp>>()
    private var rowBytesClosed = 0
    private var rowBytesUnderway = 0
    private var lastSequence: SequenceNumber
    private var untold = 0
    private var writer = BatchWriter()
    /// The number of the last batch that was handed over.
    private(set) var number: UInt64
    /// The number of the last batch that is durable.
    private(set) var durable: UInt64
    /// When the batch that is being written was handed over, in monotonic nanoseconds; `nil` without one.
    private(set) var writingSince: Int64?
    /// When the last batch became durable, in monotonic nanoseconds.
    private var durableAt: Int64 = .min / 2
    /// Until when what has gathered is held back; `nil`: it is not.
    private(set) var heldUntil: Int64?
    /// How long the last batch took, in nanoseconds.
    private(set) var lastDuration: Int64 = 0
    /// How many batches were committed since the start.
    private(set) var batches: UInt64 = 0

    /// - Parameters:
    ///   - committer: writes the batches.
    ///   - lastSequence: the number of the last request that was accepted.
    ///   - watch: tells of a commit of the loop's that takes long.
    ///   - isShort: whether the processors are short at a time; `nil`: asks the kernel.
    init(
        _ committer: Committer, lastSequence: SequenceNumber, watch: CommitWatch, isShort: ((Int64) -> Bool)? = nil
    ) {
        self.committer = committer
        self.watch = watch
        self.isShort = isShort ?? ProcessorWatch().isShort
        self.lastSequence = lastSequence
        number = committer.lastNumber
        durable = committer.lastNumber
        growing = Batch(effects: Effects(rows: committer.takeBuffer()))
    }

    // MARK: What is to be written

    /// Where the router puts what it wants done. Rows stay there; what is listed is for the caller to take out.
    var effects: Effects {
        _read { yield growing.effects }
        _modify { yield &growing.effects }
    }

    /// The number of the batch that now grows.
    var growingNumber: UInt64 { number + UInt64(closed.count) + 1 }

    /// The number of the last batch that has rows.
    var lastGrowingNumber: UInt64 { growing.hasRows ? growingNumber : growingNumber - 1 }

    /// Bytes of rows that are not durable yet.
    var bytesWaiting: Int { growing.rowBytes + rowBytesClosed + rowBytesUnderway }

    /// Whether nothing waits for the disk, or to be done after it.
    var isIdle: Bool { underway == nil && growing.isEmpty && closed.isEmpty && due.isEmpty }

    /// Whether something is to be done that follows a durable batch.
    var hasDue: Bool { !due.isEmpty }

    /// Whether something could be handed over now.
    var isReady: Bool { underway == nil && heldUntil == nil && !(growing.isEmpty && closed.isEmpty) }

    /// Adds something that is done once what was decided so far is durable.
    func append(_ followUp: FollowUp) { growing.followUps.append(followUp) }

    /// Notes the number of the last request that was accepted.
    func accepted(_ seq: SequenceNumber) { lastSequence = seq }

    /// A request has been decided: its rows are complete.
    func endRequest() {
        if growing.rowBytes >= Self.batchLength { close() }
    }

    /// Adds an order to take rows out, which is a batch of its own.
    func append(_ order: ChainOrder) {
        if growing.hasRows { close() }
        growing.effects.record(.order(order))
        close()
    }

    private func close() {
        rowBytesClosed += growing.rowBytes
        closed.append(takeGrowing())
    }

    /// How many outcomes the router has not told since this was asked last.
    func takeUntold() -> Int { exchange(&untold, with: 0) + growing.effects.takeUntold() }

    private func takeGrowing() -> Batch {
        untold += growing.effects.takeUntold()
        return exchange(&growing, with: emptyBatch())
    }

    private func emptyBatch() -> Batch {
        var effects = Effects(rows: committer.takeBuffer())
        effects.tellsEveryOutcome = growing.effects.tellsEveryOutcome
        return Batch(effects: effects)
    }

    // MARK: Writing

    /// Hands over what has gathered, unless a batch is being written. Where the processors are short it is held back for a
    /// moment if there was a batch just now: each one costs some 50 us of them, however little is in it.
    ///
    /// - Parameters:
    ///   - mayWait: whether the loop may wait for the disk.
    ///   - now: monotonic nanoseconds.
    /// - Returns: how long it took when the loop wrote a batch itself, and whether that was told of meanwhile.
    /// - Throws: that the disk cannot be trusted.
    func endTurn(mayWait: Bool, at now: Int64) throws(StoreError) -> (took: Duration, isTold: Bool)? {
        heldUntil = nil
        guard underway == nil else { return nil }
        if closed.isEmpty, growing.hasRows, now - durableAt < Self.spacing, isShort(now) {
            heldUntil = durableAt + Self.spacing
            return nil
        }
        guard let batch = nextBatch() else { return nil }
        guard let rows = batch.effects.rows, batch.hasRows else {
            // With nothing to write there is nothing to wait for.
            follow(batch.followUps)
            return nil
        }
        number += 1
        batches += 1
        let commit = CommitBatch(number: number, rows: rows, lastSequence: lastSequence)
        if mayWait, writer.isLoop, rows.byteCount <= Self.ownLength, committer.hasRoom(for: rows.byteCount) {
            watch.begin(at: now)
            let result = Result { () throws(StoreError) in try committer.commit(commit) }
            let isTold = watch.end()
            if let took = try result.get() {
                durable = number
                follow(batch.followUps)
                lastDuration = took.nanoseconds
                writer.loopWrote(took: took)
                return (took, isTold)
            }
        } else {
            committer.submit(commit)
        }
        underway = batch.followUps
        rowBytesUnderway = rows.byteCount
        writingSince = now
        return nil
    }

    /// The batch that is being written is durable.
    func committed(_ number: UInt64, took duration: Duration, at now: Int64) {
        guard let followUps = underway, number == self.number else {
            preconditionFailure("batch \(number) is durable, and \(self.number) was being written")
        }
        durable = number
        durableAt = now
        follow(followUps)
        underway = nil
        rowBytesUnderway = 0
        writingSince = nil
        lastDuration = duration.nanoseconds
        writer.threadWrote(took: duration)
    }

    /// Takes out the next thing to be done.
    func nextDue() -> FollowUp? {
        guard let (followUp, isLast) = due.changeFirst({ ($0.popFirst(), $0.isEmpty) }) else { return nil }
        if isLast { _ = due.popFirst() }
        return followUp
    }

    private func follow(_ followUps: Queue<FollowUp>) { if !followUps.isEmpty { due.append(followUps) } }

    private func nextBatch() -> Batch? {
        if let batch = closed.popFirst() {
            rowBytesClosed -= batch.rowBytes
            return batch
        }
        guard !growing.isEmpty else { return nil }
        if growing.hasRows { return takeGrowing() }
        return Batch(effects: Effects(), followUps: exchange(&growing.followUps, with: Queue()))
    }
}

/// Something that is done once the records before it are durable.
enum FollowUp {
    /// Tell a client.
    case reply(ClientSession, place: Int, ClientReply)
    /// Tell a client, who has its reply now, the outcomes that it waits for.
    case releaseOutcomes(OutcomeWait)
    /// Run a handler.
    indirect case start(HandlerRun)
    /// Run a handler whose payload is to be read again first.
    indirect case load(HandlerRun)
    /// Tell the journal and whoever waits how an invocation ended.
    case decided(InvocationEnd)
    /// Hand entries of custom data to the forwarder.
    indirect case handOver(ClaimedEntries)
    /// Tell the journal.
    indirect case note(JournalEntry)
}
