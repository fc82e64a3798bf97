import PostgreSQL
import PushDaemon
import PushFleet
import PushModel
import PushSettings
import ServiceProgram
import SettingsFiles

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
                let loaded = try LoadedConfiguration(
                    reading: options.directories.configuration, required: options.isConfigurationRequired)
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
          --init          set up the database that Log= names, and exit
          --ledger DIR    with --init: begin the log with the ledger of one machine,
                          whose daemon is stopped
          --adopt         with --init: make a new fleet of a database that was
                          restored or cloned; the first fleet's machines refuse it
          --status        show who leads, how far the copies are and how the database
                          is, and exit; with --json as an object
          --move          have the leader hand over to the machine that is nearest,
                          or to NODE with --to NODE; wait until it leads, and exit
          --drain         keep this machine, or NODE with --node NODE, from leading
                          until --drain --undo; a leader hands over. --force drains
                          even if no other machine could lead
          --verify        check the database's address (Log=): print what is wrong with it, with
                          file, line and parameter, and exit; pushctl verify does it, too
          --help          print this
          --version       print the version

        On SIGTERM a leader starts no handler any more, acknowledges requests until those
        that run have ended, and gives the lease back, so that another machine leads at
        once and runs them; then it exits 0.

        Exit status: as pushrouterd's; and 75: another machine leads now, or this
        machine's copy was set aside: after a restart it follows. A command exits with 69
        if it is refused, 75 if the leader has not handed over within a minute, and 1 if
        a machine other than NODE leads then, or --verify finds an error.

        "pushctl store init", "status", "move" and "drain" do what the options do.
        """
}

extension EngineOptions {
    /// - Parameters:
    ///   - settings: `[Store]`; its URI was validated when it was read.
    ///   - node: this process.
    ///   - session: what the session is for.
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
