import Glibc
import LinuxSystem
import SettingsFiles

extension Command {
    static let store = Command(
        name: "store", summary: "set up the database of machines that share a log, or show who leads",
        description: [
            """
            For two or more machines with [Store] Log= in pushrouterd.conf. init creates the tables of a new pair in that \
            database, once, and refuses a database that has them; its role must be allowed to create tables. status shows \
            who leads and since which term, how far the copy of each machine is behind, and how the database is: its \
            synchronous standbys, its clock, settings that lose data in a power cut. It asks the database, so it answers on \
            each machine, whether a daemon runs there or not.
            """,
            """
            The command runs pushrouterd-fleet, which is a package of its own: without that the exit status is 69. \
            It is 78 where Log= names no database, and 69 where the database does not answer or refuses.
            """,
        ],
        operands: Operands(usage: "init|status", count: 1...1, words: StoreOrder.allCases.map(\.rawValue)),
        options: [.json],
        examples: [
            Example(line: "pushctl store init", meaning: "once, before the first machine starts"),
            Example(line: "pushctl store status", meaning: "who leads, and how far the others are"),
        ]
    ) { arguments, session throws(Failure) in
        let word = arguments.operands[0]
        guard let order = StoreOrder(rawValue: word) else {
            throw arguments.usageFailure(
                "\(word): one of \(StoreOrder.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if order == .`init`, arguments.has(.json) { throw arguments.usageFailure("--json is for store status") }
        var words = ["--\(order.rawValue)"]
        if arguments.has(.json) { words.append("--json") }
        if let directory = arguments[.configuration] { words += ["--config", directory] }
        throw replaceProcess(with: "pushrouterd-fleet", words)
    }
}

/// A command for the database. The raw values are the words of the command line, and the options of the program.
private enum StoreOrder: String, CaseIterable {
    case `init`, status
}

/// Runs a program that is installed as the daemon's programs are, in place of this one.
///
/// - Returns: why it does not run.
private func replaceProcess(with program: String, _ words: [String]) -> Failure {
    guard let path = BridgeFile.places(of: program).first(where: { access($0, X_OK) == 0 }) else {
        return Failure(.unavailable, "\(program) is not installed: install the package \(program)")
    }
    var arguments = ([path] + words).map { strdup($0) }
    arguments.append(nil)
    // Returns only where it fails.
    execve(path, arguments, environ)
    return Failure(.unavailable, "\(path): \(errorText(errno))")
}
