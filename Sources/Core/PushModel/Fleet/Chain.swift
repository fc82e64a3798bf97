/// A batch of a shard's chain, by its number and by the random id of its writer. Two writers never draw the same id, so
/// equal references mean the same bytes.
public struct BatchReference: Hashable, Sendable {
    /// The place in the chain; 0 before the first batch.
    public var number: UInt64
    /// The id.
    public var id: UUID128

    /// The reference before the first batch.
    public static let start = BatchReference(number: 0, id: UUID128(high: 0, low: 0))

    /// Joins the two.
    public init(number: UInt64, id: UUID128) { (self.number, self.id) = (number, id) }
}

/// A batch as a writer hands it to the engine. Its bytes never change afterwards.
public struct ChainBatch: Hashable, Sendable {
    /// The highest version of batches that this program reads and writes.
    public static let currentVersion = RowKind.newestVersion

    /// Its number and its id.
    public var reference: BatchReference
    /// The id of the batch before it.
    public var previous: UUID128
    /// The term of the leader that wrote it.
    public var epoch: Int64
    /// The version of its contents.
    public var version = currentVersion
    /// The boot of the writer's machine; `handedOver` is valid within it.
    public var boot: UUID128
    /// `CLOCK_MONOTONIC` of the writer at the hand-over.
    public var handedOver: Instant
    /// The cursor of the last event up to this batch, by which each copy checks that it assigns the same cursors; `nil`
    /// if the writer did not tell.
    public var lastCursor: Int64?
    /// The header and the rows, in the format of the log of one machine.
    public var bytes: [UInt8]

    /// Joins the parts.
    public init(
        reference: BatchReference, previous: UUID128, epoch: Int64, boot: UUID128, handedOver: Instant,
        lastCursor: Int64? = nil, bytes: [UInt8]
    ) {
        (self.reference, self.previous, self.epoch) = (reference, previous, epoch)
        (self.boot, self.handedOver, self.lastCursor, self.bytes) = (boot, handedOver, lastCursor, bytes)
    }
}

/// A batch as the engine returns it.
public struct StoredBatch: Hashable, Sendable {
    /// The batch.
    public var batch: ChainBatch
    /// The time since its insertion, by the engine's clock at the time of the reading.
    public var age: Duration

    /// Joins the two.
    public init(batch: ChainBatch, age: Duration) { (self.batch, self.age) = (batch, age) }
}

/// The last batch of a chain.
public struct ChainTail: Hashable, Sendable {
    /// Its number and its id.
    public var reference: BatchReference
    /// The term of its writer.
    public var epoch: Int64

    /// Joins the two.
    public init(_ reference: BatchReference, epoch: Int64) { (self.reference, self.epoch) = (reference, epoch) }
}

/// The beginning of a new chain.
///
/// A chain for the ledger of one machine begins after the last batch of that ledger, so a machine without the ledger
/// needs the snapshot.
public struct ChainStart: Hashable, Sendable {
    /// The id of the ledger that every copy of the shard has.
    public var state: UUID128
    /// The first batch, which has no rows.
    public var batch: ChainBatch
    /// The snapshot that includes the first batch; `nil` if the ledger is empty.
    public var snapshot: Snapshot?

    /// Creates the beginning for an empty ledger.
    ///
    /// - Parameter state: the id of the ledger that every copy of the shard is to have.
    public init(state: UUID128) {
        let zero = BatchReference.start.id
        self.init(
            state: state,
            batch: ChainBatch(
                reference: .start, previous: zero, epoch: 0, boot: zero, handedOver: Instant(nanoseconds: 0), bytes: []),
            snapshot: nil)
    }

    /// Joins the parts.
    public init(state: UUID128, batch: ChainBatch, snapshot: Snapshot?) {
        (self.state, self.batch, self.snapshot) = (state, batch, snapshot)
    }
}

