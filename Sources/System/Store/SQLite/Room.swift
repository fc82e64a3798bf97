import CLinux
import CSQLite
import Glibc

/// Whether a file system has room.
enum Room {
    /// More than one transaction takes, in bytes.
    private static let enough: Int64 = 4 << 20

    /// Whether there is no room, by the disk or by a quota, for a file beside a database: found by trying.
    static func isMissing(beside connection: OpaquePointer?) -> Bool {
        guard let name = sqlite3_db_filename(connection, "main").map({ String(cString: $0) }), !name.isEmpty else {
            return false
        }
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
        return !isThere && (errno == ENOSPC || errno == EDQUOT)
    }
}
