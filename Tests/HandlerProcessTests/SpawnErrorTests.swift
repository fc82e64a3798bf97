import Glibc
import Testing

@testable import HandlerProcess

@Suite("A program that cannot be started", .timeLimit(.minutes(30)))
struct SpawnErrorTests {
    /// A directory with one file of every kind that execve refuses.
    private final class Shelf {
        let path: String

        init() throws {
            var template = Array("/tmp/pushrouterd-spawn-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            try add("no-shebang", "echo hello\n", mode: 0o755)
            try add("not-executable", "#!/bin/sh\n", mode: 0o644)
            try add("no-interpreter", "#!/nowhere/sh\n", mode: 0o755)
        }

        deinit {
            for name in ["no-shebang", "not-executable", "no-interpreter"] { unlink("\(path)/\(name)") }
            rmdir(path)
        }

        private func add(_ name: String, _ text: String, mode: mode_t) throws {
            let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, mode)
            try #require(file >= 0)
            defer { close(file) }
            _ = write(file, text, text.utf8.count)
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
            (".", EACCES, "it is a directory"),
            ("no-shebang", ENOEXEC, "neither a binary for this machine nor a script that begins with #!"),
        ])
    func reason(name: String, code: Int32, reason: String) throws {
        let shelf = try Shelf()
        let command = ProcessCommand(
            arguments: ["\(shelf.path)/\(name)"], environment: [], standardInput: [], mark: uniqueMark())
        let error = #expect(throws: SpawnError.self) { try command.start() }
        #expect(error?.code == code)
        #expect(error?.description == "cannot start \(shelf.path)/\(name): \(reason)")
        #expect(error?.isShortage == false)
    }

    @Test("says when it is the working directory", arguments: ["/nowhere", "/etc/passwd"])
    func directory(path: String) throws {
        var command = shell("true")
        command.workingDirectory = path
        let error = #expect(throws: SpawnError.self) { try command.start() }
        #expect(
            error?.reason == "its working directory \(path) is missing, not a directory, or may not be entered")
    }

    @Test("says when its environment is too large")
    func tooLarge() throws {
        var command = shell("true")
        command.environment.append("A=" + String(repeating: "x", count: 128 << 10))
        let error = #expect(throws: SpawnError.self) { try command.start() }
        #expect(error?.code == E2BIG)
        #expect(
            error?.reason == "its arguments and environment are larger than the system takes (a single one: 128 KiB)")
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
