import LinuxSystem
import PostgreSQL
import PushDaemon
import PushModel
import PushSettings

@main
struct Program {
    private static let service = ServiceProgram(
        "pushrouterd-fleet", help: help, directories: ["--config", "--state", "--runtime"],
        others: StoreCommands.others, flags: StoreCommands.flags)

    static func main() {
        service.main { arguments in
            let options = DaemonOptions(
                directories: service.directories(arguments),
                isConfigurationRequired: arguments.values["--config"] != nil)
            if !arguments.flags.isEmpty || StoreCommands.others.contains(where: { arguments.values[$0] != nil }) {
                // A mistake in a handler or a route must not keep anyone from the state of the pair.
                let loaded = try LoadedConfiguration(
                    reading: options.directories.configuration, required: options.isConfigurationRequired,
                    mainOnly: true)
                return try StoreCommands.run(arguments, loaded)
            }
            let chain = KnownChain()
            return try runFleetDaemon(options) { (settings, node, session) throws(EngineProblem) in
                PostgreSQLEngine(
                    try EngineOptions(
                        settings, node: node, session: session, chain: chain, directory: options.directories.state))
            }
        }
    }

    private static let help = """
        usage: pushrouterd-fleet [--config DIR] [--state DIR] [--runtime DIR]

        Routes push payloads as pushrouterd does, on one of several machines that share a
        log in PostgreSQL ([Store] Log= in pushrouterd.conf). One of them leads; a request is
        acknowledged when the database has committed it. The others follow, and one of
        them leads when the leader has not renewed its lease ([Store] Lease=).

          --config DIR    read configuration from DIR only
                          (default: $CONFIGURATION_DIRECTORY or /etc/pushrouterd,
                          then /run/pushrouterd and /usr/lib/pushrouterd)
          --state DIR     keep this machine's copy of the ledger in DIR
                          (default: $STATE_DIRECTORY or /var/lib/pushrouterd)
          --runtime DIR   make inject.sock, control.sock and read.sock in DIR, where
                          the service manager does not hand them over
                          (default: $RUNTIME_DIRECTORY or /run/pushrouterd)
          --init          create the tables of a new pair in the database of Log=,
                          and exit
          --ledger DIR    with --init: begin the log with the ledger of one machine
                          whose daemon is stopped
          --adopt         with --init: make a new fleet of a database that was
                          restored or cloned, while no machine uses the database;
                          the machines of the first fleet refuse it then
          --status        print the leader, the lag of each copy and the state of
                          the database, and exit; with --json as an object
          --move          have the leader hand over to the machine with the nearest
                          copy, or to NODE with --to NODE; wait until it leads, and exit
          --drain         keep this machine, or NODE with --node NODE, from leading
                          until --drain --undo; a leader hands over. --force drains
                          even if no other machine can lead
          --verify        check the address of the database (Log=), print each error
                          with file, line and parameter, and exit
          --help          print this
          --version       print the version

        On SIGTERM a leader starts no more handlers, and acknowledges requests until its
        running handlers have ended. Then it releases the lease, so that another machine
        leads at once and runs these requests, and exits with 0.

        Exit status: that of pushrouterd, and 75: another machine leads now, or this
        machine set its copy aside twice; after a restart it follows. A command exits
        with 69 if it is refused, with 75 if the leader has not handed over within a
        minute, and with 1 if another machine than NODE leads then, or if --verify finds
        an error.

        "pushctl store init", "status", "move" and "drain" do what the options do.
        """
}

extension EngineOptions {
    /// - Parameters:
    ///   - settings: `[Store]`; its URI was validated when it was read.
    ///   - node: this process.
    ///   - session: the purpose of the session.
    ///   - chain: the chain that all sessions of the process have to do with.
    ///   - directory: the state directory.
    init(
        _ settings: SharedLogSettings, node: NodeIncarnation, session: EngineSession, chain: KnownChain,
        directory: String
    ) throws(EngineProblem) {
        let role: EngineRole =
            switch session {
            case .follow, .lease: .lease
            case .log: .log
            case .read: .read
            case .snapshot: .snapshot
            }
        let time: Duration =
            switch session {
            case .log: max(settings.lease, .seconds(1))
            // Nothing waits for this session, and a part has a million bytes.
            case .snapshot: .seconds(10)
            case .follow, .lease, .read: settings.lease / 3
            }
        self.init(
            address: try ConnectionString(settings.database ?? ""),
            durability: settings.durability == .standby ? .standby : .engine, node: node.node, role: role, time: time,
            chain: chain,
            claim: NameClaim(
                incarnation: node.id, place: .ofThisProcess(directory: directory),
                // A sign is given each second.
                patience: settings.lease + .seconds(2)))
    }
}
