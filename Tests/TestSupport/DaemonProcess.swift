import CTestProbe
import Glibc

// Release builds have all of this but the testing library.
#if canImport(Testing)
    import Testing
#endif

/// The error of a daemon that did not do what a test waited for.
public struct DaemonFailure: Error, CustomStringConvertible {
    /// The awaited event, and the daemon's standard error.
    public let description: String
}

/// A running `pushrouterd`, or another service of this package, as its service manager sees it. `deinit` kills it.
public final class DaemonProcess {
    /// The timeout of a test's wait for an event; a passing test never reaches it.
    public static let patienceMilliseconds: Int32 = 60_000

    /// The process id.
    public let processID: Int32
    /// The end of the process; `nil` until a wait has collected it.
    public private(set) var end: Program.End?

    private let program: String
    private let notifications: NotifySocket
    private let standardErrorPath: String
    /// One end of a socket pair whose other end only the process has: it reads end-of-file when the process is gone.
    private let lifeline: Int32

    /// Starts a daemon on an installation and returns at once.
    ///
    /// - Parameters:
    ///   - installation: its directories.
    ///   - arguments: replace the installation's directories.
    ///   - environment: `NAME=value` variables beside `NOTIFY_SOCKET` and `PATH`.
    ///   - program: the product to run.
    ///   - cgroup: the directory of the cgroup to start it in; `nil`: this process's cgroup.
    ///   - wrapper: a program with arguments that changes its own process and executes the daemon, such as `prlimit`.
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
        // In a sanitizer build these options name the report files of the daemon.
        let names: [String] = ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"]
        let sanitizers = names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
        processID = Self.spawn(
            program, arguments,
            environment: ["PATH=/usr/bin:/bin", "NOTIFY_SOCKET=\(notifications.path)"] + sanitizers
                + Self.watchingDescriptors(environment, besideSanitizer: !sanitizers.isEmpty),
            standardError: standardErrorPath, lifeline: ends[1], cgroup: cgroup, wrapper: wrapper)
    }

    /// Returns an environment in which the program aborts when it closes a descriptor that its epoll instance still
    /// watches; see `Tests/WatchedDescriptors`. The test's own preloaded libraries stay. A sanitizer must be the first
    /// library, so a sanitizer build does without.
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
    /// - Throws: `DaemonFailure` if the daemon ends before.
    public static func ready(
        _ installation: Installation, environment: [String] = [], cgroup: String? = nil, through wrapper: [String] = []
    ) throws(DaemonFailure) -> DaemonProcess {
        let daemon = DaemonProcess(installation, environment: environment, cgroup: cgroup, through: wrapper)
        try daemon.waitForNotification("READY=1")
        return daemon
    }

    /// Starts a forwarder and waits until it is ready.
    ///
    /// - Throws: `DaemonFailure` if the forwarder ends before.
    public static func forwarder(_ installation: Installation, environment: [String] = []) throws(DaemonFailure)
        -> DaemonProcess
    {
        let forwarder = DaemonProcess(
            installation, arguments: ["--config", installation.configuration, "--runtime", installation.runtime],
            environment: environment, program: "pushrouter-forward")
        try forwarder.waitForNotification("READY=1")
        return forwarder
    }

    /// The contents of standard error so far.
    public var standardError: String { readFile(standardErrorPath).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// The sd_notify messages so far, each a list of assignments.
    public var messages: [[String]] {
        notifications.receive()
        return notifications.messages
    }

    /// Sends a signal.
    public func send(_ signal: Int32) { Glibc.kill(processID, signal) }

    /// Kills the process with SIGKILL and reaps it.
    public func crash() {
        send(SIGKILL)
        _ = reap()
    }

    /// Waits until sd_notify messages contain `assignment` this many times.
    ///
    /// - Throws: `DaemonFailure` if the process ends before, or at the timeout.
    public func waitForNotification(_ assignment: String, times: Int = 1) throws(DaemonFailure) {
        func isTold() -> Bool { messages.count(where: { $0.contains(assignment) }) >= times }
        while !isTold() {
            let ready = waitUntilReadable(
                [notifications.descriptor, lifeline], milliseconds: Self.patienceMilliseconds)
            // A message sent just before the end counts.
            if ready == lifeline, !isTold() {
                throw failure("it ended (\(reap())) before it told \(assignment)")
            }
            if ready == nil { throw failure("it did not tell \(assignment)") }
        }
    }

    /// Waits for an sd_notify status that begins with `beginning`.
    ///
    /// - Throws: `DaemonFailure` if the process ends before, or at the timeout.
    public func waitForStatus(_ beginning: String) throws(DaemonFailure) {
        while !messages.contains(where: { $0.contains { $0.hasPrefix(beginning) } }) {
            let ready = waitUntilReadable(
                [notifications.descriptor, lifeline], milliseconds: Self.patienceMilliseconds)
            guard ready == notifications.descriptor else { throw failure("it did not tell \(beginning)") }
        }
    }

    /// Waits until the process has ended by itself.
    ///
    /// - Throws: `DaemonFailure` at the timeout.
    public func waitForEnd() throws(DaemonFailure) -> Program.End {
        guard end != nil || waitUntilReadable([lifeline], milliseconds: Self.patienceMilliseconds) != nil else {
            throw failure("it did not end")
        }
        return reap()
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// - Throws: `DaemonFailure` at the timeout.
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

    /// Returns the number of an installation's next daemon.
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
        // dup2 in the child gives a descriptor without close-on-exec.
        posix_spawn_file_actions_adddup2(&actions, lifeline, 3)
        // Without this, the daemon would inherit the dozen sockets that "swift test" leaves to the tests.
        CTestProbe_close_from(&actions, 4)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var program = Program(product: product).path
        var words = wrapper + [program] + arguments
        if let first = wrapper.first { program = first }
        if let cgroup {
            // The process is in the cgroup before it executes the daemon, as with a service manager.
            program = "/bin/sh"
            words = ["sh", "-c", #"echo 0 >"$0/cgroup.procs" && exec "$@""#, cgroup] + words
        }
        return startProgram(program, words, environment: environment, actions: &actions)
    }
}
