import Glibc
import LinuxSystem
import PushModel
import PushViews
import Store

/// Reads single facts from the system. It writes nothing but a block that is removed, to time a sync.
enum HealthProbe {
    /// The facts of a file, from stat(2), or from lstat(2) for files that must not be links.
    static func file(_ path: String, followingLinks: Bool = true) -> FileFacts {
        var facts = stat()
        guard (followingLinks ? stat(path, &facts) : lstat(path, &facts)) == 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return FileFacts(path, .missing)
            case EACCES: return FileFacts(path, .hidden)
            case let number: return FileFacts(path, .failed(errorText(number)))
            }
        }
        let kind: FileFacts.Kind =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFSOCK: .socket
            case S_IFLNK: .link
            default: .other
            }
        let attributes = FileFacts.Attributes(
            kind, owner: facts.st_uid, group: facts.st_gid, mode: facts.st_mode & 0o7777)
        return FileFacts(path, .found(attributes))
    }

    /// The first bytes of a program; `nil` if they cannot be read.
    static func start(of program: FileFacts) -> ProgramStart? {
        guard case .found(let attributes) = program.condition, attributes.kind == .file,
            let file = FileDescriptor(open(program.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: ProgramStart.length)
        let count = retryingInterrupts { read(file.rawValue, &bytes, bytes.count) }
        return count < 0 ? nil : ProgramStart(Array(bytes[..<count]))
    }

    /// Whether a program is in one of the directories of a `PATH`.
    static func isFound(_ name: String, in path: String) -> Bool {
        path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    /// The account of a user by its number.
    static func account(_ user: UInt32) -> UserAccount {
        guard let entry = getpwuid(user) else { return UserAccount(user: user, groups: [], name: "\(user)") }
        return account(entry.pointee)
    }

    /// The account of a user by its name or number; `nil`: there is none.
    static func account(named name: String) -> UserAccount? {
        let entry = UInt32(name).map { getpwuid($0) } ?? getpwnam(name)
        return entry.map { account($0.pointee) }
    }

    /// The number of a group by its name or number; `nil`: there is none.
    static func group(named name: String) -> UInt32? { UInt32(name) ?? getgrnam(name)?.pointee.gr_gid }

    private static func account(_ entry: passwd) -> UserAccount {
        let name = String(cString: entry.pw_name)
        var groups = [gid_t](repeating: 0, count: 256)
        var count = Int32(groups.count)
        let isWhole = getgrouplist(name, entry.pw_gid, &groups, &count) >= 0
        return UserAccount(
            user: entry.pw_uid, groups: isWhole ? Array(groups.prefix(Int(count))) : [entry.pw_gid], name: name)
    }

    /// The file system of a directory; `nil` if statvfs(2) fails.
    static func disk(_ directory: String) -> HealthFacts.Disk? {
        var facts = statvfs()
        guard statvfs(directory, &facts) == 0 else { return nil }
        return HealthFacts.Disk(
            free: Int64(clamping: facts.f_bavail) * Int64(clamping: facts.f_frsize),
            freeFiles: facts.f_files == 0 ? nil : Int64(clamping: facts.f_favail))
    }

    /// Writes a block into a directory and syncs it; the file has no name, and is gone afterwards.
    static func sync(_ directory: String) -> HealthFacts.Sync {
        let path = "\(directory)/doctor-\(getpid())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard let file = FileDescriptor(descriptor) else {
            return switch errno {
            case EACCES, EPERM: .notPermitted
            case ENOSPC, EDQUOT: .noSpace
            case let number: .failed("\(path): \(errorText(number))")
            }
        }
        unlink(path)
        let block = [UInt8](repeating: 0, count: 4096)
        let start = SystemClock.monotonicNanoseconds
        // write(2) writes a part of the block if there is room for that only.
        let written = write(file.rawValue, block, block.count)
        guard written == block.count, fdatasync(file.rawValue) == 0 else {
            let isFull = written >= 0 && written < block.count || errno == ENOSPC || errno == EDQUOT
            return isFull ? .noSpace : .failed("\(path): \(errorText(errno))")
        }
        return .took(.nanoseconds(SystemClock.monotonicNanoseconds - start))
    }

    /// Longer ledgers are only opened: to read one takes a second or two for each gibibyte, even from the cache.
    private static let ledgerLengthMax: Int64 = 1 << 30

    /// Opens and reads the ledger of a state directory; `nil` if there is none.
    static func ledger(_ directory: String) -> HealthFacts.Ledger? {
        do {
            return switch try LedgerCheck.check(directory: directory, readingAtMost: ledgerLengthMax) {
            case .none: nil
            case .whole: .whole
            case .opened(let length): .opened(length: length)
            }
        } catch {
            if error.kind == .notPermitted { return .notPermitted }
            return .problem("\(error.context): \(error.message)", remedy: error.advice)
        }
    }

    /// Whether a program accepts connections, or datagrams, at a socket.
    static func listener(_ path: String, datagrams: Bool = false) -> HealthFacts.Answer {
        switch SocketProbe.problem(at: path, datagrams: datagrams) {
        case nil: .answered
        case .permissionDenied?: .notPermitted
        case .system(_, _, EAGAIN)?: .silent
        case let problem?: .failed(problem.description)
        }
    }

    /// Whether the daemon serves a socket without a request: it closes a connection that the client has shut down.
    static func inject(_ path: String) -> HealthFacts.Answer {
        answer { () throws(DaemonError) in
            let connection = try DaemonConnection(path, timeoutMilliseconds: Self.patience)
            connection.finishSending()
            _ = try connection.receiveLine(timeoutMilliseconds: Self.patience)
        }
    }

    /// The daemon's status from a socket.
    static func status(_ path: String) -> (HealthFacts.Answer, JSONNode?) {
        var status: JSONNode?
        let answer = answer { () throws(DaemonError) in
            let connection = try DaemonConnection(path, timeoutMilliseconds: Self.patience)
            status = try connection.ask(.status, timeoutMilliseconds: Self.patience).root["status"]
        }
        return (answer, status)
    }

    private static var patience: Int { Int(HealthFacts.Answer.patience.milliseconds) }

    private static func answer(_ ask: () throws(DaemonError) -> Void) -> HealthFacts.Answer {
        do throws(DaemonError) {
            try ask()
            return .answered
        } catch {
            return switch error {
            case .socket(.timedOut): .silent
            case .socket(.permissionDenied): .notPermitted
            default: .failed(error.description)
            }
        }
    }
}
