import Glibc
import LedgerReports
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

/// The environment of a command: its directories and its output.
final class Session {
    let output: Output
    private let arguments: Arguments

    init(_ arguments: Arguments, output: Output) {
        self.arguments = arguments
        self.output = output
    }

    /// The directories, resolved when the command first asks for one: a command that needs none says nothing of them.
    private(set) lazy var directories = Directories(
        configuration: arguments[.configuration], state: arguments[.stateDirectory], runtime: arguments[.runtime],
        environment: { name in getenv(name).map { String(cString: $0) } },
        development: { DevDirectory.nearest(output.note) })

    /// Whether the configuration is one directory that must exist.
    var requiresConfiguration: Bool { arguments.has(.configuration) || directories.development != nil }

    /// The files of the configuration.
    func configurationSources() throws(UnreadableFile) -> ConfigurationSources {
        try ConfigurationSources(reading: directories.configuration, required: requiresConfiguration)
    }

    /// The configuration, for commands that decide by it like the daemon.
    ///
    /// - Throws: a failure with all errors. Only `verify` reports warnings.
    func settings() throws(Failure) -> Settings {
        try settings(directories.configuration, required: requiresConfiguration)
    }

    /// The configuration in one directory.
    ///
    /// - Throws: a failure with all errors.
    func settings(in directory: String) throws(Failure) -> Settings {
        try settings([directory], required: true)
    }

    /// Asks whether to delete data for good: the user must type the number of items.
    ///
    /// - Parameters:
    ///   - count: the number of items, with `noun` and `plural` as in ``counted(_:_:_:)``.
    ///   - verb: the past participle for the message: `erased`.
    /// - Returns: whether the user typed the number.
    func confirms(_ count: Int, _ noun: String, _ plural: String, are verb: String) -> Bool {
        output.note(
            "\(counted(count, noun, plural)) would be \(verb) permanently; type that number to go on, or use --yes")
        return readLine() == "\(count)"
    }

    /// The command of a bridge's program, as the daemon starts it; `nil`: the program is not installed.
    func bridgeCommand(_ bridge: Bridge) -> Handler.Command? {
        BridgeFile.command(
            of: bridge, configuration: directories.configuration, isRequired: requiresConfiguration, kept: nil)
    }

    private func settings(_ directories: [String], required isRequired: Bool) throws(Failure) -> Settings {
        do {
            return try LoadedConfiguration(reading: directories, required: isRequired).settings
        } catch {
            throw Failure(.configuration, error.lines.joined(separator: "\n"))
        }
    }
}

extension Session {
    /// Reads from the ledger of the state directory, with or without a daemon.
    func reading<Value>(_ read: (LedgerReader) throws(StoreError) -> Value) throws(Failure) -> Value {
        let ledger = try ledger()
        return try Self.reading { () throws(StoreError) in try read(ledger) }
    }

    /// The ledger of the state directory, with all acknowledged requests, with or without a daemon.
    func ledger() throws(Failure) -> LedgerReader {
        // The daemon of these sockets has its ledger elsewhere, and this is another's, or none.
        if arguments[.stateDirectory] == nil, let runtime = arguments[.runtime],
            runtime != Directories.standardRuntime
        {
            output.noteOnce(
                "this reads the ledger of \(directories.state); --state names that of the daemon at \(runtime)")
        }
        return try Self.reading { () throws(StoreError) in
            try LedgerReader.current(directory: directories.state, sync: askForSync)
        }
    }

    /// The time limits for the daemon to bring the ledger up to date, and for its reply, in milliseconds.
    private static let syncTimeout: Duration = .seconds(10)
    private static let answerTimeout = 11_000

    /// Asks the daemon to bring the ledger up to date; `nil` if no daemon can be asked.
    private func askForSync() -> Synced? {
        do {
            let sync = ControlRequest.Operation.sync(timeout: Self.syncTimeout)
            let synced = try connection(for: sync).ask(sync, timeoutMilliseconds: Self.answerTimeout).synced()
            if let follower = synced.follower {
                noteFollower(follower, synced.batchesBehind)
                output.copy = synced
            }
            return synced
        } catch {
            return nil
        }
    }

    /// Prints once whose copy this ledger is: it lacks the leader's latest batches.
    private func noteFollower(_ follower: Synced.Follower, _ batches: Int) {
        let leader = follower.leader.map { "follows \($0)" } ?? "follows, and no machine leads"
        output.noteOnce(
            "\(follower.node) \(leader); this is its copy, \(counted(batches, "batch", "batches")) and "
                + "\(follower.behind.milliseconds) ms behind")
    }

    /// Reads, and turns an error into a failure in this program's words.
    static func reading<Value>(_ read: () throws(StoreError) -> Value) throws(Failure) -> Value {
        do {
            return try read()
        } catch {
            let status: ExitStatus =
                switch error.kind {
                case .missing: .noInput
                case .notPermitted: .noPermission
                case .otherFormat, .olderSchema, .newerSchema: .badData
                case .inUse, .readOnly, .noDescriptor, .noSpace, .logFull, .busy, .exists, .noDirectory, .corrupt,
                    .lost, .displaced, .logDamaged, .fenced, .engineAway, .unprotected, .forked, .otherFleet,
                    .contradiction, .tooLong, .gaveWay,
                    .failed:
                    .inputOutput
                }
            throw Failure(status, message(of: error))
        }
    }

    /// The error, with the remedy for the place of a missing ledger.
    private static func message(of error: StoreError) -> String {
        guard error.kind == .missing else { return "\(error)" }
        if let command = DevDirectory.start(of: error.context) {
            return "\(error.context): \(error.message); run \"\(command)\" once"
        }
        let isOfService = error.context.hasPrefix(Directories(environment: { _ in nil }).state + "/")
        return "\(error)" + (isOfService ? "; or run \"pushctl dev\", and this command in its directory" : "")
    }
}

extension LedgerReader {
    /// Reads the rows of requests page by page. Each page is a transaction of its own, because a reader of the output
    /// may take any time.
    ///
    /// - Parameters:
    ///   - start: only rows accepted at this time or later.
    ///   - end: only rows accepted before this time.
    ///   - last: only numbers above this one.
    ///   - newest: and up to this one.
    ///   - body: called with each row.
    func eachRow(
        from start: WallTime? = nil, to end: WallTime? = nil, after last: SequenceNumber,
        through newest: SequenceNumber, _ body: (LedgerRow) -> Void
    ) throws(Failure) {
        var last = last
        while true {
            let page = try Session.reading { () throws(StoreError) in
                try rows(from: start, to: end, after: last, through: newest, limit: 4096)
            }
            guard let next = page.last?.seq else { return }
            page.forEach(body)
            last = next
        }
    }
}

extension Session {
    /// Becomes the owner of the state directory if this is root: new files in it must belong to its owner.
    func dropPrivilegesToStateOwner() throws(Failure) { try dropPrivileges(toOwnerOf: directories.state) }
}

/// Gives up root's rights for those of a directory's owner.
func dropPrivileges(toOwnerOf directory: String) throws(Failure) {
    var facts = stat()
    guard geteuid() == 0, stat(directory, &facts) == 0, facts.st_uid != 0 else { return }
    // The groups first: only root can change them.
    guard setgroups(0, nil) == 0, setgid(facts.st_gid) == 0, setuid(facts.st_uid) == 0 else {
        throw Failure(.noPermission, "cannot become user \(facts.st_uid): \(errorText(errno))")
    }
    // The user cannot read root's home directory, and libpq looks for certificates in $HOME.
    unsetenv("HOME")
}
