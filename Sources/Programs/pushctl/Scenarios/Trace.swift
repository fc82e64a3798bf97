import PushModel
import PushRouter
import PushSettings
import PushViews

/// `test --trace`: all that a scenario decides, one JSON object a line.
struct Trace {
    private var simulator: Simulator
    private let output: Output

    /// Runs the one file of a command line.
    static func run(_ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        for option in [Option.realHandlers, .format, .junit, .json] where arguments.has(option) {
            throw arguments.usageFailure("--trace and --\(option.name) exclude each other")
        }
        guard arguments.operands.count == 1, let path = arguments.operands.first, !Directory.exists(path) else {
            throw arguments.usageFailure("--trace takes one FILE, or - for standard input")
        }
        let file = try InputFile(path)
        // The former command "simulate" has the daemon's configuration.
        let isSimulate = arguments[.trace] == Parser.formerSimulate
        let isOwn = !isSimulate && !arguments.has(.configuration)
        let directory = isOwn ? ScenarioFiles.configuration(beside: path) : nil
        let settings: Settings
        if let directory { settings = try session.settings(in: directory) } else { settings = try session.settings() }
        var trace = Trace(settings, mode: arguments.word(.mode, DispatchMode.self), output: session.output)
        return try trace.run(ScenarioLines(file, settings), keepsGoing: arguments.has(.keepGoing))
    }

    private init(_ settings: Settings, mode: DispatchMode?, output: Output) {
        simulator = Simulator(
            table: settings.routing, tracker: settings.virtualTracker, mode: mode,
            limits: settings.daemon.jsonLimits)
        self.output = output
    }

    private mutating func run(_ lines: ScenarioLines, keepsGoing: Bool) throws(Failure) -> ExitStatus {
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
