import CLinux
import Glibc
import LinuxSystem

/// The memory of a child before its exec, while it shares this process's memory: its program and its stack. For one
/// start.
///
/// `@unchecked Sendable` is sound: all of it is written before the child exists. After that the child and the kernel
/// write single words: `is_under_way` says that they are done, and the others are read once the child has exited.
final class SpawnContext: @unchecked Sendable {
    private let command: ProcessCommand
    private let memory: UnsafeMutableRawPointer
    private let start: UnsafeMutablePointer<CLinux_start>
    private let program: UnsafeMutablePointer<CLinux_program>
    /// Room for the descriptors of credentials, and for that of a cgroup.
    private let keptList: UnsafeMutablePointer<Int32>
    /// The descriptors of the credentials, which the program gets under their numbers.
    private let credentials: [SharedDescriptor]

    /// - Parameters:
    ///   - command: the program.
    ///   - credentials: the files of its credentials, in their order.
    ///   - identity: the user of the program; `nil` keeps this process's user.
    init(_ command: ProcessCommand, _ credentials: [SharedDescriptor], _ identity: UserIdentity?) {
        let environment =
            [(name: ProcessCommand.markVariable, value: command.mark)] + command.environment
            + zip(command.credentials, credentials).map { ($0.variable, "/proc/self/fd/\($1.rawValue)") }
        self.credentials = credentials
        let groups = identity?.groups ?? []
        let (words, variables) = (command.arguments.count, environment.count)
        let length =
            Int(CLinux_stack_length) + MemoryLayout<CLinux_program>.stride + MemoryLayout<CLinux_start>.stride
            + (words + 1 + variables + 1) * MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
            + groups.count * MemoryLayout<gid_t>.stride + (credentials.count + 1) * MemoryLayout<Int32>.stride
            + command.workingDirectory.utf8.count + 1
            + command.arguments.reduce(0) { $0 + $1.utf8.count + 1 }
            + environment.reduce(0) { $0 + $1.name.utf8.count + 1 + $1.value.utf8.count + 1 }
        memory = .allocate(byteCount: length, alignment: 16)
        var next = memory + Int(CLinux_stack_length)
        // Descending alignment, so that no padding is needed.
        program = Self.take(1, of: CLinux_program.self, &next)
        let argumentList = Self.take(words + 1, of: UnsafeMutablePointer<CChar>?.self, &next)
        let environmentList = Self.take(variables + 1, of: UnsafeMutablePointer<CChar>?.self, &next)
        start = Self.take(1, of: CLinux_start.self, &next)
        start.initialize(to: CLinux_start())
        let groupList = Self.take(groups.count, of: gid_t.self, &next)
        groupList.initialize(from: groups, count: groups.count)
        keptList = Self.take(credentials.count + 1, of: Int32.self, &next)
        let directory = Self.write(command.workingDirectory, &next)
        let path = next.assumingMemoryBound(to: CChar.self)
        for (place, word) in command.arguments.enumerated() {
            (argumentList + place).initialize(to: Self.write(word, &next))
        }
        (argumentList + words).initialize(to: nil)
        for (place, variable) in environment.enumerated() {
            let start = Self.write(variable.name, endingWith: "=", &next)
            _ = Self.write(variable.value, &next)
            (environmentList + place).initialize(to: start)
        }
        (environmentList + variables).initialize(to: nil)
        let confinement = command.confinement
        program.initialize(
            to: CLinux_program(
                path: path, arguments: argumentList, environment: environmentList, directory: directory, input: -1,
                output: -1, error: -1, cgroup: -1, kept: keptList, kept_count: 0,
                descriptor_limit: confinement.openFilesMax.map(UInt64.init) ?? command.descriptorLimit ?? 0,
                is_hard_limit: confinement.openFilesMax != nil, sets_niceness: confinement.niceness != nil,
                niceness: Int32(confinement.niceness ?? 0), has_no_new_privileges: confinement.hasNoNewPrivileges,
                changes_user: identity != nil, user: identity?.user ?? 0,
                group: identity?.group ?? 0, group_count: groups.count, groups: groupList))
        // A later error needs neither the environment nor the streams.
        var kept = command
        (kept.environment, kept.streams) = ([], .conversation(readsErrors: false))
        self.command = kept
    }

    deinit { memory.deallocate() }

    /// Whether the child no longer uses this memory: its exec has succeeded, or it has exited.
    var isDone: Bool { CLinux_is_done(start) }

    /// Whether the exec has failed. Valid for a child that is done.
    var hasFailed: Bool { start.pointee.error != 0 }

    /// Whether the child could not join its cgroup. Valid for a child that is done.
    var hasNotJoined: Bool { hasFailed && start.pointee.step == .cgroup }

    /// The error of the start; `nil` if there was none. Valid for a child that has exited.
    var failure: SpawnError? {
        let failed = start.pointee
        return failed.error == 0 ? nil : SpawnError(failed.error, at: failed.step, starting: command)
    }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - ends: its standard streams.
    ///   - cgroup: its open cgroup.procs; -1 for none.
    ///   - waits: whether to wait until the exec has succeeded or failed. Otherwise an error is known at the process's
    ///     end.
    /// - Returns: the process id and a pidfd.
    func start(
        _ ends: borrowing ProgramEnds, cgroup: Int32, waits: Bool
    ) throws(SpawnError) -> (processID: Int32, descriptor: Int32) {
        program.pointee.input = ends.input
        program.pointee.output = ends.output
        program.pointee.error = ends.errors
        program.pointee.cgroup = cgroup
        let kept = (credentials.map(\.rawValue) + (cgroup < 0 ? [] : [cgroup])).sorted()
        keptList.initialize(from: kept, count: kept.count)
        program.pointee.kept_count = kept.count
        var processID: pid_t = 0
        var descriptor: Int32 = -1
        let code = CLinux_spawn(&processID, &descriptor, program, start, memory, waits)
        guard code == 0 else { throw failure ?? SpawnError(code, starting: command) }
        return (processID, descriptor)
    }

