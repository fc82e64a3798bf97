public import PushModel

/// The fate of a leader's batches, one after the other: the rules R1, R2 and R3 of a shared log.
///
/// A batch keeps its number, id and bytes until its fate is known. It is acknowledged at the end of a commit alone,
/// never because it was read: after a crash of the engine a batch is visible that no standby has.
public struct ChainWriter: Hashable, Sendable {
    /// The next thing that the log does with the batch.
    public enum Step: Hashable, Sendable {
        /// Hand over the batch, with the same bytes each time.
        case append
        /// Connect anew, end the sessions that were lost, read the tail.
        case ask
        /// Commit something behind the batch.
        case confirm
        /// The batch is durable.
        case acknowledge
        /// The chain does not end with the last batch any more: nothing more may be appended behind it.
        case fenced(ChainTail)
        /// The engine lost what this writer was told to be durable.
        case lost(ChainTail)
    }

    /// The last batch: durable for sure once one was acknowledged, before that as it was read.
    public private(set) var last: BatchReference
    /// The batch whose fate is not known.
    public private(set) var pending: BatchReference?
    /// The writer's term: the engine takes nothing of it behind a batch of a higher one.
    private let epoch: Int64
    /// Whether `last` was acknowledged: a promotion may lose what was only read.
    private var isAcknowledged = false

    /// - Parameters:
    ///   - last: the batch to go on behind, the last one that was read.
    ///   - epoch: the writer's term.
    public init(after last: BatchReference, epoch: Int64) { (self.last, self.epoch) = (last, epoch) }

    /// A batch is to be appended behind the last one.
    ///
    /// - Parameter id: the id that was drawn for it.
    public mutating func begin(id: UUID128) -> (reference: BatchReference, step: Step) {
        precondition(pending == nil, "one batch is under way at a time")
        let reference = BatchReference(number: last.number + 1, id: id)
        pending = reference
        return (reference, .append)
    }

    /// The answer to an append, or to a confirmation.
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

    /// The tail was read.
    public func found(_ tail: ChainTail) -> Step {
        if tail.reference.number < last.number { return isAcknowledged ? .lost(tail) : .fenced(tail) }
        if tail.reference == pending { return .confirm }
        // Sent again, the batch would be refused again.
        guard tail.epoch <= epoch else { return .fenced(tail) }
        return tail.reference == last ? .append : .fenced(tail)
    }
}
