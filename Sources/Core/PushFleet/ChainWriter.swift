public import PushModel

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
