import PushReporting

extension Command {
    static let doctor = Command(
        name: "doctor", summary: "check the installation, and say what to do",
        description: [
            """
            Looks at the configuration, the owners and modes of its files, of the state directory and of the sockets, \
            the ledger, the space on the disk and the time of one sync, the clock, the journal, the programs with \
            their interpreters, users and sockets of the handlers, the files of keys and tokens, and the daemon: whether each socket answers, and what \
            status says of its problems and of cgroups; of machines that share a log also the database: settings, synchronous \
            standbys, clock, copies, snapshots, connections, old transactions and idle replication slots. It prints a line for each finding: ok, warning or error; under \
            it what to do.
            """,
            """
            The exit status is 1 when there is an error. Warnings do not change it: something works, and may not for \
            long, or this user cannot see it. Run it as root to see all. It reads all of a ledger of at most 1 GiB, and \
            only opens a longer one. It writes one block into the state directory to time the sync, and leaves nothing \
            there.
            """,
        ],
        operands: .none,
        options: [.json, .quiet],
        examples: [
            Example(line: "pushctl doctor", meaning: "all findings"),
            Example(line: "pushctl doctor --quiet", meaning: "errors and warnings only; nothing when all is right"),
            Example(line: "pushctl doctor --json", meaning: "for a monitoring system"),
        ]
    ) { arguments, session throws(Failure) in
        let report = HealthReport(session.healthFacts())
        if arguments.has(.json) {
            session.output.write(document: report.json)
        } else {
            session.output.print(report.text(problemsOnly: arguments.has(.quiet)))
        }
        return report.errors > 0 ? .no : .done
    }
}
