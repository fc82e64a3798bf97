import Glibc
import LinuxSystem
import SettingsFiles

extension Command {
    static let store = Command(
        name: "store", summary: "set up the database of machines that share a log, show or change the leader",
        description: [
            """
            For two or more machines with [Store] Log= in pushrouterd.conf. init creates the tables of a new pair in \
            that database, once, and refuses a database that has them; its role must be allowed to create tables. \
            status shows the leader and its term, the lag of each machine's copy, and the state of the database: its \
            synchronous standbys, its clock, settings that lose data in a power cut. It asks the database, so it works \
            on each machine, with or without a running daemon.
            """,
            """
            move makes the leader hand over to another machine, the nearest or the machine of --to: its running \
            handlers end, then the other machine leads at once. drain keeps a machine (this machine, or NODE) from \
            leading until drain --undo, and makes it hand over if it leads: before an upgrade or a repair. Both wait \
            until the other machine leads and print the time of the change. Both refuse unless another machine runs \
            and is at most a second behind. --force drains without such a machine.
            """,
            """
            init --ledger DIR makes a pair with the ledger of one machine, whose daemon is stopped: the pair continues \
            its ids, events, numbers and unfinished requests. DIR becomes a copy of the pair, and the other machine \
            reads its copy from the database. Do not start pushrouterd on DIR after that: no other copy would have the \
            requests that it accepts. init --adopt makes a new fleet from a database that was restored or cloned on \
            purpose: the machines of the first fleet refuse this database, and each machine of the new fleet begins \
            with an empty state directory. A process of root first changes to the owner of DIR.
            """,
            """
            The command runs pushrouterd-fleet, which is a package of its own: without this package the exit status is \
            69. The exit status is 78 if Log= names no database, and 69 if the database does not answer, or refuses \
            the command. It is 75 if the leader has not handed over within a minute, and 1 if a machine other than \
            that of --to leads then.
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
                meaning: "the same, with the ledger that this machine has"),
            Example(line: "pushctl store status", meaning: "the leader, and the lag of the others"),
            Example(line: "pushctl store move --to router-2", meaning: "router-2 leads next"),
            Example(line: "pushctl store drain router-1", meaning: "before router-1 is taken away"),
            Example(line: "pushctl store drain --undo router-1", meaning: "it may lead again"),
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
        "ledger", .directory, "init: the state directory of one machine, whose ledger the machines continue")
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
