import Glibc
import LinuxSystem
import PushModel

/// The daemon's directory, locked for one process until the end of the value.
///
/// The lock is `flock` on `DIR/lock`, so the kernel releases it when the owner dies, by any cause. The file stays; it
/// holds the owner's process id for the error message of a second daemon.
public struct StateDirectory: ~Copyable, Sendable {
    /// The path of the directory, as given.
    public let path: String
    private let lock: Int32

    /// The device and inode number of the directory, which identify it under any path on this machine. A copy has
    /// others.
    public var place: String {
        var facts = stat()
        let isKnown = stat(path, &facts) == 0
        return isKnown ? "\(facts.st_dev).\(facts.st_ino)" : "gone"
    }

    /// Keeps daemons out of a directory, as long as the descriptor is open, and changes no file.
    ///
    /// - Returns: `nil` if the lock file cannot be opened: then no process is known to hold the lock.
    /// - Throws: `inUse`.
    static func lockUnused(_ path: String) throws(StoreError) -> FileDescriptor? {
        guard let lock = FileDescriptor(open(path + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return nil }
        guard flock(lock.rawValue, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK else { return lock }
        throw inUse(by: owner(lock.rawValue), path)
    }

    private static func inUse(by owner: Int32?, _ path: String) -> StoreError {
        let name = owner.map { "process \($0)" } ?? "another process"
        return StoreError(.inUse(by: owner), message: "the state directory is in use by \(name)", context: path)
    }

    /// Creates the directory if it is missing (mode 0700, its parent must exist) and locks it.
    ///
    /// - Throws: `StoreError`; of the kind `inUse` if another process has the lock, `notPermitted` if another user owns
    ///   the directory or may write in it: such a user could replace the ledger by any file.
    public init(path: String) throws(StoreError) {
        try Self.create(path)
        try Self.checkOwner(path)
        lock = try Self.acquire(path)
        self.path = path
    }

    deinit {
        // close() is not enough: a child between fork and exec still has the descriptor, and with it the lock.
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// Releases the lock at a place that the caller chooses, rather than at the end of the value's scope.
    consuming func unlock() {}

    private static func create(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) == 0 else {
            let number = errno
            var facts = stat()
            guard number != ENOENT || stat(Backup.directory(of: path), &facts) == 0 else {
                throw StoreError(.noDirectory, message: "its parent directory does not exist", context: path)
            }
            guard number == EEXIST else { throw StoreError.system("mkdir", path, errno: number) }
            guard stat(path, &facts) == 0 else {
                throw StoreError(.noDirectory, message: "it is a symbolic link to nothing", context: path)
            }
            guard facts.st_mode & S_IFMT == S_IFDIR else {
                throw StoreError(.noDirectory, message: "it is a file, and no directory", context: path)
            }
            return try syncParent(of: path)
        }
        try syncParent(of: path)
    }

    /// Syncs the parent directory: without this, a power failure may remove a new directory and every acknowledged
    /// request in it. An existing directory may be unsynced as well, if an earlier start ended first or failed to sync.
    private static func syncParent(of path: String) throws(StoreError) {
        let parent = open(path + "/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else {
            // Another user made the directory for this one, in a parent that this one cannot read.
            if errno == EACCES || errno == EPERM { return }
            throw StoreError.system("open", path + "/..", errno: errno)
        }
        defer { close(parent) }
        // EINVAL: this file system has no sync of directories, and needs none.
        guard fsync(parent) == 0 || errno == EINVAL else { throw StoreError.sync(path + "/..", errno: errno) }
    }

    private static func checkOwner(_ path: String) throws(StoreError) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { throw StoreError.system("stat", path, errno: errno) }
        if facts.st_mode & S_IFMT == S_IFLNK, facts.st_uid != 0, facts.st_uid != geteuid() {
            // The owner of the link could point it elsewhere at any time.
            throw StoreError(
                .notPermitted,
                message:
                    "the state directory is a symbolic link of user \(facts.st_uid), and this is user \(geteuid()); "
                    + "name the directory itself, or let root make the link",
                context: path)
        }
        guard stat(path, &facts) == 0 else { throw StoreError.system("stat", path, errno: errno) }
        let reason: String
        if facts.st_uid != geteuid() {
            reason = "the state directory belongs to user \(facts.st_uid), and this is user \(geteuid())"
        } else if facts.st_mode & 0o022 != 0, facts.st_mode & S_ISVTX == 0 {
            // With the sticky bit other users can only add files, and this program checks the owner of each file that
            // it opens.
            reason = "other users may write in the state directory; run chmod go-w on it"
        } else {
            return
        }
        throw StoreError(.notPermitted, message: reason, context: path)
    }

    /// Locks the directory for this process and writes the process id to the lock file.
    private static func acquire(_ path: String) throws(StoreError) -> Int32 {
        let lockPath = path + "/lock"
        let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            guard errno == ELOOP else { throw StoreError.system("open", lockPath, errno: errno) }
            throw StoreError(
                .notPermitted,
                message: "the lock is a symbolic link; find where it leads, and remove it",
                context: lockPath)
        }
        if let reason = objection(toLock: lock) {
            close(lock)
            throw StoreError(.notPermitted, message: reason, context: lockPath)
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            let owner = owner(lock)
            close(lock)
            guard number == EWOULDBLOCK else { throw StoreError.system("flock", lockPath, errno: number) }
            throw inUse(by: owner, path)
        }
        let text = "\(getpid())\n"
        guard ftruncate(lock, 0) == 0, pwrite(lock, text, text.utf8.count, 0) == text.utf8.count else {
            let number = errno
            close(lock)
            throw StoreError.system("write", lockPath, errno: number)
        }
        return lock
    }

