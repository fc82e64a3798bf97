import Glibc
import LinuxSystem
import PushModel

/// Runs this command in the sandbox of the service, with its user and properties, by `systemd-run`.
enum ServiceTrial {
    /// Runs `run-handler` once for each file, as its standard input, because the sandbox may hide the file.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of the command; the first operand is the handler.
    ///   - program: the absolute path of a program that is the handler; `nil`: a handler of the configuration is.
    ///   - words: the arguments of this program.
    /// - Returns: the worst exit status of the runs.
    /// - Throws: when there is no service manager or no unit, or a file cannot be read.
    static func run(_ arguments: Arguments, program: String?, words: [String]) throws(Failure) -> ExitStatus {
        guard ServiceUnit.hasManager else {
            throw Failure(
                .unavailable,
                "--as-service: systemd does not run this machine, so the handler cannot run in the service")
        }
        guard let text = ServiceUnit.properties(["LoadState"] + ServiceUnit.sandbox),
            text.split(separator: "\n").contains("LoadState=loaded")
        else { throw Failure(.unavailable, "--as-service: there is no unit \(ServiceUnit.name): install the package") }
        let properties = text.split(separator: "\n").filter { !$0.hasPrefix("LoadState=") }.flatMap { line in
            ["--property", String(line)]
        }
        var command = words.filter { $0 != "--as-service" }
        for file in arguments.operands.dropFirst() {
            if let place = command.lastIndex(of: file) { command.remove(at: place) }
        }
        // The service has another working directory.
        if let program, let place = command.firstIndex(of: arguments.operands[0]) { command[place] = program }
        var status = ExitStatus.done
        for file in arguments.operands.dropFirst() {
            let input = try open(file)
            let words =
                ["systemd-run", "--quiet", "--pipe", "--wait", "--collect", "--service-type=exec"] + properties + [
                    "--", try ownPath(),
                ] + command + ["-"]
            let end = try run(words, input: input)
            if end != .done, status == .done || status == .no { status = end }
        }
        return status
    }

    private static func open(_ path: String) throws(Failure) -> FileDescriptor {
        guard let file = FileDescriptor(path == "-" ? dup(STDIN_FILENO) : Glibc.open(path, O_RDONLY | O_CLOEXEC)) else {
            throw Failure(.noInput, "\(path): \(errorText(errno))")
        }
        return file
    }

    private static func ownPath() throws(Failure) -> String {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = path.withUnsafeMutableBytes { bytes in
            bytes.assumingMemoryBound(to: CChar.self).baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) }
                ?? 0
        }
        guard count > 0 else { throw Failure(.inputOutput, "/proc/self/exe: \(errorText(errno))") }
        return String(decoding: path[..<count], as: UTF8.self)
    }

    private static func run(_ words: [String], input: borrowing FileDescriptor) throws(Failure) -> ExitStatus {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.rawValue, STDIN_FILENO)
        var vector = words.map { strdup($0) }
        vector.append(nil)
        defer { vector.forEach { free($0) } }
        var process: pid_t = 0
        let number = posix_spawnp(&process, words[0], &actions, nil, vector, environ)
        guard number == 0 else { throw Failure(.unavailable, "--as-service: \(words[0]): \(errorText(number))") }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        // These are WIFEXITED and WEXITSTATUS.
        guard status & 0x7F == 0 else { return .inputOutput }
        return ExitStatus(rawValue: (status >> 8) & 0xFF) ?? .inputOutput
    }
}
