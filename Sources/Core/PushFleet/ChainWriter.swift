public import PushModel

/// The state of a leader's batches, one after the other: the rules R1, R2 and R3 of a shared log.
///
/// A batch keeps its number, id and bytes until its result is known. Only the end of a commit acknowledges it, never a
/// reading: after a crash of the engine, a batch that no standby has may be visible.
public struct ChainWriter: Hashable, Sendable {
    /// The next action of the log for the batch.
    public enum Step: Hashable, Sendable {
        /// Append the batch, with the same bytes each time.
        case append
        /// Reconnect, end the lost sessions, read the tail.
        case ask
        /// Commit another row after the batch.
        case confirm
        /// The batch is durable.
        case acknowledge
        /// Stop appending: the chain no longer ends with the last batch.
        case fenced(ChainTail)
        /// The engine lost batches that it had acknowledged to this writer.
        case lost(ChainTail)
    }

    /// The last batch: certainly durable once one was acknowledged; before that, as it was read.
    public private(set) var last: BatchReference
    /// The batch whose result is unknown.
    public private(set) var pending: BatchReference?
    /// The writer's term: the engine refuses its batches after a batch of a higher term.
    private let epoch: Int64
    /// Whether `last` was acknowledged: a promotion may lose a batch that was only read.
    private var isAcknowledged = false

    /// - Parameters:
    ///   - last: the batch to append after, the last one that was read.
    ///   - epoch: the writer's term.
    public init(after last: BatchReference, epoch: Int64) { (self.last, self.epoch) = (last, epoch) }

    /// Begins to append a batch after the last one.
    ///
    /// - Parameter id: the random id of the batch.
    public mutating func begin(id: UUID128) -> (reference: BatchReference, step: Step) {
        precondition(pending == nil, "one batch is under way at a time")
        let reference = BatchReference(number: last.number + 1, id: id)
        pending = reference
        return (reference, .append)
    }

    /// Takes the answer to an append or to a confirmation.
    public mutating func answered(_ result: AppendResult) -> Step {
        switch result {
        case .there:
            if let pending { (last, isAcknowledged) = (pending, true) }
            pending = nil
            return .acknowledge
        case .doubtful: return .confirm
        case .other, .unknown: return .ask
        }
    }

    /// Takes the tail that was read.
    public func found(_ tail: ChainTail) -> Step {
        if tail.reference.number < last.number { return isAcknowledged ? .lost(tail) : .fenced(tail) }
        if tail.reference == pending { return .confirm }
        // The engine would refuse the batch again.
        guard tail.epoch <= epoch else { return .fenced(tail) }
        return tail.reference == last ? .append : .fenced(tail)
    }
}
