import Glibc

/// A program that a test runs as a user would, with arguments and an environment.
public struct Program: Sendable {
    /// The path of the program.
    public let path: String

    /// Any program, by its absolute path.
    public init(path: String) { self.path = path }

    /// A program of this package, in the directory of the running tests.
    public init(product: String) {
        path = Self.directory + "/" + product
        precondition(access(path, X_OK) == 0, "\(path) is not built: \(String(cString: strerror(errno)))")
    }

    /// The build directory of this package, which has the running tests.
    static let directory: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        precondition(count > 0, "readlink /proc/self/exe: \(String(cString: strerror(errno)))")
        let tests = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let end = tests.lastIndex(of: "/") else { preconditionFailure("\(tests) is in no directory") }
        return String(tests[..<end])
    }()

    /// The end of a program.
    public enum End: Hashable, Sendable {
        /// The exit status.
        case exited(Int32)
        /// The signal that ended it.
        case signaled(Int32)
    }

    /// The result of a run.
    public struct Result: Sendable {
        /// The end; SIGKILL after a minute without one.
        public let end: End
        /// The bytes on standard output.
        public let outputBytes: [UInt8]
        /// The text on standard error.
        public let errors: String

        /// The text on standard output.
        public var output: String { String(decoding: outputBytes, as: UTF8.self) }

        /// The lines on standard output.
        public var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - input: the contents of standard input.
    ///   - environment: variables beside `PATH`.
    public func run(
        _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
    ) -> Result {
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        let child = spawn(
            arguments, environment: environment,
            descriptors: [standardInput.reading, output.writing, errors.writing])
        for descriptor in [standardInput.reading, output.writing, errors.writing] { close(descriptor) }
        let (outputBytes, errorBytes) = exchange(
            child, input: input, into: standardInput.writing, from: (output.reading, errors.reading))
        return Result(
            end: Self.wait(for: child), outputBytes: outputBytes,
            errors: String(decoding: errorBytes, as: UTF8.self))
    }

    /// - Parameter descriptors: the program's descriptors 0, 1 and 2.
    private func spawn(_ arguments: [String], environment: [String: String], descriptors: [Int32]) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
        }
        return startProgram(
            path, [path] + arguments, environment: environment.map { "\($0.key)=\($0.value)" } + ["PATH=/usr/bin:/bin"],
            actions: &actions)
    }

    /// Writes the input and reads both outputs until the program closes them.
    private func exchange(
        _ child: pid_t, input: [UInt8], into inputEnd: Int32, from ends: (output: Int32, errors: Int32)
    ) -> (output: [UInt8], errors: [UInt8]) {
        // A write to a program that has ended must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        precondition(fcntl(inputEnd, F_SETFL, O_NONBLOCK) == 0, "fcntl: \(systemReason())")
        var (rest, output, errors) = (input[...], [UInt8](), [UInt8]())
        var polls = [
            pollfd(fd: inputEnd, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: ends.output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ends.errors, events: Int16(POLLIN), revents: 0),
        ]
        while polls.contains(where: { $0.fd >= 0 }) {
            let ready = poll(&polls, nfds_t(polls.count), Self.patience)
            if ready == 0 { kill(child, SIGKILL) }
            guard ready > 0 else { continue }
            if polls[0].revents != 0, !Self.feed(&rest, into: inputEnd) { Self.finish(&polls[0]) }
            if polls[1].revents != 0, !Self.take(&output, from: ends.output) { Self.finish(&polls[1]) }
            if polls[2].revents != 0, !Self.take(&errors, from: ends.errors) { Self.finish(&polls[2]) }
        }
        return (output, errors)
    }

    /// The longest silence of a program in milliseconds; a passing test never reaches it.
    private static let patience: Int32 = 60_000

    private static func finish(_ end: inout pollfd) {
        close(end.fd)
        end.fd = -1
    }

    /// Writes as much as the pipe accepts; returns false when all is written or the reader is gone.
    private static func feed(_ rest: inout ArraySlice<UInt8>, into descriptor: Int32) -> Bool {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 { return errno == EAGAIN }
        rest = rest.dropFirst(count)
        return !rest.isEmpty
    }

    /// Reads the available bytes; returns false at end-of-file.
    private static func take(_ bytes: inout [UInt8], from descriptor: Int32) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &chunk, chunk.count)
        bytes += chunk.prefix(max(count, 0))
        return count > 0
    }

    private static func wait(for child: pid_t) -> End {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 { precondition(errno == EINTR, "waitpid: \(systemReason())") }
        // The same as WIFSIGNALED and its siblings, which are macros.
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
    }
}
