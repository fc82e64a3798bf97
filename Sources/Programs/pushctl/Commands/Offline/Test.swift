import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews

extension Command {
    static let test = Command(
        name: "test", summary: "run scenarios with expectations, without a daemon",
        description: [
            """
            Runs scenarios under virtual time, and checks their expectations. A scenario is a file of JSON objects, \
            one a line: requests as inject.sock takes them, in the order of their times, crashes, and lines \
            {"expect":{...}}. Its first line may be {"scenario":"what it shows","mode":"relay"}; without "mode" it \
            runs in the configured mode. In a directory all files at any depth are run whose names end in .jsonl or \
            .ndjson. A day takes milliseconds.
            """,
            """
            A request has "at" (RFC 3339 or Unix milliseconds). "payload_file":"push.json" stands in place of a \
            payload: a file with one payload, beside the scenario; an .apns file is for iOS. A request may say how its \
            handlers behave: "script":{"takes_ms":9500,"exit":0}. Without a script they answer "handled" at once. \
            "answer" is the object that a handler prints, "answers" is the number of these objects, and "handlers" has \
            scripts for single handlers, by name. Routes and deadlines come from the configuration.
            """,
            """
            {"at":1000,"crash":{"down_ms":2500,"reboot":true}} kills the daemon at that time and starts it again 2.5 s \
            later, after a restart of the machine; both keys may be left out. Accepted requests are still there. An \
            invocation whose handler ran is "failed" with the reason daemon_crashed, or runs again if its handler is \
            Idempotent=yes. An invocation with no time left is "expired".
            """,
            """
            An expectation with "at" is checked at that time, after every event that is due then. An expectation \
            without "at" is checked after every event before the next line with a time; behind the last such line it \
            is checked when no work is pending. "name" beside "expect" describes the expectation. EXPECTATIONS in the \
            man page lists the forms of an expectation.
            """,
            """
            A request that is refused is a failure, unless {"expect":{"error":{...}}} follows before the next request. \
            An interaction names its push by number, by message id, or by the "id" of the delivery in a line before. One that \
            finds no push is a failure, unless an expectation such as {"expect":{"interaction":{"verdict":"unmatched"}}} \
            matches it; one on a push that was not displayed is a warning. \
            The configuration is --config, else a directory "config" beside the scenario, else the daemon's.
            """,
            """
            With --real-handlers the handlers of the configuration run, as "run-handler" runs them, and by the wall \
            clock: the command waits for the time between two lines, at most a minute from the first to the last. The \
            side effects of a handler are real. "script" and "crash" are refused then. After the last line the command \
            ends the handlers that still run.
            """,
            """
            With --trace the command takes one FILE, or - for standard input, ignores its expectations, and prints one \
            JSON object for each invocation, each analytics event and each state of an entry of custom data (queued, \
            pending, flushed, rejected), in the order in which they are decided; and one object of type interaction \
            when an interaction found the push that it waited for, or stopped waiting. Each has "at" in milliseconds, \
            as the input has it; "time" of an event is in the seconds of Braze's form. After the last line the clock \
            runs on until no work is pending. The same input gives the same bytes. A line with an error prints \
            {"type":"error","line":N,"error":{...}} and ends the run with exit status 1; with --keep-going the run \
            continues and ends with 1.
            """,
            """
            On GitHub (GITHUB_ACTIONS=true) the text is followed by an annotation for each failure and each warning, \
            at its line, as by --format github; --format text leaves them out. The command also appends the failures \
            to the summary of the job, the file that GITHUB_STEP_SUMMARY names.
            """,
            """
            The exit status is 0 when all expectations hold, 1 when one does not, 65 when a scenario cannot be read or \
            expects nothing, and 66 when a file is missing or a directory has no scenario; the other scenarios are \
            still run.
            """,
        ],
        operands: Operands(usage: "DIR|FILE...", count: 1...Int.max),
        options: [
            .realHandlers, .trace, .mode, .keepGoing,
            .format.allowing(TestFormat.self).meaning(
                "the format of the output (text; on GitHub github: text and annotations)"), .junit, .json,
        ],
        examples: [
            Example(line: "pushctl test scenarios", meaning: "every scenario of a directory"),
            Example(
                line: "pushctl test --config etc/pushrouterd --junit results.xml scenarios",
                meaning: "in CI, with a file for its test report"),
            Example(line: "pushctl test --trace day.ndjson", meaning: "all that a scenario decides, as JSON lines"),
            Example(line: "pushctl test --format github scenarios", meaning: "as on GitHub, where this is the default"),
        ]
    ) { arguments, session throws(Failure) in
        let isReal = arguments.has(.realHandlers)
        if arguments.has(.trace) {
            return try Trace.run(arguments, session)
        }
        for option in [Option.mode, .keepGoing] where arguments.has(option) {
            throw arguments.usageFailure("--\(option.name) is for --trace")
        }
        var tests = Tests(session, hasConfiguration: arguments.has(.configuration), runsRealHandlers: isReal)
        if isReal { session.output.note("real handlers run, by the wall clock") }
        let format = try TestFormat(arguments)
        let status = tests.run(arguments.operands)
        let results = tests.results
        if let path = arguments[.junit] { try Tests.write(results.junit, to: path) }
        if let path = TestFormat.summaryFile { try Tests.write(results.markdown, to: path, appending: true) }
        switch format {
        case .json: session.output.write(document: results.json)
        case .junit: session.output.write(results.junit.utf8)
        case .text, .github: session.output.print(folding: results.lines)
        }
        // An annotation is one line, so it is not folded to the terminal's width.
        if format == .github { session.output.write(results.annotations.utf8) }
        return status
    }
}

