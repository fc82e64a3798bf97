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
