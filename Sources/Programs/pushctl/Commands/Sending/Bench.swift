import PushModel
import PushViews

extension Command {
    static let bench = Command(
        name: "bench", summary: "send many requests, and measure their rate and latency",
        description: [
            """
            Sends the requests of each FILE one after the other, and begins again after the last, as fast as the \
            pipelines allow or at --rate. The command prints the accepted requests a second, the latency of the \
            acknowledgements and the number of refused requests by error code. If this user may read the ledger, it \
            also prints the outcomes of the requests. A FILE has a form that inject takes; without FILE each request \
            delivers a small data map. An acknowledged request is on disk.
            """,
            """
            The requests are real: routes and handlers get them, the tracker counts them, the ledger keeps them. The \
            command therefore asks first, unless --yes is given or the sockets are below /tmp, /var/tmp or TMPDIR. A \
            daemon for a test has its sockets there: pushrouterd --state /tmp/state --runtime /tmp/run.
            """,
            """
            Without --rate the latency of a request counts from its sending. With full pipelines the latency is mostly \
            the wait behind earlier requests; --pipeline 1 measures one request at a time. With --rate the latency \
            counts from the scheduled time of the request, so it includes the delay behind a slow request (no \
            coordinated omission). The report counts a request as overdue that was due and found no room in a \
            pipeline; latencies with the overdue requests would be longer still.
            """,
            """
            Each request has an id of its own, and the daemon looks that id up among the known ids, as it does for \
            producers that send again after an error. --no-ids leaves the ids out; the report then has no outcomes. \
            With --device all Android deliveries share a lane in device mode. At its end the command waits up to 10 s \
            for replies and 15 s for outcomes. SIGINT, or a minute without a reply, ends the command early; it prints \
            the figures up to that time. The exit status is 1 when a request was refused, was overdue or got no reply.
            """,
        ],
        operands: Operands(usage: "[FILE|-]...", count: 0...Int.max),
        options: [
            .connections, .pipeline, .benchDuration, .count, .rate, .withoutIDs, .platform, .transport, .app,
            .device, .externalID, .appState, .unasked, .json,
        ],
        examples: [
            Example(
                line: "pushctl bench --rate 500 --duration 1min --app com.example.app push.json",
                meaning: "the latency at 500 requests a second"),
            Example(
                line: "pushctl bench --connections 4 --pipeline 256 --yes", meaning: "the highest rate of requests"),
            Example(line: "pushctl bench --pipeline 1 --count 1000", meaning: "the latency of one request at a time"),
        ]
    ) { arguments, session throws(Failure) in
        let plan = try BenchPlan(arguments, session)
        guard arguments.has(.unasked) || plan.isForScratch || plan.confirm(session.output) else {
            session.output.note("no request was sent")
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
