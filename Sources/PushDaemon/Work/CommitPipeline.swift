import LinuxSystem
import PushModel
import PushRouter
import Store

/// Collects the rows of the loop's turns, and commits them: one batch for all rows that came while the last batch was
/// written. The follow-ups of a batch are done once it is durable, in slices of time.
///
/// With few requests and no deadline near, the loop writes and syncs the batch itself: that is faster than to hand it
/// to another thread and back.
final class CommitPipeline {
    private struct Batch {
        var effects: Effects
        var followUps = Queue<FollowUp>()
        /// The bytes of rows of the daemon's own work.
        var ownBytes = 0
        /// The number of the last request that was accepted, in this batch or before it.
        var lastSequence = SequenceNumber(0)

        var rowBytes: Int { effects.rows?.byteCount ?? 0 }
        var hasRows: Bool { effects.rows?.isEmpty == false }
        var isEmpty: Bool { !hasRows && followUps.isEmpty }
    }

    /// A batch with more bytes of rows than this is closed: later rows go into another.
    private static let batchLength = 1 << 20
    /// The bytes of rows of the daemon's own work that may wait for the disk: half a batch, so that a client's request
    /// waits for little more than one batch.
    private static let ownShare = batchLength / 2
    /// The loop writes only batches with at most this many bytes of rows.
    private static let ownLength = 16 << 10
    /// The least time between two batches while the processors are short, in nanoseconds.
    private static let spacing: Int64 = 200_000

    private let committer: Committer
    private let watch: CommitWatch
    private let isShort: (Int64) -> Bool
    private var growing: Batch
    private var closed = Queue<Batch>()
    private var underway: Queue<FollowUp>?
    /// The follow-ups of durable batches, a queue for each batch; none of the queues is empty.
    private var due = Queue<Queue<FollowUp>>()
    private var rowBytesClosed = 0
    private var rowBytesUnderway = 0
    /// The bytes of rows of the daemon's own work that are not durable yet, without those in `growing`.
    private var ownBytesHandedOver = 0
    private var ownBytesUnderway = 0
    /// The place in `growing` at which the rows of the daemon's own work begin, in bytes of rows; `nil`: clients' work is
    /// done.
    private var ownStart: Int?
    private var lastSequence: SequenceNumber
    /// The number of the last request of earlier runs.
    private let firstSequence: SequenceNumber
    private var sequenceUnderway = SequenceNumber(0)
    /// The number of the last request of this run that is durable; `nil`: none is.
    private var durableSequence: SequenceNumber?
    private var unreported = 0
    private var writer = BatchWriter()
    /// The number of the last batch that was handed over.
    private(set) var number: UInt64
    /// The number of the last batch that is durable.
    private(set) var durable: UInt64
    /// When the batch that is being written was handed over, in monotonic nanoseconds; `nil`: none is being written.
    private(set) var writingSince: Int64?
    /// When the last batch became durable, in monotonic nanoseconds.
    private var durableAt: Int64 = .min / 2
    /// The time until which the next batch is held back, in monotonic nanoseconds; `nil`: it is not.
    private(set) var heldUntil: Int64?
    /// How long the commit of the last batch took, in nanoseconds.
    private(set) var lastDuration: Int64 = 0
    /// The number of batches since the start.
    private(set) var batches: UInt64 = 0

    /// - Parameters:
    ///   - committer: writes the batches.
    ///   - lastSequence: the number of the last request that was accepted.
    ///   - watch: reports a commit of the loop's thread that takes long.
    ///   - isShort: whether the processors are short at a time, in monotonic nanoseconds; `nil`: asks the kernel.
    init(
        _ committer: Committer, lastSequence: SequenceNumber, watch: CommitWatch, isShort: ((Int64) -> Bool)? = nil
    ) {
        self.committer = committer
        self.watch = watch
        self.isShort = isShort ?? ProcessorWatch().isShort
        self.lastSequence = lastSequence
        firstSequence = lastSequence
        number = committer.lastNumber
        durable = committer.lastNumber
        growing = Batch(effects: Effects(rows: committer.takeBuffer()))
    }

    // MARK: Collecting rows

