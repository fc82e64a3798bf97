import CLinux
import Glibc
import LinuxSystem

extension ProcessCommand {
    /// Starts the program. With its whole input given, the call returns before the exec, and a failed exec shows at the
    /// process's end.
    ///
    /// - Parameters:
    ///   - cgroups: makes a cgroup for the run; `nil` for none.
    ///   - users: the cache of users.
    func start(in cgroups: RunCgroups?, _ users: KnownUsers) throws(SpawnError) -> ChildProcess {
        switch streams {
        case .once(let input, let readsErrors):
            guard let ends = ProgramEnds(sealing: input, readingErrors: readsErrors) else {
                throw SpawnError(errno, starting: self)
            }
            return try start(ends, in: cgroups, users)
        case .conversation(let readsErrors):
            guard let ends = ProgramEnds(readingErrors: readsErrors) else { throw SpawnError(errno, starting: self) }
            return try start(ends, in: cgroups, users)
        }
    }

    private func start(
        _ ends: consuming ProgramEnds, in cgroups: RunCgroups?, _ users: KnownUsers
    ) throws(SpawnError) -> ChildProcess {
        let identity = try identity(users)
        var files: [SharedDescriptor] = []
        for credential in credentials { files.append(try credential.open(for: self)) }
        guard let cgroups else {
            return try start(ends, files, identity, nil, processes: -1)
        }
        let cgroup: NewCgroup
        do { cgroup = try cgroups.begin(self) } catch { throw SpawnError(error, starting: self) }
        do throws(SpawnError) {
            return try start(ends, files, identity, cgroup.run, processes: cgroup.processes.rawValue)
        } catch {
            cgroup.run.end()
            throw error
        }
    }

    private func identity(_ users: KnownUsers) throws(SpawnError) -> UserIdentity? {
        guard let user = confinement.user else { return nil }
        guard let identity = users.identity(of: user) else { throw SpawnError(unknownUser: user, starting: self) }
        // The program already has the user of this process.
        return identity.user == geteuid() ? nil : identity
    }

    private func start(
        _ ends: consuming ProgramEnds, _ credentials: [SharedDescriptor], _ identity: UserIdentity?,
        _ cgroup: RunCgroup?, processes: Int32
    ) throws(SpawnError) -> ChildProcess {
        let memory = SpawnContext(self, credentials, identity)
        LiveRuns.begin(mark)
        let start = SystemClock.monotonicNanoseconds
        do throws(SpawnError) {
            let (processID, descriptor) = try memory.start(ends, cgroup: processes, waits: waits(identity))
            LiveRuns.addChild(processID, mark: mark)
            return ChildProcess(
                processID: processID, mark: mark, startedAt: start, process: FileDescriptor(owning: descriptor),
                cgroup: cgroup, memory: memory, ends: ends.takeParentEnds())
        } catch {
            LiveRuns.end(mark)
            if memory.hasNotJoined { cgroup?.distrustKept() }
            throw error
        }
    }

    /// Returns whether the start waits for the kernel's exec. Three kinds of programs need this. A program that stays
    /// must report at once whether it runs. This process cannot change the oom_score_adj of another user's program
    /// after the exec. With a limit of memory, a shortage before the exec would make the kernel kill every process that
    /// shares the child's memory, and so this one; the kernel makes an exception for vfork only.
    private func waits(_ identity: UserIdentity?) -> Bool {
        if case .conversation = streams { return true }
        return identity != nil || confinement.cgroup.memoryMax != nil
    }
}

extension ProcessCommand.Credential {
    /// The length of a secret at most, in bytes.
    private static let longest = 1 << 20

