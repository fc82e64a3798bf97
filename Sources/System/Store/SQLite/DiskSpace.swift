import CLinux
import CSQLite
import Glibc

/// Checks for free space in a file system.
enum DiskSpace {
    /// The space to test for, in bytes: more than one transaction takes.
    private static let enough: Int64 = 4 << 20

    /// Tests with `fallocate` on a scratch file whether a database or its WAL can grow. Returns `nil` if there is room,
    /// otherwise the `errno`: for a full disk, a quota or the limit of a file's length.
    static func shortage(beside connection: OpaquePointer?) -> Int32? {
        guard let name = sqlite3_db_filename(connection, "main").map({ String(cString: $0) }), !name.isEmpty else {
            return nil
        }
        if isAtLimit(name) || isAtLimit(name + "-wal") { return EFBIG }
        let path = name + "-room"
        unlink(path)
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        defer {
            if file >= 0 {
                close(file)
                unlink(path)
            }
        }
        let isThere = file >= 0 && CLinux_allocate(file, enough) == 0
        let number = errno
        return !isThere && StoreError.isOutOfSpace(number) ? number : nil
    }

    /// Returns whether a file is nearly as long as RLIMIT_FSIZE allows.
    private static func isAtLimit(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && UInt64(facts.st_size) + UInt64(enough) > fileLengthMax
    }

    /// The length that RLIMIT_FSIZE allows a file, in bytes.
    static var fileLengthMax: UInt64 {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : .max
    }

    /// Checks that a database's directory has room for so many bytes, and that SQLite's directory for temporary files
    /// has as much: twice as much if both are on one file system.
    ///
    /// - Throws: `noSpace`, with the required and the free space.
    static func require(_ length: Int, in directory: String) throws(StoreError) {
        let other = temporaryDirectory
        let isShared = try other.map { (other) throws(StoreError) in try device(other) } == device(directory)
        try require(length, isShared ? 2 : 1, in: directory)
        if let other, !isShared { try require(length, 1, in: other) }
    }

    private static func require(_ length: Int, _ times: Int, in directory: String) throws(StoreError) {
        guard let free = free(in: directory) else { throw StoreError.system("statvfs", directory, errno: errno) }
        guard free <= times * length else { return }
        throw StoreError(
            .noSpace,
            message: "rewriting the ledger needs \(times * length >> 20) MiB, and \(free >> 20) MiB are free",
            context: directory)
    }

    /// Returns the free bytes of a directory's file system; `nil` with `errno` if statvfs(2) fails.
    static func free(in directory: String) -> Int? {
        var facts = statvfs()
        guard statvfs(directory, &facts) == 0 else { return nil }
        return Int(facts.f_bavail) * Int(facts.f_frsize)
    }

    private static func device(_ directory: String) throws(StoreError) -> dev_t {
        var facts = stat()
        guard stat(directory, &facts) == 0 else { throw StoreError.system("stat", directory, errno: errno) }
        return facts.st_dev
    }

    /// The directory in which SQLite puts temporary files
    /// (https://www.sqlite.org/tempfiles.html#temporary_file_storage_locations); `nil` if there is none.
    private static var temporaryDirectory: String? {
        let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { (name: String) in getenv(name).map { String(cString: $0) }
        }
        return (named + ["/var/tmp", "/usr/tmp", "/tmp"]).first { path in
            var facts = stat()
            return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR && access(path, W_OK | X_OK) == 0
        }
    }
}