    private static func take<Value>(
        _ count: Int, of type: Value.Type, _ next: inout UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<Value> {
        defer { next += count * MemoryLayout<Value>.stride }
        return next.bindMemory(to: type, capacity: count)
    }

    private static func write(
        _ text: String, endingWith end: Unicode.Scalar = "\0", _ next: inout UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<CChar> {
        var text = text
        let start = next
        next = text.withUTF8 { bytes in
            if let first = bytes.baseAddress { start.copyMemory(from: first, byteCount: bytes.count) }
            return start + bytes.count
        }
        next.storeBytes(of: UInt8(ascii: end), as: UInt8.self)
        next += 1
        return start.assumingMemoryBound(to: CChar.self)
    }
}

/// The reason why a program could not be started, in words for the operator.
public struct SpawnError: Error, Equatable, CustomStringConvertible {
    /// The path of the program.
    public let program: String
    /// The error number of the system call that failed.
    public let code: Int32
    /// The fault and the advice, without the path of the program.
    public let reason: String

    /// The path, then the reason.
    public var description: String { "cannot start \(program): \(reason)" }

    /// Whether the machine ran short of processes, memory or descriptors: the program itself may be sound.
    var isShortage: Bool {
        [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(code)
    }

    /// - Parameters:
    ///   - code: the error number.
    ///   - step: the step that failed.
    ///   - command: the program.
    init(_ code: Int32, at step: CLinux_step = .program, starting command: ProcessCommand) {
        let program = command.arguments[0]
        self.program = program
        self.code = code
        let confinement = command.confinement
        var invisible: String { invisibleBytes(ofProgram: program).map { ": \($0)" } ?? "" }
        let fault =
            switch step {
            case .program: Self.reason(code) + (code == ENOEXEC ? invisible : "")
            case .interpreter where code == ENOENT:
                "the interpreter that it names (#! line or ELF loader) does not exist" + invisible
            case .interpreter: errorText(code)
            case .directory where [ENOENT, ENOTDIR, EACCES, ELOOP].contains(code):
                "its working directory \(command.workingDirectory) is missing, not a directory, or may not be entered"
            case .directory: "cannot enter its working directory \(command.workingDirectory): \(errorText(code))"
            case .cgroup: "cannot join its cgroup: \(errorText(code))"
            case .descriptors:
                "cannot set the limit of open files to \(confinement.openFilesMax ?? 0) (LimitNOFILE=): \(errorText(code))"
            case .niceness:
                "may not set Nice=\(confinement.niceness ?? 0): \(errorText(code)); a value below the daemon's own "
                    + "needs CAP_SYS_NICE, and setpriority in the unit's SystemCallFilter="
            case .user:
                "may not run as User=\(confinement.user ?? ""): \(errorText(code)); the daemon needs CAP_SETUID and "
                    + "CAP_SETGID (see handler-users.conf)"
            }
        let isUnseen = [.program, .directory].contains(step) && [ENOENT, ENOTDIR, EACCES].contains(code)
        let concealment = isUnseen ? command.concealment(program) ?? command.concealment(command.workingDirectory) : nil
        reason = fault + (concealment.map { "; \($0)" } ?? "")
    }

    /// Makes the error for a user that does not exist.
    init(unknownUser user: String, starting command: ProcessCommand) {
        program = command.arguments[0]
        code = ENOENT
        reason = "there is no user \(user) (User=)"
    }

    /// Makes the error for a credential that could not be read.
    init(_ credential: ProcessCommand.Credential, _ code: Int32, starting command: ProcessCommand) {
        program = command.arguments[0]
        self.code = code
        let fault =
            switch code {
            case EINVAL: "it is no regular file"
            case EACCES: "\(errorText(code)); the daemon's user must be able to read it"
            case EFBIG: "\(errorText(code)); a credential has 1 MiB at most"
            default: errorText(code)
            }
        reason = "cannot read \(credential.path) (Credential=): \(fault)"
    }

    /// Makes the error for a cgroup that could not be made.
    init(_ failure: CgroupFailure, starting command: ProcessCommand) {
        program = command.arguments[0]
        code = failure.code
        reason = "cannot set up its cgroup, \(failure.path): \(errorText(failure.code))"
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR:
            return "no such program"
        case EISDIR:
            return "it is a directory"
        case EACCES:
            return "permission denied: it must be executable, its directories searchable, not mounted noexec"
        case ENOEXEC:
            return "neither a binary for this machine nor a script that begins with #!"
        case E2BIG:
            return "its arguments and environment exceed the system's limit (for each string: 128 KiB)"
        case EAGAIN:
            return "the limit of processes is reached (TasksMax=, ulimit -u)"
        case ETIME:
            return "its deadline came before a thread was free to start it"
        case EMFILE, ENFILE:
            return "the limit of open files is reached (LimitNOFILE=)"
        default:
            return errorText(code)
        }
    }
}