    /// The router's effects. Rows stay in them; the caller takes out the list.
    var effects: Effects {
        _read { yield growing.effects }
        _modify { yield &growing.effects }
    }

    /// The number of the batch that collects rows now.
    var growingNumber: UInt64 { number + UInt64(closed.count) + 1 }

    /// The number of the last batch that has rows.
    var lastGrowingNumber: UInt64 { growing.hasRows ? growingNumber : growingNumber - 1 }

    /// Bytes of rows that are not durable yet.
    var bytesWaiting: Int { growing.rowBytes + rowBytesClosed + rowBytesUnderway }

    /// Bytes of rows that are not durable yet, without those of the daemon's own work.
    var clientBytesWaiting: Int { bytesWaiting - ownBytesWaiting }

    /// Bytes of rows of the daemon's own work that are not durable yet.
    private var ownBytesWaiting: Int { growing.ownBytes + ownBytesHandedOver }

    /// Whether the daemon may go on with work that it owes itself, such as deliveries of a publish and replays: it has a
    /// share of the room, and the clients have the rest. The ledger must keep up, too: half of the log is the clients'.
    var hasRoomForOwnWork: Bool { ownBytesWaiting < Self.ownShare && !committer.isFarBehind }

    /// Whether no row waits for the disk, and no follow-up is left.
    var isIdle: Bool { underway == nil && growing.isEmpty && closed.isEmpty && due.isEmpty }

    /// Whether a follow-up of a durable batch is left.
    var hasDue: Bool { !due.isEmpty }

    /// Whether a batch could be handed over now.
    var isReady: Bool { underway == nil && heldUntil == nil && !(growing.isEmpty && closed.isEmpty) }

    /// Adds a follow-up of all that was decided so far.
    func append(_ followUp: FollowUp) { growing.followUps.append(followUp) }

    /// Notes the number of the last request that was accepted.
    func accepted(_ seq: SequenceNumber) { lastSequence = seq }

    /// Whether a handler may start before the rows of its request are durable. A crash takes back the number of the
    /// request, so the number must be one of those that the next start leaves out.
    func allowsEarlyStart(of seq: SequenceNumber) -> Bool {
        durableSequence.map { seq.value - $0.value <= StateDirectory.numbersLeftOut } ?? false
    }

    /// Notes that the rows of a request are complete: a full batch is closed.
    func endRequest() {
        if growing.rowBytes >= Self.batchLength { close() }
    }

    /// Does work that the daemon owes itself: its rows count for the daemon's share of the room.
    func doOwnWork<Result>(_ work: () -> Result) -> Result {
        ownStart = growing.rowBytes
        defer {
            countOwnBytes()
            ownStart = nil
        }
        return work()
    }

    private func countOwnBytes() {
        guard let start = ownStart else { return }
        growing.ownBytes += growing.rowBytes - start
        ownStart = growing.rowBytes
    }

    /// Adds an order to delete rows, which is a batch of its own.
    func append(_ order: ChainOrder) {
        if growing.hasRows { close() }
        growing.effects.record(.order(order))
        close()
    }

    private func close() {
        rowBytesClosed += growing.rowBytes
        closed.append(takeGrowing())
    }

    /// The number of outcomes that the router left out of its effects, since the last call.
    func takeUnreported() -> Int { exchange(&unreported, with: 0) + growing.effects.takeUnreported() }

    private func takeGrowing() -> Batch {
        unreported += growing.effects.takeUnreported()
        if ownStart != nil {
            countOwnBytes()
            ownStart = 0
        }
        ownBytesHandedOver += growing.ownBytes
        growing.lastSequence = lastSequence
        return exchange(&growing, with: emptyBatch())
    }

    private func emptyBatch() -> Batch {
        var effects = Effects(rows: committer.takeBuffer())
        effects.reportsEveryOutcome = growing.effects.reportsEveryOutcome
        return Batch(effects: effects)
    }

    // MARK: Writing