/// The state machine of a leader's appends, one batch after the other: the rules R1, R2 and R3 of a shared log.
///
/// A batch keeps its number, id and bytes until its fate is known. Only the end of a commit acknowledges it, never a
/// read: after a crash of the engine, a batch can be visible that no standby has.
public struct ChainWriter: Hashable, Sendable {
    /// The next step for the batch.
    public enum Step: Hashable, Sendable {
        /// Append the batch, with the same bytes each time.
        case append
        /// Connect again, end the lost sessions, and read the tail.
        case reconnect
        /// Commit a change behind the batch.
        case confirm
        /// The batch is durable.
        case acknowledge
        /// The chain does not end with the last batch any more: the writer may append nothing more.
        case fenced(ChainTail)
        /// The engine lost a batch that it had reported as durable.
        case lost(ChainTail)
    }

    /// The last batch: durable once the engine acknowledged it, before that only read.
    public private(set) var last: BatchReference
    /// The batch with an unknown fate.
    public private(set) var pending: BatchReference?
    /// The writer's term: the engine refuses its batches behind one of a higher term.
    private let epoch: Int64
    /// Whether the engine acknowledged `last`: a promotion may lose a batch that was only read.
    private var isAcknowledged = false

    /// - Parameters:
    ///   - last: the last batch that was read, after which the writer appends.
    ///   - epoch: the writer's term.
    public init(after last: BatchReference, epoch: Int64) { (self.last, self.epoch) = (last, epoch) }

    /// Begins the append of a batch behind the last one.
    ///
    /// - Parameter id: the random id of the batch.
    public mutating func begin(id: UUID128) -> (reference: BatchReference, step: Step) {
        precondition(pending == nil, "one batch is under way at a time")
        let reference = BatchReference(number: last.number + 1, id: id)
        pending = reference
        return (reference, .append)
    }

    /// Returns the step after the answer to an append or a confirmation.
    public mutating func answered(_ result: AppendResult) -> Step {
        switch result {
        case .committed:
            if let pending { (last, isAcknowledged) = (pending, true) }
            pending = nil
            return .acknowledge
        case .uncertain: return .confirm
        case .conflict, .unknown: return .reconnect
        }
    }

    /// Returns the step after a reading of the tail.
    public func found(_ tail: ChainTail) -> Step {
        if tail.reference.number < last.number { return isAcknowledged ? .lost(tail) : .fenced(tail) }
        if tail.reference == pending { return .confirm }
        // The engine would refuse the batch again.
        guard tail.epoch <= epoch else { return .fenced(tail) }
        return tail.reference == last ? .append : .fenced(tail)
    }
}

/// Whether a node's copy of a shard continues with the chain (rule R4). The node sets aside the whole copy if it is
/// ahead of the chain, or if one of its batches differs from the chain's.
///
/// A copy gets into this state if it has read a batch that a promotion lost.
public enum CopyCheck: Hashable, Sendable {
    /// The copy matches the chain; these batches come next, perhaps none.
    case follows([StoredBatch])
    /// The chain ends before the copy.
    case ahead
    /// The chain has this batch, and the copy has another one in its place or before it.
    case another(BatchReference)
    /// The chain begins behind the copy, which can only continue with a snapshot.
    case trimmed(BatchReference)

    /// - Parameters:
    ///   - last: the last batch of the copy.
    ///   - batches: the engine's batches from the number of that batch on, inclusive.
    public init(last: BatchReference, batches: [StoredBatch]) {
        guard let first = batches.first?.batch else {
            self = last == .start ? .follows([]) : .ahead
            return
        }
        if first.reference == last {
            self = .follows(Array(batches.dropFirst()))
        } else if first.reference.number == last.number {
            self = .another(first.reference)
        } else if first.reference.number == last.number + 1 {
            // The batch itself was deleted; the next one has its id as `previous`.
            self = first.previous == last.id ? .follows(batches) : .another(first.reference)
        } else {
            self = .trimmed(first.reference)
        }
    }
}
