import Glibc
import LinuxSystem
import PushModel
import PushRouting
import PushSettings

extension Command {
    static let test = Command(
        name: "test", summary: "run scenarios with expectations, without a daemon",
        description: [
            """
            Runs scenarios as "simulate" does, and checks their expectations. A scenario is a file of JSON objects, \
            one a line: requests with "at" and perhaps "script", lines {"at":TIME,"crash":{...}}, which "simulate" \
            explains, and lines {"expect":{...}}. Its first line may be {"scenario":"what it shows","mode":"relay"}; \
            without "mode" it runs in the configured mode. In a directory all files at any depth are run whose names \
            end in .jsonl or .ndjson.
            """,
            """
            When is an expectation checked? With "at" at that time, after everything that is due then. Without, when all has \
            happened that comes before the next line with a time; behind the last such line, when nothing is pending any \
            more. "name" beside "expect" describes the expectation. EXPECTATIONS in the man page lists what an expectation can be.
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
            clock: the time between two lines is waited for, a minute from the first to the last at most, and what a \
            handler does outside it really does. "script" and "crash" are refused then. After the last line the \
            handlers that still run are ended.
            """,
            """
            The exit status is 0 when all expectations hold, 1 when one does not, and 65 when a scenario cannot be \
            read or expects nothing; the other scenarios are still run.
            """,
        ],
        operands: Operands(usage: "DIR|FILE...", count: 1...Int.max),
        options: [.realHandlers, .junit, .json],
        examples: [
            Example(line: "pushctl test scenarios", meaning: "every scenario of a directory"),
            Example(
                line: "pushctl test --config etc/pushrouterd --junit results.xml scenarios",
                meaning: "in CI, with a file for its test report"),
        ]
    ) { arguments, session throws(Failure) in
        let isReal = arguments.has(.realHandlers)
        var tests = Tests(session, hasConfiguration: arguments.has(.configuration), runsRealHandlers: isReal)
        if isReal { session.output.note("real handlers run, by the wall clock") }
        let status = tests.run(arguments.operands)
        if let path = arguments[.junit] { try Tests.write(tests.results.junit, to: path) }
        if arguments.has(.json) {
            session.output.write(document: tests.results.json)
        } else {
            session.output.print(tests.results.text)
        }
        return status
    }
}

/// Runs the scenarios of files.
private struct Tests {
    private let session: Session
    private let hasConfiguration: Bool
    private let runsRealHandlers: Bool
    /// Read once for each directory; the key is `nil` for the session's own.
    private var settings: [String?: Settings] = [:]
    private(set) var results: [TestResult] = []

    init(_ session: Session, hasConfiguration: Bool, runsRealHandlers: Bool) {
        self.runsRealHandlers = runsRealHandlers
        self.session = session
        self.hasConfiguration = hasConfiguration
    }

    mutating func run(_ operands: [String]) -> ExitStatus {
        var status = ExitStatus.done
        for operand in operands {
            do throws(Failure) {
                for file in try ScenarioFiles.list(operand) {
                    do throws(Failure) {
                        try run(file: file)
                    } catch {
                        results.append(TestResult(file: file, error: error.message))
                        status = error.status
                    }
                }
            } catch {
                results.append(TestResult(file: operand, error: error.message))
                status = error.status
            }
        }
        let holds = results.allSatisfy(\.failures.isEmpty)
        return status == .done && !holds ? .no : status
    }

    private mutating func run(file path: String) throws(Failure) {
        let settings = try settings(for: path)
        let file = try InputFile(path)
        var lines: [[UInt8]] = []
        while let line = try file.nextLine() { lines.append(line) }
        let start = ContinuousClock.now
        let scenario: Scenario
        var realRun: RealRun?
        do {
            scenario = try Scenario(lines, limits: settings.daemon.jsonLimits)
            try scenario.checkNames(against: settings.routing)
            if runsRealHandlers {
                realRun = try RealRun(scenario, table: settings.routing, tracker: settings.virtualTracker)
            }
        } catch {
            throw Failure(.badData, "\(file.name)\(error.line.map { ":\($0)" } ?? ""): \(error.message)")
        }
        let result =
            try realRun.map { run throws(Failure) in try realResult(of: run, file.name) }
            ?? scenario.run(table: settings.routing, tracker: settings.virtualTracker)
        results.append(
            TestResult(
                file: file.name, title: scenario.title, checks: result.checks, warnings: result.warnings,
                duration: ContinuousClock.now - start))
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

    static func write(_ text: String, to path: String) throws(Failure) {
        let bytes = Array(text.utf8)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
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