    /// Hands over the collected rows, unless a batch is being written. While the processors are short and the last
    /// batch became durable just now, the batch is held back for a moment: each batch costs some 50 us of processor
    /// time, however small it is.
    ///
    /// - Parameters:
    ///   - mayWait: whether the loop may write and sync a batch itself.
    ///   - now: monotonic nanoseconds.
    /// - Returns: how long the loop's own write took, if it wrote, and whether `watch` reported it.
    /// - Throws: when the disk cannot be trusted.
    func endTurn(mayWait: Bool, at now: Int64) throws(StoreError) -> (took: Duration, isReported: Bool)? {
        heldUntil = nil
        guard underway == nil else { return nil }
        if closed.isEmpty, growing.hasRows, now - durableAt < Self.spacing, isShort(now) {
            heldUntil = durableAt + Self.spacing
            return nil
        }
        guard let batch = nextBatch() else { return nil }
        guard let rows = batch.effects.rows, batch.hasRows else {
            // Without rows the follow-ups need no write.
            follow(batch.followUps)
            return nil
        }
        number += 1
        batches += 1
        let commit = CommitBatch(number: number, rows: rows, lastSequence: batch.lastSequence)
        if mayWait, writer.isLoop, rows.byteCount <= Self.ownLength, committer.hasRoom(for: rows.byteCount) {
            watch.begin(at: now)
            let result = Result { () throws(StoreError) in try committer.commit(commit) }
            let isReported = watch.end()
            if let took = try result.get() {
                durable = number
                noteDurable(batch.lastSequence)
                ownBytesHandedOver -= batch.ownBytes
                follow(batch.followUps)
                lastDuration = took.nanoseconds
                writer.noteLoopWrite(took: took)
                return (took, isReported)
            }
        } else {
            committer.submit(commit)
        }
        underway = batch.followUps
        sequenceUnderway = batch.lastSequence
        rowBytesUnderway = rows.byteCount
        ownBytesUnderway = batch.ownBytes
        writingSince = now
        return nil
    }

    /// Notes that the batch that was being written is durable.
    func committed(_ number: UInt64, took duration: Duration, at now: Int64) {
        guard let followUps = underway, number == self.number else {
            preconditionFailure("batch \(number) is durable, and \(self.number) was being written")
        }
        durable = number
        noteDurable(sequenceUnderway)
        durableAt = now
        follow(followUps)
        underway = nil
        rowBytesUnderway = 0
        ownBytesHandedOver -= ownBytesUnderway
        ownBytesUnderway = 0
        writingSince = nil
        lastDuration = duration.nanoseconds
        writer.noteThreadWrite(took: duration)
    }

    private func noteDurable(_ seq: SequenceNumber) { if seq > firstSequence { durableSequence = seq } }

    /// Takes the next follow-up.
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

/// An action that is done once the rows before it are durable.
enum FollowUp {
    /// Sends a reply to a client.
    case reply(ClientSession, place: Int, ClientReply)
    /// Sends the outcomes that a client waits for, after its reply.
    case releaseOutcomes(OutcomeWait)
    /// Carries out an effect of the router.
    case effect(RouterEffect)
    /// Hands entries of custom data to the forwarder.
    indirect case handOver(ClaimedEntries)
    /// Writes a journal entry.
    indirect case note(JournalEntry)
}

/// The choice of the thread that writes the next small batch: the loop's while the disk is fast, otherwise the log's.
///
/// With one slow write in a hundred, as on virtual disks, the log's thread gets only a few batches; with a disk that
/// stays slow it gets all.
struct BatchWriter {
    /// The longest write of the loop that counts as fast: half of the time within which something may be due.
    static let limit: Duration = .milliseconds(10)
    /// How many batches go to the log's thread after a slow one. Each slow write of the loop doubles the number, each
    /// fast one halves it.
    static let pauses = 8...1024

    private var pause = pauses.lowerBound
    private var leftToThread = 0

    /// Whether the loop writes the next batch.
    var isLoop: Bool { leftToThread == 0 }

    /// Notes that the loop wrote a batch, and how long that took.
    mutating func noteLoopWrite(took duration: Duration) {
        if duration > Self.limit {
            leftToThread = pause
            pause = min(2 * pause, Self.pauses.upperBound)
        } else {
            pause = max(pause / 2, Self.pauses.lowerBound)
        }
    }

    /// Notes that the log's thread wrote a batch, and how long that took.
    mutating func noteThreadWrite(took duration: Duration) {
        leftToThread = duration > Self.limit ? pause : max(leftToThread - 1, 0)
    }
}
