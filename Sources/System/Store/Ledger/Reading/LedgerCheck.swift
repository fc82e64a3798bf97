import Glibc

/// The result of opening and reading a ledger, for administrators.
public enum LedgerCheck: Hashable, Sendable {
    /// There is neither a ledger nor a log: no daemon has used this state directory.
    case none
    /// The whole file was read, and is sound.
    case whole
    /// The ledger can be opened; at this length in bytes the file was not read as a whole.
    case opened(length: Int64)

    /// Opens the ledger of a state directory, with or without a running daemon, and reads the whole file if it has at
    /// most `limit` bytes. During the read the WAL cannot be emptied.
    ///
    /// - Throws: `StoreError`: `lost`, `notPermitted`, `olderSchema`, `newerSchema`, `corrupt` or `failed`.
    public static func check(directory: String, readingAtMost limit: Int64) throws(StoreError) -> LedgerCheck {
        let path = directory + "/ledger.db"
        try LedgerWriter.requireNotLost(path, in: directory)
        let reader: LedgerReader
        do {
            reader = try LedgerReader(directory: directory)
        } catch {
            if error.kind == .missing { return .none }
            throw error
        }
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw StoreError.system("stat", path, errno: errno) }
        guard facts.st_size <= limit else { return .opened(length: Int64(facts.st_size)) }
        try reader.database.requireIntegrity("quick_check")
        return .whole
    }
}

extension Database {
    /// Reads the whole file.
    ///
    /// - Parameter check: the pragma: `quick_check`, or `integrity_check`, which compares indexes with their tables too.
    /// - Throws: `corrupt` with the first fault.
    func requireIntegrity(_ check: StaticString) throws(StoreError) {
        let statement = try prepare("PRAGMA \(check)(1)")
        let verdict = try statement.step() ? statement.text(0) : nil
        guard verdict == "ok" else {
            throw StoreError(.corrupt, message: "the file is damaged: \(verdict ?? "no answer")", context: path)
        }
    }
}
