import Glibc
import PushModel
public import PushSettings

/// A program of this package that runs until the service manager stops it: its command line, its start and its end.
///
///     @main
///     struct Program {
///         static let service = ServiceProgram("pushrouter-nothing", help: "usage: …", directories: ["--config"])
///         static func main() {
///             service.main { _ in try service.run { loop, log in Service(loop: loop, log: log) } }
///         }
///     }
public struct ServiceProgram: Sendable {
    /// Its name, for messages.
    public let name: String
    private let help: String
    private let directories: Set<String>
    private let others: Set<String>
    private let flags: Set<String>

    /// - Parameters:
    ///   - name: the program's name.
    ///   - help: the output of `--help`.
    ///   - directories: the options whose value is a directory: `--config`.
    ///   - others: the other options with a value.
    ///   - flags: the flags besides `--help` and `--version`.
    public init(
        _ name: String, help: String, directories: Set<String>, others: Set<String> = [], flags: Set<String> = []
    ) {
        self.name = name
        self.help = help
        self.directories = directories
        self.others = others
        self.flags = flags
    }

    /// Carries out the command line, and ends the process.
    ///
    /// - Parameter body: the work; returns the exit status. A thrown `StartFailure` has its own status; any other error
    ///   ends with `EX_OSERR`.
    public func main(_ body: (ServiceArguments) throws -> Int32) -> Never {
        switch parse(CommandLine.arguments.dropFirst()) {
        case .help: print(help)
        case .version: print("\(name) \(pushrouterdVersion)")
        case .wrong(let message): end(with: usageFailure(message))
        case .run(let arguments):
            // Without this, the first opened files could become standard input, output and error.
            StandardDescriptors.open()
            do {
                exit(try body(arguments))
            } catch let failure as StartFailure {
                end(with: failure)
            } catch let error as SurplusSockets {
                end(with: StartFailure(error.description, exitStatus: StartFailure.usage))
            } catch {
                end(with: StartFailure("\(error)", exitStatus: StartFailure.system))
            }
        }
        exit(0)
    }

    /// Parses the words after the program's name.
    public func parse(_ words: some Sequence<String>) -> ServiceArguments.Request {
        ServiceArguments.parse(words, directories: directories, others: others, flags: flags)
    }

    /// Returns the failure for an invalid command line.
    public func usageFailure(_ message: String) -> StartFailure {
        StartFailure(lines: [message, "see \(name) --help"], exitStatus: StartFailure.usage)
    }

    /// Returns the directories of configuration, state and sockets, from the command line and the environment.
    public func directories(_ arguments: ServiceArguments) -> Directories {
        Directories(
            configuration: arguments.values["--config"], state: arguments.values["--state"],
            runtime: arguments.values["--runtime"], environment: Self.environment)
    }

    /// Returns the value of an environment variable.
    public static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private func end(with failure: StartFailure) -> Never {
        complain(failure.lines + failure.warnings, as: name)
        exit(failure.exitStatus)
    }

    // MARK: The loop

    /// Runs a service on a loop of the calling thread, which must be the only one, until it is stopped.
    ///
    /// - Parameters:
    ///   - isCheck: whether there is nothing more to do: the caller has read the configuration.
    ///   - logsToStandardError: whether entries go to standard error as text, for a parent process that reads them;
    ///     otherwise
    ///     they go to the journal.
    ///   - make: makes the service from the loop and the closure that logs entries for the operator.
    /// - Returns: the exit status.
    public func run<Service: LoopService>(
        isCheck: Bool = false, logsToStandardError: Bool = false,
        _ make: (EventLoop, @escaping @Sendable (JournalEntry) -> Void) throws -> Service
    ) throws -> Int32 {
        guard !isCheck else { return 0 }
        // Blocks the signals before any thread exists: threads inherit the mask, and only the loop takes signals.
        SignalSource.block([SIGTERM, SIGINT] + (Service.canReload ? [SIGHUP] : []))
        signal(SIGPIPE, SIG_IGN)
        let journal = logsToStandardError ? nil : try JournalWriter()
        // A stalled journal must not keep the program from ending.
        defer { journal?.stop(timeoutMilliseconds: 2000) }
        let loop = try EventLoop()
        let service = try make(loop) { [name] entry in
            if let journal { journal.log(entry) } else { complain([entry.message], as: name) }
        }
        var sources = try [SIGTERM, SIGINT].map { try SignalSource(loop: loop, signal: $0) { service.stop() } }
        if Service.canReload {
            sources.append(
                try SignalSource(loop: loop, signal: SIGHUP) {
                    guard !service.isStopping else { return }
                    Notify.reloading(nowNanoseconds: EventLoop.nowNanoseconds)
                    Notify.ready(status: service.reload())
                })
        }
        let watchdog = try loop.answerWatchdog()
        defer { withExtendedLifetime((service, sources, watchdog)) {} }
        Notify.ready(status: service.status)
        service.begin()
        return try loop.run(endOfTurn: service.endOfTurn)
    }
}

/// The service of a program, which runs on its loop.
public protocol LoopService: AnyObject {
    /// Whether it reloads its configuration on SIGHUP; otherwise SIGHUP ends the program.
    static var canReload: Bool { get }
    /// Whether it is stopping: then it reloads no configuration.
    var isStopping: Bool { get }
    /// The status text for the service manager once it is ready.
    var status: String { get }
    /// Called when the loop begins.
    func begin()
    /// Called at the end of each turn.
    func endOfTurn()
    /// Stops the service, perhaps called more than once: it ends the loop after its remaining work.
    func stop()
    /// Reloads the configuration.
    ///
    /// - Returns: the status text for the service manager.
    func reload() -> String
}

extension LoopService {
    public static var canReload: Bool { false }
    public var isStopping: Bool { false }
    public func begin() {}
    public func endOfTurn() {}
    public func reload() -> String { status }
}

/// The command line of a service: options with a value, flags, and no operands.
public struct ServiceArguments: Equatable, Sendable {
    /// The request of the command line.
    public enum Request: Equatable, Sendable {
        case run(ServiceArguments)
        case help
        case version
        /// The command line is invalid; the text is the reason.
        case wrong(String)
    }

    /// The values of the given options, by names such as `--config`.
    public private(set) var values: [String: String] = [:]
    /// The given flags.
    public private(set) var flags: Set<String> = []

    /// Parses the words after the program's name.
    ///
    /// - Parameters:
    ///   - words: the words.
    ///   - directories: the options whose value is a directory: `--config`.
    ///   - others: the other options with a value.
    ///   - flags: the flags besides `--help` and `--version`.
    public static func parse(
        _ words: some Sequence<String>, directories: Set<String>, others: Set<String> = [], flags: Set<String> = []
    ) -> Request {
        var arguments = ServiceArguments()
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch parts[0] {
            case "-h", "--help": return .help
            case "--version": return .version
            case let flag where flags.contains(flag) && parts.count == 1: arguments.flags.insert(flag)
            case let option where directories.contains(option) || others.contains(option):
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    return .wrong("\(option) needs a \(directories.contains(option) ? "directory" : "value")")
                }
                arguments.values[option] = value
            default: return .wrong("there is no \(word.hasPrefix("-") ? "option" : "operand") \(word)")
            }
        }
        return .run(arguments)
    }
}
