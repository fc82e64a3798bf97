import PushSettings
import Store

extension Session {
    /// Reads from the ledger of the state directory, with or without a daemon.
    func reading<Value>(_ read: (LedgerReader) throws(StoreError) -> Value) throws(Failure) -> Value {
        do {
            return try read(try LedgerReader(directory: directories.state))
        } catch {
            let status: ExitStatus =
                switch error.kind {
                case .missing: .noInput
                case .notPermitted: .noPermission
                case .olderSchema, .newerSchema: .badData
                case .inUse, .noSpace, .busy, .corrupt, .failed: .inputOutput
                }
            throw Failure(status, "\(error)")
        }
    }
}
