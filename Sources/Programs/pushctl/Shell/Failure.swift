import PushModel
import PushViews

/// The exit status of the program: 0 done, 1 no, 2 usage, others from sysexits(3).
enum ExitStatus: Int32, CaseIterable {
    /// The command did its work.
    case done = 0
    /// A check failed, an objective was missed, or a request was refused.
    case no = 1
    /// The command line is wrong.
    case usage = 2
    /// `EX_DATAERR`: the input is wrong.
    case badData = 65
    /// `EX_NOINPUT`: an input file cannot be read.
    case noInput = 66
    /// `EX_UNAVAILABLE`: the daemon does not answer.
    case unavailable = 69
    /// `EX_IOERR`: reading or writing failed.
    case inputOutput = 74
    /// `EX_NOPERM`: this user lacks the permission.
    case noPermission = 77
    /// `EX_CONFIG`: the configuration is wrong.
    case configuration = 78

    /// The meaning, for the help.
    var meaning: String {
        switch self {
        case .done: "done"
        case .no: "a check failed, an objective was missed, or a request was refused"
        case .usage: "wrong usage"
        case .badData: "wrong input"
        case .noInput: "no input file, or no ledger"
        case .unavailable: "the daemon is not running"
        case .inputOutput: "reading or writing failed"
        case .noPermission: "not permitted"
        case .configuration: "wrong configuration"
        }
    }

    /// All statuses with their meanings, in one sentence.
    static var list: String { allCases.map { "\($0.rawValue) \($0.meaning)" }.joined(separator: "; ") + "." }
}

/// The reason why a command ends early: the message for the user, and the exit status.
struct Failure: Error {
    let status: ExitStatus
    /// The error and the remedy; each line is printed after the program's name.
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The failure for a wrong command line; `nil` means the program itself.
    static func usage(_ message: String, of command: Command?) -> Failure {
        let subject = command.map { "pushctl \($0.name)" } ?? "pushctl"
        let hint = message.hasSuffix("|- is missing") ? "; - reads standard input" : ""
        return Failure(.usage, "\(message)\(hint)\ntry \"\(subject) --help\"")
    }
}

extension Failure: PayloadFailure {}