    /// Copies the file's bytes into a sealed memory file. Any user can open it, but only by a descriptor of the program.
    fileprivate func open(for command: ProcessCommand) throws(SpawnError) -> SharedDescriptor {
        // A FIFO without a writer must not hold up other starts.
        guard let file = FileDescriptor(Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else {
            throw SpawnError(self, errno, starting: command)
        }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SpawnError(self, EINVAL, starting: command)
        }
        var bytes = [UInt8](repeating: 0, count: Self.longest + 1)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { bytes in
                retryingInterrupts {
                    read(file.rawValue, bytes.baseAddress.map { $0 + length }, bytes.count - length)
                }
            }
            guard count >= 0 else { throw SpawnError(self, errno, starting: command) }
            if count == 0 { break }
            length += count
        }
        guard length <= Self.longest else { throw SpawnError(self, EFBIG, starting: command) }
        guard let copy = FileDescriptor(sealing: Array(bytes.prefix(length))) else {
            throw SpawnError(self, errno, starting: command)
        }
        return SharedDescriptor(copy)
    }
}

/// One run of a program: its path and its whole input.
///
/// Each text ends at its first NUL, as all arguments and environment variables do.
public struct ProcessCommand: Sendable {
    /// The environment variable that identifies the run of a process, even after the process left its parents.
    static let markVariable = "PUSH_RUN"

    /// The program's absolute path, then its arguments.
    public var arguments: [String]
    /// The environment; the program gets exactly this and the mark.
    public var environment: [(name: String, value: String)]
    /// The program's working directory, an absolute path.
    public var workingDirectory: String
    /// The program's standard streams.
    public var streams: Streams
    /// The soft limit of open files for the program (`RLIMIT_NOFILE`); `nil` keeps that of this process.
    public var descriptorLimit: UInt64?
    /// The confinement of the program.
    public var confinement: ProcessConfinement
    /// The secrets of the program.
    public var credentials: [Credential] = []
    /// Returns why this process does not see a path, for the message about a failed start; `nil`: nothing hides it. Any
    /// thread may call it.
    public var concealment: @Sendable (String) -> String? = { _ in nil }

    /// A secret: a variable of the environment names a file with a copy of the bytes that the file has at the start.
    public struct Credential: Sendable {
        let variable: String
        let path: String

        /// Joins the parts.
        public init(variable: String, path: String) { (self.variable, self.path) = (variable, path) }
    }

    /// The standard streams of a program.
    public enum Streams: Sendable {
        /// These bytes are its standard input, in a file that can be read again from the start and needs no writer. Its
        /// standard output is a pipe to this process; its standard error is inherited, or such a pipe.
        case once(input: [UInt8], readsErrors: Bool = false)
        /// One socket is both its standard input and its standard output. Its standard error is a pipe to this process,
        /// or /dev/null.
        case conversation(readsErrors: Bool)
    }

    /// The value of `PUSH_RUN` for the program and its descendants, `<owner>:<seq>:<n>`; for a program that stays
    /// `<owner>:<handler>:<number>`. The owner is a state directory: `<state id>@<device>.<file number>`. Two
    /// simultaneous runs with the same mark protect each other's escaped processes.
    public var mark: String

    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments
    ///   - environment: without `PUSH_RUN`
    ///   - workingDirectory: an absolute path
    ///   - standardInput: the bytes on the program's standard input
    ///   - mark: `<owner>:<seq>:<n>`
    public init(
        arguments: [String], environment: [(name: String, value: String)], workingDirectory: String = "/",
        standardInput: [UInt8], mark: String
    ) {
        self.init(
            arguments: arguments, environment: environment, workingDirectory: workingDirectory,
            streams: .once(input: standardInput), mark: mark)
    }

    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments
    ///   - environment: without `PUSH_RUN`
    ///   - workingDirectory: an absolute path
    ///   - streams: its standard streams
    ///   - descriptorLimit: its soft limit of open files; `nil` keeps that of this process
    ///   - confinement: its confinement
    ///   - mark: `<owner>:` and the id of the run
    public init(
        arguments: [String], environment: [(name: String, value: String)], workingDirectory: String = "/",
        streams: Streams,
        descriptorLimit: UInt64? = nil, confinement: ProcessConfinement = ProcessConfinement(), mark: String
    ) {
        precondition(arguments.first?.hasPrefix("/") == true, "a program is named by its absolute path")
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.streams = streams
        self.descriptorLimit = descriptorLimit
        self.confinement = confinement
        self.mark = mark
    }
}

