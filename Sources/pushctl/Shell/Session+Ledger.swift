import PushSettings
import Store

extension Session {
    /// Reads from the ledger of the state directory, with or without a daemon.
    func reading<Value>(_ read: (LedgerReader) throws(StoreError) -> Value) throws(Failure) -> Value {
        let ledger = try ledger()
        return try Self.reading { () throws(StoreError) in try read(ledger) }
    }

    /// The ledger of the state directory, with or without a daemon.
    func ledger() throws(Failure) -> LedgerReader {
        try Self.reading { () throws(StoreError) in try LedgerReader(directory: directories.state) }
    }

    /// Reads, and says what was wrong in the words of this program.
    static func reading<Value>(_ read: () throws(StoreError) -> Value) throws(Failure) -> Value {
        do {
            return try read()
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
