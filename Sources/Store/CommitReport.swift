/// What the committer's thread tells. Numbers are those given to `Committer.submit`.
public enum CommitReport: Hashable, Sendable {
    /// All batches up to and including this number are on disk; how long the last transaction took.
    case committed(through: UInt64, duration: Duration)
    /// The disk is full, or another program holds the ledger's lock. Nothing is lost and nothing is on disk that
    /// was not before; the same batches are tried again until they are committed. Told once for each time.
    case stalled(StoreError)
    /// Requests older than the retention are out of the ledger; how many.
    case pruned(requests: Int)
    /// The ledger can no longer be written, and no further report comes: end without acknowledging anything.
    case failed(StoreError)
}
