import PushModel
import PushReporting

extension Command {
    static let report = Command(
        name: "report", summary: "show how many invocations kept their deadline",
        description: [
            """
            Prints the deadline compliance report: the outcome of every invocation, and how many of them kept their \
            deadline, by handler, route and provider. It reads the ledger in the state directory, with or without a \
            daemon. An invocation is due when a handler owed an answer to it; it is missed when it ended as timed_out \
            or expired. Observers have figures of their own. An invocation that waited in its lane is listed with the \
            longest one ahead of it.
            """,
            "\(LocalTime.forms) The window is that of acceptance; without --since it begins with the ledger.",
            """
            The format html is one page without scripts; junit has a case for each route and handler; markdown is for \
            a comment on a pull request; openmetrics has the figures of the window as gauges; csv has one row for each \
            invocation. pushctl(1) lists its columns and the members of the JSON.
            """,
            """
            The objective is that of --fail-under, else Objective= in pushrouterd.conf(5). With one the report shows \
            how much of the error budget is left, and how fast it burns in the 5 m, 30 m, 1 h, 6 h and 3 d before the \
            end of the window. With --fail-under the exit status is 1 when the compliance is below PERCENT; when \
            nothing was due it is 0.
            """,
            """
            --by takes handler, route, provider, platform, app, callback, outcome, transport and priority. --baseline \
            takes the JSON of an earlier report. It names a figure that got worse only when chance does as much in \
            less than one of 100 comparisons.
            """,
        ],
        operands: .none,
        options: [
            .since, .until, .utc, .format, .json, .crossedBy, .baseline, .failUnder, .failOnMiss, .width,
        ],
        examples: [
            Example(line: "pushctl report --since yesterday", meaning: "for people"),
            Example(line: "pushctl report --json --fail-under 99.9", meaning: "for CI: exit status 1 when not met"),
            Example(line: "pushctl report --format csv --since -1h", meaning: "each invocation of the last hour"),
            Example(line: "pushctl report --format html > report.html", meaning: "a page for a browser"),
            Example(line: "pushctl report --by handler,platform", meaning: "each handler on each platform"),
            Example(line: "pushctl report --since -1d --baseline before.json", meaning: "what got worse"),
        ]
    ) { arguments, session throws(Failure) in
        try ReportRun(arguments).run(session)
    }
}
