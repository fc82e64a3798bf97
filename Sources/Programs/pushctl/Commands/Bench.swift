import PushModel
import PushReporting

extension Command {
    static let bench = Command(
        name: "bench", summary: "send many requests, and measure the acknowledgements",
        description: [
            """
            Sends the requests of each FILE, one after the other and again from the first, as fast as the pipelines \
            let or with --rate, and prints the accepted requests a second, the time of acknowledgements, the refusals \
            by code, and from the ledger, if this user may read it, the outcomes of the requests. A FILE has the form \
            that inject takes; without a FILE each request delivers a small data map. An acknowledged request is on \
            disk.
            """,
            """
            The requests are real. Routes and handlers get them, the tracker counts them, the ledger keeps them. So the \
            command asks first, unless --yes is given or the sockets are below /tmp, /var/tmp or TMPDIR, as those of a \
            daemon of one's own are: pushrouterd --state /tmp/state --runtime /tmp/run.
            """,
            """
            Without --rate latency counts from the time of sending: with full pipelines it is mostly the wait for \
            earlier requests, so a figure for one request at a time needs --pipeline 1. With --rate latency counts \
            from the planned time of sending: it includes the wait that a slow daemon causes (no coordinated \
            omission). The command reports requests that were due and found no room as overdue; then latencies would \
            have been even longer.
            """,
            """
            Each request has an id of its own, so that the daemon looks the id up, as it does for producers that send \
            again after an error; with --no-ids requests have no id, and the command shows no outcomes. With --device \
            all Android deliveries share a lane in device mode. At its end the command waits up to 10 s for replies \
            and 15 s for outcomes. SIGINT ends it with the figures so far, and so does a minute without a reply. The \
            exit status is 1 when something was refused, overdue or got no reply.
            """,
        ],
        operands: Operands(usage: "[FILE|-]...", count: 0...Int.max),
        options: [
            .connections, .pipeline, .benchDuration, .count, .rate, .withIDs, .withoutIDs, .platform, .transport, .app,
            .device, .externalID, .appState, .unasked, .json,
        ],
        examples: [
            Example(
                line: "pushctl bench --rate 500 --duration 1min --app com.example.app push.json",
                meaning: "the result of 500 requests a second"),
            Example(line: "pushctl bench --connections 4 --pipeline 256 --yes", meaning: "the maximum rate"),
            Example(line: "pushctl bench --pipeline 1 --count 1000", meaning: "the time of a single request"),
        ]
    ) { arguments, session throws(Failure) in
        let plan = try BenchPlan(arguments, session)
        guard arguments.has(.unasked) || plan.isForScratch || plan.confirm(session.output) else {
            session.output.note("nothing was sent")
            return .no
        }
        var run = try BenchRun(plan)
        var figures = try run.run()
        BenchOutcomes(plan, run.signals).read(into: &figures, session)
        if arguments.has(.json) {
            session.output.write(document: figures.json)
        } else {
            session.output.print(figures.text)
        }
        return figures.isGood ? .done : .no
    }
}
