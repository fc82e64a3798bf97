import DaemonClient
import PushModel
import PushRouting
import PushSettings
import Store

extension Session {
    /// Reads from the ledger of the state directory, with or without a daemon.
    func reading<Value>(_ read: (LedgerReader) throws(StoreError) -> Value) throws(Failure) -> Value {
        let ledger = try ledger()
        return try Self.reading { () throws(StoreError) in try read(ledger) }
    }

    /// The ledger of the state directory with all that is acknowledged, with or without a daemon. What a daemon cannot bring
    /// into it for now is read from its log.
    func ledger() throws(Failure) -> LedgerReader {
        try Self.reading { () throws(StoreError) in
            let reader = try LedgerReader(directory: directories.state)
            guard let synced = askForSync(), synced.state == reader.stateIdentity, synced.isComplete else {
                return try LedgerReader.complete(directory: directories.state)
            }
            return reader
        }
    }

    /// How long the daemon may take to bring the ledger up to date, and how long its answer may.
    private static let syncTimeout: Duration = .seconds(10)
    private static let answerTimeout = 11_000

    /// Asks the daemon to bring the ledger up to date; `nil` where none can be asked.
    private func askForSync() -> Synced? {
        do {
            let sync = ControlRequest.Operation.sync(timeout: Self.syncTimeout)
            return try connection(for: sync).ask(sync, timeoutMilliseconds: Self.answerTimeout).synced()
        } catch {
            return nil
        }
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
                case .inUse, .readOnly, .noDescriptor, .noSpace, .logFull, .busy, .exists, .noDirectory, .corrupt,
                    .lost, .logDamaged, .contradiction, .failed:
                    .inputOutput
                }
            throw Failure(status, "\(error)")
        }
    }
}
