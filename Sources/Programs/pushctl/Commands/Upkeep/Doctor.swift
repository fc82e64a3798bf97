import PushSettings
import PushViews

extension Command {
    static let doctor = Command(
        name: "doctor", summary: "check the installation, and print a remedy for each problem",
        description: [
            """
            Checks the configuration; the owners and modes of its files, of the state directory and of the sockets; \
            the ledger; the space on the disk and the time of one sync; the clock; the journal; the programs of the \
            handlers with their interpreters, users and sockets; the files of keys and tokens; and the daemon: whether \
            each socket answers, and the problems and cgroups in its status. It lists the other services that have \
            failed. On machines that share a log it also checks the database: settings, synchronous standbys, clock, copies, snapshots, connections, old \
            transactions and idle replication slots. It prints a line for each finding (ok, warning or error), and the \
            remedy under that line.
            """,
            """
            The exit status is 1 when there is an error. Warnings do not change the exit status: a part works now and \
            may fail soon, or this user may not check it. Run the command as root to check every part. Root asks the \
            database as the daemon's user, and with the files that this user can read. The command reads a ledger of \
            at most 1 GiB completely, and only opens a larger ledger. It writes one block into the state directory to \
            time the sync, and removes that block.
            """,
            """
            With --client it checks the connection of a client of FCM or APNs to pushrouter-gateway instead: whether \
            a request of curl(1) to a push host arrives through HTTPS_PROXY and trusts SSL_CERT_FILE, whether the \
            gateway answers, which clients connected, and whether these clients trust its authority, are authorized \
            and send to known paths and tokens. It also names the variables of "pushctl gateway env" that this shell \
            lacks.
            """,
        ],
        operands: .none,
        options: [.json, .quiet, .client, .gatewaySocket],
        examples: [
            Example(line: "pushctl doctor", meaning: "all findings"),
            Example(line: "pushctl doctor --quiet", meaning: "errors and warnings only"),
            Example(line: "pushctl doctor --json", meaning: "for a monitoring system"),
            Example(
                line: "pushctl doctor --client", meaning: "in the shell of a client that does not reach the gateway"),
        ]
    ) { arguments, session throws(Failure) in
        let report = HealthReport(
            arguments.has(.client)
                ? session.clientFindings(arguments[.gatewaySocket])
                : session.healthFacts().findings)
        if arguments.has(.json) {
            session.output.write(document: report.json)
        } else {
            session.output.print(report.text(problemsOnly: arguments.has(.quiet)))
        }
        return report.errors > 0 ? .no : .done
    }
}

extension Option {
    fileprivate static let client = Option(
        "client", .none, "check why a client of FCM or APNs does not reach the gateway")
    fileprivate static let gatewaySocket = Option(
        "gateway", .file,
        "with --client: the gateway's Unix socket (HTTPS_PROXY's gateway, else \(Directories.standardGatewaySocket))")
}
