import Glibc

/// What opening and reading a ledger told, for who looks after it.
public enum LedgerCheck: Hashable, Sendable {
    /// There is none, and no log of one: no daemon has had this state directory.
    case none
    /// All of it was read and found right.
    case whole
    /// It can be opened; not all of it was read, because it has this many bytes.
    case opened(length: Int64)

    /// Opens the ledger of a state directory, beside a daemon or without one, and reads it where it is not longer than
    /// `limit` bytes: for as long the log of the database is not emptied.
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
        try reader.database.requireSound("quick_check")
        return .whole
    }
}

extension Database {
    /// Reads all of the file.
    ///
    /// - Parameter check: the pragma: `quick_check`, or `integrity_check`, which compares indexes with their tables too.
    /// - Throws: `corrupt` with the first fault.
    func requireSound(_ check: StaticString) throws(StoreError) {
        let statement = try prepare("PRAGMA \(check)(1)")
        let verdict = try statement.step() ? statement.text(0) : nil
        guard verdict == "ok" else {
            throw StoreError(.corrupt, message: "the file is damaged: \(verdict ?? "no answer")", context: path)
        }
    }
}
