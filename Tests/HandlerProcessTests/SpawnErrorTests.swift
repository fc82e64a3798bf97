import Glibc
import TestSupport
import Testing

@testable import HandlerProcess

@Suite("A program that cannot be started", .timeLimit(.minutes(30)))
struct SpawnErrorTests {
    /// A directory with one file of every kind that execve refuses.
    private struct Shelf: ~Copyable {
        private let directory = TemporaryDirectory()
        var path: String { directory.path }

        init() {
            // Another process writes them: while we had one open a program that another test starts would have it, too, up
            // to its exec, and execve refuses a file that somebody may write (ETXTBSY).
            let script = """
                cd "$0" && echo echo hello >no-shebang && chmod 755 no-shebang && echo '#!/bin/sh' >not-executable \
                    && echo '#!/nowhere/sh' >no-interpreter && chmod 755 no-interpreter
                """
            precondition(Program(path: "/bin/sh").run(["-c", script, path]).end == .exited(0))
        }
    }

    @Test(
        "says what is wrong with it",
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
        let shelf = Shelf()
        // Of one that stays it is known at once, of one with its whole input at the end of its process.
        for streams in [ProcessCommand.Streams.once(input: []), .conversation(readsErrors: false)] {
            let command = ProcessCommand(
                arguments: ["\(shelf.path)/\(name)"], environment: [], streams: streams, mark: uniqueMark())
            let error = try command.startFailure()
            #expect(error.code == code)
            #expect(error.description == "cannot start \(shelf.path)/\(name): \(reason)")
            #expect(!error.isShortage)
            #expect(!LiveRuns.isLive(command.mark))
        }
    }

    @Test("is told apart from one that ends with the exit status of a shell that finds no program")
    func exitStatus() throws {
        let child = try shell("exit 127").start()
        #expect(try child.waitForExit() == .exited(127))
        #expect(child.startFailure == nil)
    }

    @Test("is known at the end of the process, whenever the run is settled")
    func settled() throws {
        var command = shell("true")
        command.arguments[0] = "/no/such/program"
        let child = try command.start()
        #expect(waitUntilReadable(child.pidfd))
        #expect(child.settle())
        #expect(try child.waitForExit() == .exited(127))
        #expect(child.startFailure?.code == ENOENT)
    }

    @Test("is known at once where memory has a limit: before its exec the kernel would end us with the program")
    func limitedMemory() throws {
        var command = shell("true")
        command.arguments[0] = "/no/such/program"
        command.confinement.cgroup.memoryMax = 1 << 20
        #expect(throws: SpawnError(ENOENT, starting: command)) { _ = try command.start() }
    }

    @Test("says when it is the working directory", arguments: ["/nowhere", "/etc/passwd"])
    func directory(path: String) throws {
        var command = shell("true")
        command.workingDirectory = path
        let error = try command.startFailure()
        #expect(
            error.reason == "its working directory \(path) is missing, not a directory, or may not be entered")
    }

    @Test("says when its environment is too large")
    func tooLarge() throws {
        var command = shell("true")
        command.environment.append(("A", String(repeating: "x", count: 128 << 10)))
        let error = try command.startFailure()
        #expect(error.code == E2BIG)
        #expect(
            error.reason == "its arguments and environment are larger than the system takes (a single one: 128 KiB)")
    }

    @Test("is not to blame when descriptors are short; no child and no run stays behind")
    func shortage() async {
        await #expect(processExitsWith: .success) {
            let command = shell("sleep 60", mark: "s:1:0")
            _ = try command.start()  // so that nothing is opened for the first time below
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            // Short at each of the descriptors that a start needs: input, two ends of the output, pidfd.
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
