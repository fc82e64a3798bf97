/// How far the ledger came, for a sync.
public struct Synced: Hashable, Sendable {
    /// The id of the state directory.
    public var state: UUID128
    /// Whether the ledger has all that was acknowledged before the sync was asked for.
    public var isComplete: Bool
    /// How many batches are acknowledged and not in the ledger.
    public var batchesBehind: Int
    /// How many bytes of rows they have.
    public var bytesBehind: Int

    /// Joins the parts.
    public init(state: UUID128, isComplete: Bool, batchesBehind: Int, bytesBehind: Int) {
        self.state = state
        self.isComplete = isComplete
        self.batchesBehind = batchesBehind
        self.bytesBehind = bytesBehind
    }
}