/// Reads `/proc/PID`, as far as its permissions allow.
enum ProcessFiles {
    /// Fields of `/proc/PID/stat`, see proc(5).
    struct Status: Equatable {
        var parent: Int32
        var group: Int32
        /// In clock ticks since boot; together with the process id it identifies one process.
        var startTime: UInt64
        /// Whether it is exiting, or a zombie.
        var isExiting: Bool
        /// In bytes. Nil while it has no environment: in execve, or exiting.
        var environmentLength: UInt64?
    }

    /// The result of looking for a process's mark.
    enum Mark: Equatable {
        case marked(String)
        /// Its environment has no mark.
        case unmarked
        /// Its environment is unreadable: it runs as another user, or is not dumpable.
        case unreadable
        /// It is exiting and has no environment any more, or it is gone.
        case exiting
        /// It is in execve: it had an environment, and will have one.
        case undecided
    }

    static func mark(of process: Int32) -> Mark {
        guard let environment = contents("/proc/\(process)/environ") else {
            return status(of: process)?.isExiting == false ? .unreadable : .exiting
        }
        if let value = mark(in: environment) { return .marked(value) }
        // An empty environment reads like that of a process in execve; the addresses in stat distinguish them.
        guard environment.isEmpty else { return .unmarked }
        guard let status = status(of: process), !status.isExiting else { return .exiting }
        return status.environmentLength == 0 ? .unmarked : .undecided
    }

    static func status(of process: Int32) -> Status? {
        contents("/proc/\(process)/stat").flatMap(status(parsing:))
    }

    /// Returns the value of the first `PUSH_RUN`, which getenv would find.
    static func mark(in environment: [UInt8]) -> String? {
        let prefix = Array("\(ProcessCommand.markVariable)=".utf8)
        let entry = environment.split(separator: 0).first { $0.starts(with: prefix) }
        return entry.map { String(decoding: $0.dropFirst(prefix.count), as: UTF8.self) }
    }

    /// Parses a stat file. The name, its second field, is in parentheses and may contain any bytes: fields count from
    /// the last parenthesis.
    static func status(parsing text: [UInt8]) -> Status? {
        guard let name = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(name + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        func number(_ field: Int) -> UInt64? {
            fields.count > field - 3 ? UInt64(String(decoding: fields[field - 3], as: UTF8.self)) : nil
        }
        guard let parent = number(4), let group = number(5), let flags = number(9), let startTime = number(22),
            let codeStart = number(26), let environmentStart = number(50), let environmentEnd = number(51)
        else { return nil }
        let exitingFlag: UInt64 = 0x4  // PF_EXITING
        return Status(
            parent: Int32(truncatingIfNeeded: parent), group: Int32(truncatingIfNeeded: group), startTime: startTime,
            isExiting: flags & exitingFlag != 0,
            // execve sets the start of the code last. A reader without permission gets 1 for it, and 0 for the
            // environment.
            environmentLength: codeStart == 0 ? nil : environmentEnd &- environmentStart)
    }

    /// Parses the process ids in a `children` file.
    static func processes(parsing text: [UInt8]) -> [Int32] {
        text.split(separator: UInt8(ascii: " ")).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }

    /// Returns the content of the file at a path; nil if it cannot be read.
    static func contents(_ path: String) -> [UInt8]? {
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else { return nil }
        return contents(file)
    }

    /// Returns the content of a file, from its start; nil if it cannot be read.
    static func contents(_ file: borrowing FileDescriptor) -> [UInt8]? {
        var bytes: [UInt8] = []
        let isRead = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { chunk in
            while true {
                let count = pread(file.rawValue, chunk.baseAddress, chunk.count, off_t(bytes.count))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 }
                bytes.append(contentsOf: chunk[..<count])
            }
        }
        return isRead ? bytes : nil
    }
}
