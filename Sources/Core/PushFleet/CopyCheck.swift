/// The relation of a node's copy of a shard to the chain (rule R4). A copy that is ahead of the chain, or has another
/// batch than the chain, is set aside as a whole.
///
/// A copy gets into this state if it read a batch that a promotion lost.
public enum CopyCheck: Hashable, Sendable {
    /// The copy matches the chain; these batches come next, possibly none.
    case follows([StoredBatch])
    /// The chain ends before the copy does.
    case ahead
    /// The chain has this batch, and the copy has another one in its place or before it.
    case another(BatchReference)
    /// The chain begins after the end of the copy: only a snapshot closes the gap.
    case trimmed(BatchReference)

    /// - Parameters:
    ///   - last: the last batch of the copy.
    ///   - batches: the engine's batches from that batch's number on, inclusive.
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
            // The batch itself was deleted; the next one has its id in `previous`.
            self = first.previous == last.id ? .follows(batches) : .another(first.reference)
        } else {
            self = .trimmed(first.reference)
        }
    }
}