    /// Returns what is wrong with the lock file: the process id is written to it, and a user with write access could
    /// keep it locked.
    private static func objection(toLock lock: Int32) -> String? {
        var facts = stat()
        guard fstat(lock, &facts) == 0 else { return "the lock cannot be read: \(errorText(errno))" }
        if facts.st_mode & S_IFMT != S_IFREG { return "the lock is not a regular file; remove it" }
        if facts.st_uid != geteuid() {
            return "the lock belongs to user \(facts.st_uid), and this is user \(geteuid()); remove it, or chown it"
        }
        if facts.st_nlink > 1 {
            return "the lock has another hard link, and that file would be overwritten; remove it"
        }
        if facts.st_mode & 0o022 != 0 { return "other users may write the lock; run chmod go-w on it" }
        return nil
    }

    /// Returns the process id in the lock file; `nil` until the owner has written it, and if that process is gone: a
    /// process that only reads the directory takes the lock and writes no id.
    private static func owner(_ lock: Int32) -> Int32? {
        let text = withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { buffer in
            let count = pread(lock, buffer.baseAddress, buffer.count, 0)
            return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        }
        guard let owner = Int32(text.prefix { $0 != "\n" }), owner > 0, kill(owner, 0) == 0 || errno == EPERM else {
            return nil
        }
        return owner
    }
}

extension StateDirectory {
    /// The bytes of a new ledger and the first segment of its log.
    private static let least = 2 << 20

    /// Returns how much room a start needs to apply the whole log, and how much there is; `nil` if there is enough.
    public static func shortage(in directory: String) -> String? {
        guard let free = DiskSpace.free(in: directory) else { return nil }
        let log = try? LogDirectory(reading: directory, state: UUID128(high: 0, low: 0))?.length()
        // A log of 24 MiB took 45 MiB of WAL, beside a longer ledger.
        let needed = least + 3 * Int(log ?? 0)
        guard free < needed else { return nil }
        return "; \(needed >> 20) MiB free are enough, and \(free >> 20) MiB are free"
    }
}

extension StateDirectory {
    /// How many numbers each start leaves out in a directory whose handlers start early. A crash takes back a request whose
    /// handler has started; no other request may reach the handler under that number.
    public static let numbersLeftOut: Int64 = 1000

    private static func earlyStarts(in directory: String) -> String { directory + "/early-starts" }

    /// Returns how many numbers a start leaves out.
    public static func leftOut(in directory: String) -> Int64 {
        access(earlyStarts(in: directory), F_OK) == 0 ? numbersLeftOut : 0
    }

    /// Notes for later starts that handlers start early; the note is on the disk when this returns.
    public static func noteEarlyStarts(in directory: String) throws(StoreError) {
        let path = earlyStarts(in: directory)
        guard let file = FileDescriptor(open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        guard fsync(file.rawValue) == 0 else { throw StoreError.sync(path, errno: errno) }
        try LogDirectory.sync(directory)
    }
}
