import Glibc
import LinuxSystem

/// The file of SQLite's WAL, for work that SQLite does not do.
enum WALFile {
    /// The length of the WAL of a state directory's ledger, in bytes; 0 if there is none.
    static func length(in directory: String) -> Int {
        var facts = stat()
        return stat(directory + "/ledger.db-wal", &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// Rewrites a WAL with its own bytes, and syncs it.
    ///
    /// After a failed sync the page cache may hold data, marked as written, that the disk lacks. SQLite would trust the
    /// cache and copy the data to the database; a power cut during the copy would tear the database. To be called
    /// before the database is opened, by the one process that may write it; readers see the same bytes throughout.
    static func writeAgain(_ path: String) throws(StoreError) {
        guard let file = FileDescriptor(open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)) else {
            if errno == ENOENT { return }
            throw StoreError.system("open", path, errno: errno)
        }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { memory.deallocate() }
        var offset = 0
        while true {
            let count = retryingInterrupts { pread(file.rawValue, memory.baseAddress, memory.count, off_t(offset)) }
            if count == 0 { break }
            guard count > 0 else { throw StoreError.system("read", path, errno: errno) }
            let problem = file.writeAll(UnsafeRawBufferPointer(rebasing: memory[..<count]), at: offset)
            guard problem == 0 else { throw StoreError.system("write again", path, errno: problem) }
            offset += count
        }
        guard offset == 0 || fdatasync(file.rawValue) == 0 else { throw StoreError.sync(path, errno: errno) }
    }
}
