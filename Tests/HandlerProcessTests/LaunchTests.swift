import Glibc
import Testing

@testable import HandlerProcess

@Suite("A program that is started", .timeLimit(.minutes(30)))
struct LaunchTests {
    @Test("gets its arguments as they are, its directory, and only the environment given, with the mark")
    func surroundings() throws {
        var command = ProcessCommand(
            arguments: [
                "/bin/sh", "-c", #"pwd; printf '%s\n' "$@"; exec /usr/bin/env"#, "sh", "two words", "$HOME *", "",
            ],
            environment: ["A=1", "B=ü"], workingDirectory: "/usr", standardInput: [], mark: "s:1:0")
        let lines = try command.start().outputLines()
        #expect(lines.prefix(3) == ["/usr", "two words", "$HOME *"])
        #expect(Set(lines.dropFirst(3)) == ["A=1", "B=ü", "PUSH_RUN=s:1:0", "PWD=/usr"])  // PWD is the shell's own
        command.arguments = ["/usr/bin/env"]
        #expect(try command.start().outputLines() == ["PUSH_RUN=s:1:0", "A=1", "B=ü"])
    }

    @Test(
        "reads its whole input, whichever way it reads",
        arguments: [
            ("cat", "{\"a\":1}"),
            ("read line; echo \"$line\"", "{\"a\":1}"),
            ("cat /dev/stdin", "{\"a\":1}"),
            ("cat >/dev/null; cat /proc/self/fd/0", "{\"a\":1}"),
            ("wc -c", "7"),
        ])
    func input(script: String, output: String) throws {
        #expect(try shell(script, input: "{\"a\":1}").start().outputLines() == [output])
    }

    @Test("may leave 256 KiB of input unread, and nobody waits")
    func unreadInput() throws {
        let child = try shell("exit 7", input: String(repeating: "x", count: 256 << 10)).start()
        #expect(try child.waitForExit() == .exited(7))
    }

    @Test("cannot change its input")
    func sealedInput() throws {
        let child = try shell("(echo more >>/proc/self/fd/0) 2>/dev/null; echo $?", input: "1").start()
        #expect(try child.outputLines() != ["0"])
    }

    @Test("has no descriptor but 0, 1 and 2")
    func descriptors() throws {
        let inheritable = open("/dev/null", O_RDONLY)
        defer { close(inheritable) }
        // The last one is the directory that ls reads.
        #expect(try shell("exec ls /proc/self/fd").start().outputLines() == ["0", "1", "2", "3"])
    }

    @Test("has no signal blocked or ignored, although we have")
    func signals() async {
        await #expect(processExitsWith: .success) {
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, nil)
            for ignored in [SIGPIPE, SIGHUP, SIGUSR1] { signal(ignored, SIG_IGN) }
            let child = try shell("exec grep -E 'Sig(Blk|Ign)' /proc/self/status").start()
            #expect(try child.outputLines() == ["SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"])
        }
    }

    @Test("leads a process group of its own")
    func group() throws {
        let child = try shell("echo; sleep 60").start()
        _ = try child.outputLines(1)
        #expect(getpgid(child.processID) == child.processID)
    }

    @Test("ends with the code it gives", arguments: [0, 1, 75, 80, 255] as [Int32])
    func exitCode(code: Int32) throws {
        let child = try shell("exit \(code)").start()
        #expect(try child.waitForExit() == .exited(code))
        #expect(child.reap() == nil, "a status is given once")
    }

    @Test("ends by the signal it gets", arguments: [SIGKILL, SIGTERM, SIGSEGV])
    func exitSignal(signal: Int32) throws {
        let child = try shell("kill -\(signal) $$").start()
        #expect(try child.waitForExit() == .signaled(signal))
    }

    @Test("has no status while it runs")
    func noStatus() throws {
        #expect(try shell("sleep 60").start().reap() == nil)
    }
}
