public import PushModel
public import Store

extension LedgerReader {
    /// Opens the ledger of a state directory with everything that is acknowledged, with or without a daemon. Batches
    /// that the daemon cannot apply now are read from its log. If the daemon follows another machine, the ledger is its
    /// copy, as far as that has come.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - sync: asks the daemon to bring the ledger up to date; returns `nil` if there is no daemon to ask.
    public static func current(directory: String, sync: () -> Synced?) throws(StoreError) -> LedgerReader {
        let reader = try LedgerReader(directory: directory)
        guard let synced = sync(), synced.state == reader.stateIdentity, synced.isComplete || synced.follower != nil
        else {
            return try complete(directory: directory)
        }
        return reader
    }
}
