public import EventLoop
import Glibc
public import JournalLog
import LinuxSystem
import PushModel
public import PushSettings
public import SettingsFiles

/// A program of ours that runs until the service manager stops it: its command line, and what it begins and ends with.
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
    ///   - help: what `--help` prints.
    ///   - directories: the options with a directory: `--config`.
    ///   - others: those with another value.
    ///   - flags: those without a value, beside `--help` and `--version`.
    public init(
        _ name: String, help: String, directories: Set<String>, others: Set<String> = [], flags: Set<String> = []
    ) {
        self.name = name
        self.help = help
        self.directories = directories
        self.others = others
        self.flags = flags
    }

    /// Does what the command line asks for, and ends the process.
    ///
    /// - Parameter body: the work; returns the exit status. A `StartFailure` that it throws says its own, any other error
    ///   is the system's.
    public func main(_ body: (ServiceArguments) throws -> Int32) -> Never {
        switch parse(CommandLine.arguments.dropFirst()) {
        case .help: print(help)
        case .version: print("\(name) \(pushrouterdVersion)")
        case .wrong(let message): end(with: usageFailure(message))
        case .run(let arguments):
            // Else the first files that are opened would be standard input, output and error.
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

    /// Reads the words after the program's name.
    public func parse(_ words: some Sequence<String>) -> ServiceArguments.Request {
        ServiceArguments.parse(words, directories: directories, others: others, flags: flags)
    }

    /// What a wrong command line ends with.
    public func usageFailure(_ message: String) -> StartFailure {
        StartFailure(lines: [message, "see \(name) --help"], exitStatus: StartFailure.usage)
    }

    /// Where configuration, state and sockets are, by the command line and the environment.
    public func directories(_ arguments: ServiceArguments) -> Directories {
        Directories(
            configuration: arguments.values["--config"], state: arguments.values["--state"],
            runtime: arguments.values["--runtime"], environment: Self.environment)
    }

    /// A variable of the environment.
    public static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private func end(with failure: StartFailure) -> Never {
        complain(failure.lines + failure.warnings, as: name)
        exit(failure.exitStatus)
    }

    // MARK: The loop

    /// Runs a service on a loop of the calling thread, which must be the only one, until it is told to stop.
    ///
    /// - Parameters:
    ///   - logsToStandardError: whether entries go there as text, for who has started this program and reads it; else they go to
    ///     the journal.
    ///   - make: makes the service; it is given the loop, and what takes what an operator must know.
    /// - Returns: the exit status.
    public func run<Service: LoopService>(
        logsToStandardError: Bool = false,
        _ make: (EventLoop, @escaping @Sendable (JournalEntry) -> Void) throws -> Service
    ) throws -> Int32 {
        // Before any thread exists: each inherits the mask, and only the loop takes signals.
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

/// The subject of a program: what it does on its loop.
public protocol LoopService: AnyObject {
    /// Whether it reads its configuration again on SIGHUP; else SIGHUP ends the program.
    static var canReload: Bool { get }
    /// Whether it was told to stop and has not ended yet: it reads no configuration again then.
    var isStopping: Bool { get }
    /// What the service manager is told when it is ready.
    var status: String { get }
    /// The loop begins.
    func begin()
    /// The loop ends a turn.
    func endOfTurn()
    /// It was told to stop, perhaps more than once: it ends the loop when it has done what is left.
    func stop()
    /// It was told to read its configuration again.
    ///
    /// - Returns: what the service manager is told.
    func reload() -> String
}

extension LoopService {
    public static var canReload: Bool { false }
    public var isStopping: Bool { false }
    public func begin() {}
    public func endOfTurn() {}
    public func reload() -> String { status }
}
