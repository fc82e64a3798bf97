import PushModel
import PushRouter
import PushSettings
import PushViews

extension Command {
    static let simulate = Command(
        name: "simulate", summary: "run a scenario under virtual time, without a daemon",
        description: [
            """
            Reads requests, one a line, as inject.sock takes them. Each has "at" (RFC 3339 or Unix milliseconds), and \
            they are in the order of their times. "payload_file":"push.json" stands in place of a payload: a file with \
            one payload, beside the scenario; an .apns file is for iOS. Prints one JSON object for each invocation, \
            each analytics event and each state of an entry of custom data (queued, pending, flushed, rejected), in \
            the order in which they are decided; and one object of type interaction when an interaction found the push \
            that it waited for, or stopped waiting. Each has "at" in milliseconds, as the input has it; "time" of an \
            event is in the seconds of Braze's form. After the last line the clock runs on until no work is pending. A \
            day takes milliseconds, and the same input gives the same bytes.
            """,
            """
            A request may say how its handlers behave: "script":{"takes_ms":9500,"exit":0}. Without a script they \
            answer "handled" at once. "answer" is the object that a handler prints, "answers" is the number of these \
            objects, and "handlers" has scripts for single handlers, by name. No real handler runs. Routes, deadlines \
            and the mode come from the configuration; the first line may name another mode, and --mode overrides both. \
            Expectations are ignored; "test" checks them.
            """,
            """
            {"at":1000,"crash":{"down_ms":2500,"reboot":true}} kills the daemon at that time and starts it again 2.5 s \
            later, after a restart of the machine; both keys may be left out. Accepted requests are still there. An \
            invocation whose handler ran is "failed" with the reason daemon_crashed, or runs again if its handler is \
            Idempotent=yes. An invocation with no time left is "expired".
            """,
            """
            A line with an error prints {"type":"error","line":N,"error":{...}} and ends the run with exit status 1; \
            with --keep-going the run continues and ends with 1.
            """,
        ],
        operands: Operands(usage: "FILE|-", count: 1...1),
        options: [.mode, .keepGoing],
        examples: [
            Example(line: "pushctl simulate day.ndjson", meaning: "run a scenario as configured"),
            Example(line: "pushctl simulate --mode relay day.ndjson", meaning: "as a router in production would do it"),
        ]
    ) { arguments, session throws(Failure) in
        let file = try InputFile(arguments.operands[0])
        let settings = try session.settings()
        var simulation = Simulation(
            settings, mode: arguments.word(.mode, DispatchMode.self), output: session.output)
        return try simulation.run(ScenarioLines(file, settings), keepsGoing: arguments.has(.keepGoing))
    }
}

/// Runs the lines of a file.
private struct Simulation {
    private var simulator: Simulator
    private let output: Output

    init(_ settings: Settings, mode: DispatchMode?, output: Output) {
        simulator = Simulator(
            table: settings.routing, tracker: settings.virtualTracker, mode: mode,
            limits: settings.daemon.jsonLimits)
        self.output = output
    }

    mutating func run(_ lines: ScenarioLines, keepsGoing: Bool) throws(Failure) -> ExitStatus {
        while let line = try lines.next() {
            if line.allSatisfy(\.isJSONWhiteSpace) { continue }
            simulator.take(line, number: lines.file.lineNumber).forEach(output.write(line:))
            if simulator.errors > 0, !keepsGoing { return .no }
            if lines.file.mustWait { output.flush() }
        }
        simulator.finish().forEach(output.write(line:))
        return simulator.errors > 0 ? .no : .done
    }
}

extension Settings {
    /// A tracker as configured, empty and without a state directory.
    var virtualTracker: Tracker {
        Tracker(stateID: UUID128(high: 0, low: 0), rules: routing.tracking)
    }
}
