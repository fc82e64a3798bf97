public import PushModel

/// The beginning of a new chain.
///
/// The chain of a single machine's ledger begins after the ledger's rows, so a machine without that ledger needs the
/// snapshot.
public struct ChainStart: Hashable, Sendable {
    /// The id of the ledger that every copy of the shard has.
    public var state: UUID128
    /// The first batch, which has no rows.
    public var batch: ChainBatch
    /// The snapshot at the first batch; `nil`: the ledger is empty.
    public var snapshot: Snapshot?

    /// Makes the beginning of an empty ledger.
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
