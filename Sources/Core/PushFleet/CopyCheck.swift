/// Whether a node's copy of a shard goes on with the chain (rule R4): a copy that is ahead of the chain, or has another
/// batch than the chain, is set aside whole.
///
/// A copy gets so when it read a batch that a promotion lost.
public enum CopyCheck: Hashable, Sendable {
    /// The copy is the chain's; these batches come next, maybe none.
    case follows([StoredBatch])
    /// The chain ends before the copy does.
    case ahead
    /// The chain has this batch, and the copy has another one in its place or before it.
    case another(BatchReference)
    /// The chain begins behind the copy: only a snapshot leads on.
    case trimmed(BatchReference)

    /// - Parameters:
    ///   - last: the last batch of the copy.
    ///   - batches: what the engine gave from that batch's number on, that number included.
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
            // The batch itself was deleted; the one behind it names it.
            self = first.previous == last.id ? .follows(batches) : .another(first.reference)
        } else {
            self = .trimmed(first.reference)
        }
    }
}
