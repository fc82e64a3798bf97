import CTestProbe
import Glibc

// A release build has everything but the library of tests.
#if canImport(Testing)
    import Testing
#endif

/// A daemon did not do what a test waited for.
public struct DaemonFailure: Error, CustomStringConvertible {
    /// What was waited for, and what the daemon said on standard error.
    public let description: String
}

/// A running `pushrouterd`, or another service of this package, as its service manager sees it. One that is dropped is
/// killed.
public final class DaemonProcess {
    /// How long a test waits for an event before it fails: never reached when all is well.
    public static let patienceMilliseconds: Int32 = 60_000

    /// Its process id.
    public let processID: Int32
    /// How it ended; `nil` until a wait has found out.
    public private(set) var end: Program.End?

    private let program: String
    private let notifications: NotifySocket
    private let standardErrorPath: String
    /// At its end when the process is gone: nobody else has the other end.
    private let lifeline: Int32

    /// Starts a daemon on an installation and returns at once.
    ///
    /// - Parameters:
    ///   - installation: where it lives.
    ///   - arguments: instead of the installation's directories.
    ///   - environment: added to `NOTIFY_SOCKET` and `PATH`, as `NAME=value`.
    ///   - program: which product it is.
    ///   - cgroup: the directory of the cgroup that it starts in; `nil`: ours.
    ///   - wrapper: a program and its arguments that changes something of itself and becomes the daemon, such as `prlimit`.
    public init(
        _ installation: Installation, arguments: [String]? = nil, environment: [String] = [],
        program: String = "pushrouterd", cgroup: String? = nil, through wrapper: [String] = []
    ) {
        self.program = program
        let arguments =
            arguments ?? [
                "--config", installation.configuration, "--state", installation.state, "--runtime",
                installation.runtime,
            ]
        let number = Self.nextNumber(in: installation.root)
        notifications = NotifySocket(path: "\(installation.root)/notify.\(number)")
        standardErrorPath = "\(installation.root)/stderr.\(number)"
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0, "cannot make a socket pair: \(systemReason())")
        lifeline = ends[0]
        defer { close(ends[1]) }
        // In a build with a sanitizer its options say where a daemon of these tests reports.
        let names: [String] = ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"]
        let sanitizers = names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
        processID = Self.spawn(
            program, arguments,
            environment: ["PATH=/usr/bin:/bin", "NOTIFY_SOCKET=\(notifications.path)"] + sanitizers
                + Self.watchingDescriptors(environment, besideSanitizer: !sanitizers.isEmpty),
            standardError: standardErrorPath, lifeline: ends[1], cgroup: cgroup, wrapper: wrapper)
    }

    /// Has the program end itself when it closes a descriptor that it watches, beside what the test preloads; see
    /// `Tests/WatchedDescriptors`. A sanitizer must be the first library.
    private static func watchingDescriptors(_ environment: [String], besideSanitizer: Bool) -> [String] {
        guard !besideSanitizer else { return environment }
        let name = "LD_PRELOAD="
        let libraries = environment.filter { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
        let preloaded = name + ([CompiledC.watchedDescriptors] + libraries).joined(separator: ":")
        return environment.filter { !$0.hasPrefix(name) } + [preloaded]
    }

    deinit {
        if end == nil {
            send(SIGKILL)
            _ = reap()
        }
        close(lifeline)
    }

    /// Starts a daemon and waits until it is ready.
    ///
    /// - Throws: `DaemonFailure` when it ends instead.
    public static func ready(
        _ installation: Installation, environment: [String] = [], cgroup: String? = nil, through wrapper: [String] = []
    ) throws(DaemonFailure) -> DaemonProcess {
        let daemon = DaemonProcess(installation, environment: environment, cgroup: cgroup, through: wrapper)
        try daemon.waitForNotification("READY=1")
        return daemon
    }

    /// Starts a forwarder and waits until it is ready.
    ///
    /// - Throws: `DaemonFailure` when it ends instead.
    public static func forwarder(_ installation: Installation, environment: [String] = []) throws(DaemonFailure)
        -> DaemonProcess
    {
        let forwarder = DaemonProcess(
            installation, arguments: ["--config", installation.configuration, "--runtime", installation.runtime],
            environment: environment, program: "pushrouter-forward")
        try forwarder.waitForNotification("READY=1")
        return forwarder
    }

    /// What it wrote to standard error so far.
    public var standardError: String { readFile(standardErrorPath).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// All that it told its service manager so far, each message a list of assignments.
    public var messages: [[String]] {
        notifications.receive()
        return notifications.messages
    }

    /// Sends a signal.
    public func send(_ signal: Int32) { Glibc.kill(processID, signal) }

    /// Ends it as a crash would, and waits until it is gone.
    public func crash() {
        send(SIGKILL)
        _ = reap()
    }

    /// Waits until it has told its service manager `assignment` this many times.
    ///
    /// - Throws: `DaemonFailure` when it ends without, or patience does.
    public func waitForNotification(_ assignment: String, times: Int = 1) throws(DaemonFailure) {
        func isTold() -> Bool { messages.count(where: { $0.contains(assignment) }) >= times }
        while !isTold() {
            let ready = waitUntilReadable(
                [notifications.descriptor, lifeline], milliseconds: Self.patienceMilliseconds)
            // What it said just before it ended counts.
            if ready == lifeline, !isTold() {
                throw failure("it ended (\(reap())) before it told \(assignment)")
            }
            if ready == nil { throw failure("it did not tell \(assignment)") }
        }
    }

    /// Waits until it has told its service manager a status that begins so.
    ///
    /// - Throws: `DaemonFailure` when it ends without, or patience does.
    public func waitForStatus(_ beginning: String) throws(DaemonFailure) {
        while !messages.contains(where: { $0.contains { $0.hasPrefix(beginning) } }) {
            let ready = waitUntilReadable(
                [notifications.descriptor, lifeline], milliseconds: Self.patienceMilliseconds)
            guard ready == notifications.descriptor else { throw failure("it did not tell \(beginning)") }
        }
    }

    /// Waits until it has ended by itself.
    ///
    /// - Throws: `DaemonFailure` when it goes on.
    public func waitForEnd() throws(DaemonFailure) -> Program.End {
        guard end != nil || waitUntilReadable([lifeline], milliseconds: Self.patienceMilliseconds) != nil else {
            throw failure("it did not end")
        }
        return reap()
    }

    /// Asks it to end and waits until it has.
    ///
    /// - Throws: `DaemonFailure` when it goes on.
    public func stop() throws(DaemonFailure) -> Program.End {
        send(SIGTERM)
        return try waitForEnd()
    }

    private func reap() -> Program.End {
        if let end { return end }
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 { precondition(errno == EINTR, "the daemon was reaped by another") }
        let signal = status & 0x7F
        let found = signal == 0 ? Program.End.exited(status >> 8 & 0xFF) : .signaled(signal)
        end = found
        #if canImport(Testing)
            if found == .signaled(SIGABRT), standardError.contains("which an epoll instance still watches") {
                Issue.record("\(failure("it closed a descriptor that it watches"))")
            }
        #endif
        return found
    }

    private func failure(_ what: String) -> DaemonFailure {
        DaemonFailure(description: "\(program): \(what); standard error:\n\(standardError)")
    }

    /// The number of the next daemon of an installation.
    private static func nextNumber(in root: String) -> Int {
        var number = 1
        while access("\(root)/stderr.\(number)", F_OK) == 0 { number += 1 }
        return number
    }

    private static func spawn(
        _ product: String, _ arguments: [String], environment: [String], standardError: String, lifeline: Int32,
        cgroup: String?, wrapper: [String]
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, standardError, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // Made anew in the child, where it is not close-on-exec.
        posix_spawn_file_actions_adddup2(&actions, lifeline, 3)
        // "swift test" leaves a dozen sockets to the tests, and they would leave them to the daemon.
        CTestProbe_close_from(&actions, 4)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var program = Program(product: product).path
        var words = wrapper + [program] + arguments
        if let first = wrapper.first { program = first }
        if let cgroup {
            // It is in there before it begins, as the service manager does it.
            program = "/bin/sh"
            words = ["sh", "-c", #"echo 0 >"$0/cgroup.procs" && exec "$@""#, cgroup] + words
        }
        return startProgram(program, words, environment: environment, actions: &actions)
    }
}