/// The format of the results.
enum TestFormat: String, CaseIterable {
    case text, json, junit, github

    fileprivate init(_ arguments: Arguments) throws(Failure) {
        let asked = arguments.word(.format, TestFormat.self)
        guard !arguments.has(.json) || asked ?? .json == .json else {
            throw arguments.usageFailure("--json and --format \(asked?.rawValue ?? "") exclude each other")
        }
        let isOnGitHub = Output.environment("GITHUB_ACTIONS") == "true"
        self = asked ?? (arguments.has(.json) ? .json : isOnGitHub ? .github : .text)
    }

    /// The file for the summary of a GitHub job; `nil` elsewhere.
    fileprivate static var summaryFile: String? { Output.environment("GITHUB_STEP_SUMMARY") }
}

/// Runs the scenarios of files.
private struct Tests {
    private let session: Session
    private let hasConfiguration: Bool
    private let runsRealHandlers: Bool
    private var status = ExitStatus.done
    /// The settings of each directory, read once; the key `nil` is for the session's own.
    private var settings: [String?: Settings] = [:]
    private(set) var results: [TestResult] = []

    init(_ session: Session, hasConfiguration: Bool, runsRealHandlers: Bool) {
        self.runsRealHandlers = runsRealHandlers
        self.session = session
        self.hasConfiguration = hasConfiguration
    }

    mutating func run(_ operands: [String]) -> ExitStatus {
        for operand in operands {
            do throws(Failure) {
                for file in try ScenarioFiles.list(operand) {
                    do throws(Failure) { try run(file: file) } catch { note(error, of: file) }
                }
            } catch {
                note(error, of: operand)
            }
        }
        let holds = results.allSatisfy(\.failures.isEmpty)
        return status == .done && !holds ? .no : status
    }

    private mutating func note(_ failure: Failure, of file: String, line: Int? = nil) {
        results.append(TestResult(file: file, error: failure.message, errorLine: line))
        status = failure.status
    }

    private mutating func run(file path: String) throws(Failure) {
        let settings = try settings(for: path)
        let file = try InputFile(path)
        let source = ScenarioLines(file, settings)
        var lines: [[UInt8]] = []
        do throws(Failure) {
            while let line = try source.next() { lines.append(line) }
        } catch {
            return note(error, of: file.name, line: file.lineNumber)
        }
        let start = Instant.now
        let scenario: Scenario
        var realRun: RealRun?
        do {
            scenario = try Scenario(lines, limits: settings.daemon.jsonLimits)
            try scenario.checkNames(against: settings.routing)
            if runsRealHandlers {
                realRun = try RealRun(scenario, table: settings.routing, tracker: settings.virtualTracker)
            }
        } catch {
            let place = error.line.map { "\(file.name):\($0)" } ?? file.name
            return note(Failure(.badData, "\(place): \(error.message)"), of: file.name, line: error.line)
        }
        let result =
            try realRun.map { run throws(Failure) in try realResult(of: run, file.name) }
            ?? scenario.run(table: settings.routing, tracker: settings.virtualTracker)
        results.append(
            TestResult(
                file: file.name, title: scenario.title, checks: result.checks, warnings: result.warnings,
                duration: Instant.now - start))
    }

    private func realResult(of run: RealRun, _ file: String) throws(Failure) -> ScenarioResult {
        do {
            let output = session.output
            let handlers = try RealHandlers(run, bridgeCommand: session.bridgeCommand) {
                output.note("\(file): journal: \($0)")
            }
            output.beforeExit = { handlers.endAtOnce() }
            defer { output.beforeExit = {} }
            return try handlers.result()
        } catch {
            throw Failure(.inputOutput, "cannot run handlers: \(error)")
        }
    }

    private mutating func settings(for file: String) throws(Failure) -> Settings {
        let directory = hasConfiguration ? nil : ScenarioFiles.configuration(beside: file)
        if let known = settings[directory] { return known }
        let read: Settings
        if let directory { read = try session.settings(in: directory) } else { read = try session.settings() }
        settings[directory] = read
        return read
    }

    static func write(_ text: String, to path: String, appending: Bool = false) throws(Failure) {
        let bytes = Array(text.utf8)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (appending ? O_APPEND : O_TRUNC), 0o666)
        guard descriptor >= 0 else { throw unwritable(path) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = unwritable(path)
                close(descriptor)
                throw failure
            }
            rest = rest.dropFirst(count)
        }
        guard close(descriptor) == 0 else { throw unwritable(path) }
    }

    private static func unwritable(_ path: String) -> Failure {
        Failure(.inputOutput, "cannot write \(path): \(errorText(errno))")
    }
}
