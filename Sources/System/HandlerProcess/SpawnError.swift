import CLinux
import Glibc
import LinuxSystem

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
        reason = fault + (isUnseen ? command.concealment.map { "; \($0)" } ?? "" : "")
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
