import Glibc
import LinuxSystem

/// The first ledger of a state directory: made whole beside its place, and on the disk before it has its name.
///
/// A start that ends in between leaves a file that the next one takes away. Made in its place it would be synced a dozen
/// times, and written twice: SQLite cannot know that nothing of it is worth anything before all of it is there.
enum NewLedger {
    /// Makes it where there is none.
    ///
    /// - Parameters:
    ///   - path: where it goes.
    ///   - directory: the directory of that.
    static func make(at path: String, in directory: String) throws(StoreError) {
        let draft = path + ".new"
        _ = try remove([draft, draft + "-wal", draft + "-shm", draft + "-journal"])
        // With a mode of our own: requests hold what people were sent. SQLite gives the files beside it the same mode.
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

    /// Removes what a ledger that is gone has left: SQLite would take it for the new one's.
    static func removeLeftovers(of path: String, in directory: String) throws(StoreError) {
        guard try remove([path + "-wal", path + "-shm", path + "-journal"]) else { return }
        // The disk may never have the new name beside the old WAL.
        try LogDirectory.sync(directory)
    }

    private static func fill(_ path: String) throws(StoreError) {
        let database = try Database(path: path, access: .readWrite)
        try database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY")
        try database.execute(LedgerWriter.layout)
        try Schema.migrate(database, onMigration: {})
        try database.execute("PRAGMA journal_mode = WAL")
    }

    /// - Returns: whether any of the files was there.
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
