import Glibc
import TestSupport
import Testing

@testable import HandlerProcess

@Suite("A program that cannot be started", .timeLimit(.minutes(30)))
struct SpawnErrorTests {
    /// A directory with a file of every kind that execve refuses.
    private struct RefusedPrograms: ~Copyable {
        private let directory = TemporaryDirectory()
        var path: String { directory.path }

        init() {
            // Another process writes the files: a program that another test starts meanwhile would inherit an open
            // descriptor until its exec, and execve refuses a file that is open for writing (ETXTBSY).
            let script = """
                cd "$0" && echo echo hello >no-shebang && chmod 755 no-shebang && echo '#!/bin/sh' >not-executable \
                    && echo '#!/nowhere/sh' >no-interpreter && chmod 755 no-interpreter
                """
            precondition(Program(path: "/bin/sh").run(["-c", script, path]).end == .exited(0))
        }
    }

    @Test(
        "a program that cannot be started has the reason in its error",
        arguments: [
            ("missing", ENOENT, "no such program"),
            ("no-shebang/x", ENOTDIR, "no such program"),
            ("no-interpreter", ENOENT, "the interpreter that it names (#! line or ELF loader) does not exist"),
            (
                "not-executable", EACCES,
                "permission denied: it must be executable, its directories searchable, not mounted noexec"
            ),
            (".", EISDIR, "it is a directory"),
            ("no-shebang", ENOEXEC, "neither a binary for this machine nor a script that begins with #!"),
        ])
    func reason(name: String, code: Int32, reason: String) throws {
        let programs = RefusedPrograms()
        // The failure of a program that keeps running is known at once, that of one with its whole input at its end.
        for streams in [ProcessCommand.Streams.once(input: []), .conversation(readsErrors: false)] {
            let command = ProcessCommand(
                arguments: ["\(programs.path)/\(name)"], environment: [], streams: streams, mark: uniqueMark())
            let error = try command.startFailure()
            #expect(error.code == code)
            #expect(error.description == "cannot start \(programs.path)/\(name): \(reason)")
            #expect(!error.isShortage)
            #expect(!LiveRuns.isLive(command.mark))
        }
    }

    @Test("a program or a directory that the service hides has that in its error, and no other fault")
    func concealed() throws {
        let programs = RefusedPrograms()
        func error(_ program: String, in directory: String = "/") throws -> SpawnError {
            var command = ProcessCommand(
                arguments: [program], environment: [], workingDirectory: directory, standardInput: [],
                mark: uniqueMark())
            command.concealment = {
                [program, directory].contains($0) ? "the service does not see /home (ProtectHome=)" : nil
            }
            return try command.startFailure()
        }
        let end = "; the service does not see /home (ProtectHome=)"
        #expect(try error("\(programs.path)/missing").reason == "no such program\(end)")
        #expect(try error("\(programs.path)/not-executable").reason.hasSuffix("noexec\(end)"))
        #expect(try error("/bin/true", in: "\(programs.path)/missing").reason.hasSuffix("entered\(end)"))
        #expect(try !error("\(programs.path)/no-shebang").reason.contains("ProtectHome"))
        #expect(try !error("\(programs.path)/no-interpreter").reason.contains("ProtectHome"))
    }

    @Test("differs from one that exits with a shell's status for a missing program")
    func exitStatus() throws {
        let child = try shell("exit 127").start()
        #expect(try child.waitForExit() == .exited(127))
        #expect(child.startFailure == nil)
    }

    @Test("is reported at the end of its process, whenever the run is settled")
    func settled() throws {
        var command = shell("true")
        command.arguments[0] = "/no/such/program"
        let child = try command.start()
        #expect(waitUntilReadable(child.pidfd))
        #expect(child.settle())
        #expect(try child.waitForExit() == .exited(127))
        #expect(child.startFailure?.code == ENOENT)
    }

    @Test("is reported at once with a memory limit: before its exec the kernel's OOM killer would end the daemon too")
    func limitedMemory() throws {
        var command = shell("true")
        command.arguments[0] = "/no/such/program"
        command.confinement.cgroup.memoryMax = 1 << 20
        #expect(throws: SpawnError(ENOENT, starting: command)) { _ = try command.start() }
    }

    @Test("is reported with its working directory", arguments: ["/nowhere", "/etc/passwd"])
    func directory(path: String) throws {
        var command = shell("true")
        command.workingDirectory = path
        let error = try command.startFailure()
        #expect(
            error.reason == "its working directory \(path) is missing, not a directory, or may not be entered")
    }

    @Test("is reported with an environment that is too large")
    func tooLarge() throws {
        var command = shell("true")
        command.environment.append(("A", String(repeating: "x", count: 128 << 10)))
        let error = try command.startFailure()
        #expect(error.code == E2BIG)
        #expect(
            error.reason == "its arguments and environment exceed the system's limit (for each string: 128 KiB)")
    }

    @Test("is not to blame for a lack of descriptors; no child and no run is left")
    func shortage() async {
        await #expect(processExitsWith: .success) {
            let command = shell("sleep 60", mark: "s:1:0")
            _ = try command.start()  // so that nothing is opened for the first time below
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            // A shortage at each descriptor of a start: input, two ends of the output, pidfd.
            let next = dup(0)
            close(next)
            for available in 0..<4 {
                limit.rlim_cur = rlim_t(next) + rlim_t(available)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let error = #expect(throws: SpawnError.self) { try command.start() }
                #expect(error?.code == EMFILE)
                #expect(error?.isShortage == true)
                #expect(!LiveRuns.isLive("s:1:0"))
                #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
            }
        }
    }
}
