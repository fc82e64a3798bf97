import Glibc
import LinuxSystem

extension Command {
    static let store = Command(
        name: "store", summary: "set up the database of a pair, and show or change the leader",
        description: [
            """
            For two or more machines with [Store] Log= in pushrouterd.conf. init creates the tables of a new pair in \
            that database, once, and refuses a database that has them; its role must be allowed to create tables. \
            status shows the leader and its term, the lag of each machine's copy, and the state of the database: its \
            synchronous standbys, its clock, and settings that lose data in a power cut. status asks the database, so \
            it works on each machine, with or without a daemon.
            """,
            """
            move has the leader hand over to another machine, the one with the smallest lag or the one of --to. The \
            running handlers of the leader end, then the other machine leads at once. drain keeps a machine (this one, \
            or NODE) from leading until drain --undo, for an upgrade or a repair; a machine that leads hands over. \
            Both wait until the other machine leads, and print the duration. move refuses unless another machine runs \
            and is at most a second behind. So does drain, except for a machine that follows a leader. --force drains \
            nevertheless.
            """,
            """
            init --ledger DIR makes the pair from the ledger of one machine whose daemon is stopped: ids, events, \
            numbers and unfinished invocations continue. DIR becomes a copy, and the other machine reads its copy from \
            the database. Do not start pushrouterd on DIR after that: the requests that it accepted alone would be in \
            no other copy. init --adopt deliberately makes a new fleet of a restored or cloned database: the machines \
            of the first fleet refuse that database, and each machine of the new fleet begins with an empty state \
            directory. Root becomes the owner of DIR first.
            """,
            """
            The command runs pushrouterd-fleet, which is a package of its own. The exit status is 69 if that package \
            is missing, the database does not answer, or the command is refused; 78 if Log= names no database; 75 if \
            the leader has not handed over within a minute; and 1 if another machine than that of --to leads then, or \
            if a line of status is an error.
            """,
        ],
        operands: Operands(
            usage: "\(StoreOrder.allCases.map(\.rawValue).joined(separator: "|")) [NODE]", count: 1...2,
            words: StoreOrder.allCases.map(\.rawValue)),
        options: [.ledger, .adopt, .json, .successor, .undoDraining, .forceDraining],
        examples: [
            Example(line: "pushctl store init", meaning: "once, before the first machine starts"),
            Example(
                line: "pushctl store init --ledger /var/lib/pushrouterd",
                meaning: "the same, with the ledger of this machine"),
            Example(line: "pushctl store status", meaning: "the leader, and the lag of the other machines"),
            Example(line: "pushctl store move --to router-2", meaning: "router-2 leads next"),
            Example(line: "pushctl store drain router-1", meaning: "before router-1 is shut down"),
            Example(line: "pushctl store drain --undo router-1", meaning: "router-1 may lead again"),
        ]
    ) { arguments, session throws(Failure) in
        let word = arguments.operands[0]
        guard let order = StoreOrder(rawValue: word) else {
            throw arguments.usageFailure(
                "\(word): one of \(StoreOrder.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        var words = ["--\(order.rawValue)"]
        for (option, itsOrder) in StoreOrder.options where arguments.has(option) {
            guard itsOrder == order else {
                throw arguments.usageFailure("--\(option.name) is for store \(itsOrder.rawValue)")
            }
            if option == .ledger, let directory = arguments[option] { try dropPrivileges(toOwnerOf: directory) }
            words.append("--\(option.name)")
            if option.takesValue, let value = arguments[option] { words.append(value) }
        }
        if arguments.operands.count > 1 {
            guard order == .drain else { throw arguments.usageFailure("NODE is for store drain") }
            words += ["--node", arguments.operands[1]]
        }
        if let directory = arguments[.configuration] { words += ["--config", directory] }
        throw becomeFleetProgram(words)
    }
}

extension Option {
    fileprivate static let ledger = Option(
        "ledger", .directory, "init: the state directory of the machine whose ledger the pair takes over")
    fileprivate static let adopt = Option(
        "adopt", .none, "init: make a new fleet of a database that was restored or cloned")
}

/// A command for the database. The raw values are the words of the command line, and the options of the program.
private enum StoreOrder: String, CaseIterable {
    case `init`, status, move, drain

    /// The options, each with the only command that takes it.
    static let options: [(Option, StoreOrder)] = [
        (.ledger, .`init`), (.adopt, .`init`), (.json, .status), (.successor, .move), (.undoDraining, .drain),
        (.forceDraining, .drain),
    ]
}

/// Runs pushrouterd-fleet in place of this program.
///
/// - Returns: why it does not run.
private func becomeFleetProgram(_ words: [String]) -> Failure {
    let name = FleetProgram.name
    guard let path = FleetProgram.path else {
        return Failure(.unavailable, "\(name) is not installed: install the package \(name)")
    }
    var arguments = ([path] + words).map { strdup($0) }
    arguments.append(nil)
    // execve(2) returns only on failure.
    execve(path, arguments, environ)
    return Failure(.unavailable, "\(path): \(errorText(errno))")
}
