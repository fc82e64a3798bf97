import PushModel
import PushViews

extension Command {
    static let report = Command(
        name: "report", summary: "show the share of invocations that kept their deadline",
        description: [
            """
            Prints the deadline compliance report. An answer in words comes first: the number of late invocations, \
            their handlers and the reasons. Below it are the number of invocations for each outcome, and the share \
            that kept the deadline, by handler, route and provider. Times are those of invocations that were due: the \
            tracker takes no time. It reads the ledger in the state directory, with or without a daemon. An invocation \
            is due when a handler owed an answer to it; it is missed when it ended as timed_out or expired. Observers \
            have figures of their own. The report lists an invocation that waited in its lane with the number of \
            invocations ahead of it and the longest of these.
            """,
            """
            \(LocalTime.forms) The window selects requests by the time of acceptance; without --since it begins with \
            the ledger.
            """,
            """
            The format html is one page without scripts; junit has a case for each route and handler, and with \
            --baseline for each part that is compared; markdown is for a comment on a pull request; openmetrics has the \
            figures of the window as gauges; csv has one row for each invocation. pushctl(1) lists its columns and the members of the JSON.
            """,
            """
            The objective is that of --fail-under, else Objective= in pushrouterd.conf(5). With an objective the \
            report shows the remaining error budget and its burn rate in the 5 m, 30 m, 1 h, 6 h and 3 d before the \
            end of the window. An alert uses only times of which at least half was recorded. With --fail-under the \
            exit status is 1 when the compliance is below PERCENT, and 0 when no invocation was due.
            """,
            """
            --by takes handler, route, provider, platform, app, callback, outcome, transport, priority, which is as \
            FCM delivered it, and original_priority, as it was sent; the formats text, json, html and markdown show \
            it. --baseline takes the JSON of an earlier report, and these formats name the figures that got worse: the \
            missed and the failed share of the due invocations, and the queue wait and execution time at p50, p90 and \
            p99. The report compares these figures for all invocations and for each handler, route and provider that \
            both reports have. It names a figure only if chance causes such a change in less than one of 100 \
            comparisons, and a time only if it also grew by a tenth and by 1 ms. junit has a case for each part that \
            was compared; the case fails if a figure of the part got worse. The exit status does not change.
            """,
            """
            Gaps of the daemon are times in which no daemon ran, the machine was suspended or the disk stalled, and \
            steps of the clock. A gap after a crash may begin up to 70 seconds too early, at the daemon's last sign of \
            life.
            """,
            """
            --from-journal makes the report from the daemon's entries in the journal, with neither ledger nor \
            daemon: of this machine, or of the files in --journal-directory, such as those of another machine. It \
            reads entries by fields that journald writes itself and no program can forge: _SYSTEMD_UNIT (of \
            --user-unit: _SYSTEMD_USER_UNIT and, of this machine, _UID), and of those the entries whose _EXE is a \
            pushrouterd and whose _SYSTEMD_CGROUP is not that of a handler. A handler without a cgroup of its own \
            that runs a program of that name can forge entries.
            """,
            """
            The journal does not have the invocations in flight, the number of requests without an invocation, and the \
            declines and retries of handlers: the report leaves these figures out, and they are null in JSON. The \
            journal also lacks some outcomes: the daemon leaves out successes beyond 500 a second, a log level leaves \
            out more, and journald deletes old files. Outcomes are numbered, so the report counts the outcomes without \
            an entry, also those across an edge of the window. The daemon writes an entry for each miss and \
            failure, so if it left out successes, the true compliance is at least the share shown. In CSV the columns \
            device, message_id and those of the completion are empty, and rows come in the order of their ends.
            """,
        ],
        operands: .none,
        options: [
            .since, .until, .utc, .format, .json, .crossedBy, .baseline, .failUnder, .failOnMiss, .width,
            .fromJournal, .journalDirectory, .unit, .userUnit,
        ],
        examples: [
            Example(line: "pushctl report --since yesterday", meaning: "for people"),
            Example(line: "pushctl report --json --fail-under 99.9", meaning: "for CI: exit status 1 when not met"),
            Example(line: "pushctl report --format csv --since -1h", meaning: "each invocation of the last hour"),
            Example(line: "pushctl report --format html > report.html", meaning: "a page for a browser"),
            Example(line: "pushctl report --by handler,platform", meaning: "each handler on each platform"),
            Example(line: "pushctl report --since -1d --baseline before.json", meaning: "the figures that got worse"),
            Example(
                line: "pushctl report --from-journal --journal-directory /srv/journal-of-shop-1",
                meaning: "of a journal that was copied from another machine"),
        ]
    ) { arguments, session throws(Failure) in
        try ReportRun(arguments).run(session)
    }
}
