public import PushModel
public import Store

extension LedgerReader {
    /// The ledger of a state directory with all that is acknowledged, with or without a daemon. What a daemon cannot bring
    /// into it for now is read from its log. Where the daemon follows another machine's the ledger is its copy, as far as that is.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - sync: asks the daemon to bring the ledger up to date; `nil` where none can be asked.
    public static func current(directory: String, sync: () -> Synced?) throws(StoreError) -> LedgerReader {
        let reader = try LedgerReader(directory: directory)
        guard let synced = sync(), synced.state == reader.stateIdentity, synced.isComplete || synced.follower != nil
        else {
            return try complete(directory: directory)
        }
        return reader
    }
}
