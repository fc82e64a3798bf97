import Glibc
import LinuxSystem
public import PushModel

/// Files that were moved away in a state directory, for people. They are never read again. Old copies of a shared log are
/// removed; nothing else is.
public enum SetAside {
    /// The beginning of the directories' names; milliseconds since 1970 follow.
    private static let prefix = "set-aside-"
    /// The end of the name of a directory with a copy of a shared log: the database and other copies have its rows.
    private static let copySuffix = "-copy"

    /// The directories in a state directory to which something was moved.
    public static func list(in directory: String) -> [String] {
        guard let entries = opendir(directory) else { return [] }
        defer { closedir(entries) }
        var paths: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(prefix) || name.hasPrefix("log.set-aside-") { paths.append("\(directory)/\(name)") }
        }
        return paths.sorted()
    }

    /// Moves ledger and log to a new directory `set-aside-MILLISECONDS`.
    ///
    /// SQLite discards a WAL without its database, so a crash between two of these moves cannot leave a false ledger.
    ///
    /// - Parameter suffix: the end of the directory's name.
    /// - Returns: the path of the new directory; `nil`: there was no file to move.
    static func moveAll(in directory: String, at now: WallTime, suffix: String = "") throws(StoreError) -> String? {
        let names = ["fleet", "fleet.left", "log", "ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db-journal"]
        let present = names.filter { access("\(directory)/\($0)", F_OK) == 0 || errno != ENOENT }
        guard !present.isEmpty else { return nil }
        let place = "\(directory)/\(prefix)\(now.milliseconds)\(suffix)"
        guard mkdir(place, 0o700) == 0 else { throw StoreError.system("mkdir", place, errno: errno) }
        for name in present where rename("\(directory)/\(name)", "\(place)/\(name)") != 0 {
            throw StoreError.system("rename", "\(directory)/\(name)", errno: errno)
        }
        try LogDirectory.sync(place)
        return place
    }

    /// Moves away a copy of a shared log that is not a prefix of the log, so that the next start fetches another.
    ///
    /// - Returns: the new directory.
    public static func moveCopy(in directory: String, at now: WallTime) throws(StoreError) -> String {
        let place = try moveAll(in: directory, at: now, suffix: copySuffix)
        try LogDirectory.sync(directory)
        return place ?? directory
    }

    /// Removes the copies of a shared log that were moved away longer ago than a time, but for the newest.
    ///
    /// - Returns: those that are gone.
    public static func removeOldCopies(
        in directory: String, olderThan time: Duration, at now: WallTime
    ) throws(StoreError) -> [String] {
        let copies = list(in: directory).compactMap { path -> (path: String, at: Int64)? in
            let name = path.dropFirst(directory.utf8.count + 1)
            guard name.hasPrefix(prefix), name.hasSuffix(copySuffix) else { return nil }
            return Int64(name.dropFirst(prefix.utf8.count).dropLast(copySuffix.utf8.count)).map { (path, $0) }
        }
        let old = copies.sorted { $0.at < $1.at }.dropLast().filter { now.milliseconds - $0.at > time.milliseconds }
        for copy in old { try remove(copy.path) }
        return old.map(\.path)
    }

    /// Removes a directory that has files, and directories of files.
    private static func remove(_ path: String) throws(StoreError) {
        guard let entries = opendir(path) else { throw StoreError.system("opendir", path, errno: errno) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        closedir(entries)
        for name in names {
            let inner = "\(path)/\(name)"
            // A directory is no file to unlink(2), on Linux; a link is removed, and not followed.
            guard unlink(inner) != 0 else { continue }
            guard errno == EISDIR else { throw StoreError.system("unlink", inner, errno: errno) }
            try remove(inner)
        }
        guard rmdir(path) == 0 else { throw StoreError.system("rmdir", path, errno: errno) }
    }

    /// Moves ledger and log away where they are none of this program's format, so that a start begins new ones.
    ///
    /// - Returns: the new directory and the reason; `nil` if there are no files, or they have this program's format, or
    ///   they are damaged.
    static func moveOtherFormat(
        in directory: String, at now: WallTime
    ) throws(StoreError) -> RecoverySummary.SetAside? {
        guard let reason = try objection(toFormatOf: directory), let place = try moveAll(in: directory, at: now) else {
            return nil
        }
        try LogDirectory.sync(directory)
        return RecoverySummary.SetAside(kind: .otherFormat, path: place, reason: reason)
    }

    /// Returns the reason why ledger and log are not of this program's format; `nil` if they are, or if neither exists.
    private static func objection(toFormatOf directory: String) throws(StoreError) -> String? {
        let path = "\(directory)/ledger.db"
        // https://www.sqlite.org/fileformat.html#the_database_header
        guard let header = start(of: path, count: 100), !header.isEmpty else {
            return try LogDirectory.isOtherFormat(in: directory)
                ? "the log has another format than this program's, and there is no ledger" : nil
        }
        guard header.count == 100, header.starts(with: "SQLite format 3\0".utf8) else { return nil }
        let application = header[68..<72].reduce(0) { $0 << 8 | Int64($1) }
        guard application != LedgerSchema.applicationID else { return nil }
        return "the ledger has the application_id \(application), not \(LedgerSchema.applicationID): "
            + "it was written by a version before 1.0.0, or by another program"
    }

    /// Returns the first bytes of a regular file; `nil` if it does not exist or cannot be read.
    static func start(of path: String, count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        var facts = stat()
        guard let file = FileDescriptor(descriptor), fstat(file.rawValue, &facts) == 0,
            facts.st_mode & S_IFMT == S_IFREG
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = retryingInterrupts { pread(file.rawValue, &bytes, count, 0) }
        return taken < 0 ? nil : Array(bytes[..<taken])
    }
}
