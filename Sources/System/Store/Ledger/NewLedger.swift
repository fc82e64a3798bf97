import Glibc
import LinuxSystem

/// Makes the first ledger of a state directory: it is complete and on the disk, as a draft, before it gets its name.
///
/// A start that ends in between leaves a draft, which the next start removes. A ledger made in its final place would be
/// synced a dozen times and written twice: SQLite cannot know that a part of it is worth nothing.
enum NewLedger {
    /// Makes a ledger if there is none.
    ///
    /// - Parameters:
    ///   - path: the path of the ledger.
    ///   - directory: the directory of the ledger.
    static func make(at path: String, in directory: String) throws(StoreError) {
        let draft = path + ".new"
        _ = try remove([draft, draft + "-wal", draft + "-shm", draft + "-journal"])
        // An explicit mode: requests hold messages to people. SQLite gives the files beside it the same mode.
        guard let file = FileDescriptor(open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)) else {
            throw StoreError.system("open", draft, errno: errno)
        }
        do throws(StoreError) {
            try fill(draft)
            guard fsync(file.rawValue) == 0 else { throw StoreError.sync(draft, errno: errno) }
            try removeLeftovers(of: path, in: directory)
            guard rename(draft, path) == 0 else { throw StoreError.system("rename", draft, errno: errno) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Removes the WAL and journal of a former ledger: SQLite would apply them to the new one.
    static func removeLeftovers(of path: String, in directory: String) throws(StoreError) {
        guard try remove([path + "-wal", path + "-shm", path + "-journal"]) else { return }
        // Syncs the removal first: the disk must not have the new name beside the old WAL.
        try LogDirectory.sync(directory)
    }

    private static func fill(_ path: String) throws(StoreError) {
        let database = try Database(path: path, access: .readWrite)
        try database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY")
        try database.execute(LedgerWriter.layout)
        try Schema.migrate(database, onMigration: {})
        try database.execute("PRAGMA journal_mode = WAL")
    }

    /// - Returns: whether any of the files existed.
    private static func remove(_ paths: [String]) throws(StoreError) -> Bool {
        var hasRemoved = false
        for path in paths {
            if unlink(path) == 0 {
                hasRemoved = true
            } else if errno != ENOENT {
                throw StoreError.system("unlink", path, errno: errno)
            }
        }
        return hasRemoved
    }
}
