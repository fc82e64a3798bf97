import Glibc
import TestSupport
import Testing

@testable import HandlerProcess
@testable import LinuxSystem

@Suite("A started program", .timeLimit(.minutes(30)))
struct LaunchTests {
    @Test("gets its arguments unchanged, its directory, and only the given environment, with the mark")
    func surroundings() throws {
        var command = ProcessCommand(
            arguments: [
                "/bin/sh", "-c", #"pwd; printf '%s\n' "$@"; exec /usr/bin/env"#, "sh", "two words", "$HOME *", "",
            ],
            environment: [("A", "1"), ("B", "ü")], workingDirectory: "/usr", standardInput: [], mark: "s:1:0")
        let lines = try command.start().outputLines()
        #expect(lines.prefix(3) == ["/usr", "two words", "$HOME *"])
        #expect(Set(lines.dropFirst(3)) == ["A=1", "B=ü", "PUSH_RUN=s:1:0", "PWD=/usr"])  // PWD is the shell's own
        command.arguments = ["/usr/bin/env"]
        #expect(try command.start().outputLines() == ["PUSH_RUN=s:1:0", "A=1", "B=ü"])
    }

    @Test(
        "reads its whole input, by any kind of read",
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

    /// A program with two secrets, which prints both, one of them twice, and how many descriptors it has.
    private func withCredentials(in directory: borrowing TemporaryDirectory) -> ProcessCommand {
        writeFile("s3cret\n", to: directory.path + "/a")
        writeFile("other\n", to: directory.path + "/b")
        chmod(directory.path + "/a", 0o400)
        var command = shell(
            #"cat "$A" "$A" "$B"; (echo x >>"$A") 2>/dev/null; cat "$A"; set -- /proc/self/fd/*; echo $#"#)
        command.credentials = ["a", "b"].map {
            .init(variable: $0.uppercased(), path: directory.path + "/" + $0)
        }
        return command
    }

    @Test(
        "gets its secrets as files that it can read again and not change, and no other descriptor",
        arguments: [false, true])
    func credentials(stays: Bool) throws {
        let directory = TemporaryDirectory()
        var command = withCredentials(in: directory)
        if stays { command.streams = .conversation(readsErrors: false) }
        let lines = try command.start().outputLines()
        #expect(lines.prefix(4) == ["s3cret", "s3cret", "other", "s3cret"])
        #expect(lines.last == "6", "three streams, two secrets, and the list itself: \(lines)")
    }

    @Test("gets as another user a secret that this user may not read", .needsRoot)
    func credentialsOfOthers() throws {
        let directory = TemporaryDirectory()
        var command = withCredentials(in: directory)
        chmod(directory.path, 0o700)
        command.confinement.user = "nobody"
        #expect(try command.start().outputLines().prefix(3) == ["s3cret", "s3cret", "other"])
    }

    @Test("is not started without a secret, with the reason")
    func missingCredentials() throws {
        let directory = TemporaryDirectory()
        let command = withCredentials(in: directory)
        unlink(directory.path + "/b")
        let missing = try command.startFailure().description
        #expect(
            missing == "cannot start /bin/sh: cannot read \(directory.path)/b (Credential=): No such file or directory")
        mkfifo(directory.path + "/b", 0o600)
        #expect(try command.startFailure().description.hasSuffix("(Credential=): it is no regular file"))
        truncate(directory.path + "/a", 2 << 20)
        #expect(try command.startFailure().description.hasSuffix("; a credential has 1 MiB at most"))
    }

    @Test("may leave 256 KiB of input unread, and no thread waits")
    func unreadInput() throws {
        let child = try shell("exit 7", input: String(repeating: "x", count: 256 << 10)).start()
        #expect(try child.waitForExit() == .exited(7))
    }

    @Test("a program cannot change the memory that its standard input is read from")
    func sealedInput() throws {
        let child = try shell("(echo more >>/proc/self/fd/0) 2>/dev/null; echo $?", input: "1").start()
        #expect(try child.outputLines() != ["0"])
    }

    /// The oom_score_adj of a process.
    private func preference(of process: String) throws -> Int {
        let bytes = try #require(readFile("/proc/\(process)/oom_score_adj"))
        return try #require(Int(String(decoding: bytes.dropLast(), as: UTF8.self)))
    }

    @Test("has a higher oom_score_adj than the daemon once it is settled, and the daemon's stays")
    func memoryPreference() throws {
        let own = try preference(of: "self")
        let child = try shell("echo; exec sleep 60").start()
        // The shell writes, so its exec is done.
        _ = try child.outputLines(1)
        #expect(try preference(of: "\(child.processID)") == own)
        #expect(child.settle())
        #expect(try preference(of: "\(child.processID)") == min(1000, own + 500))
        #expect(try preference(of: "self") == own)
    }

    @Test("that keeps running has the higher oom_score_adj from its start")
    func memoryPreferenceOfConversation() throws {
        let own = try preference(of: "self")
        var command = shell("cat /proc/self/oom_score_adj")
        command.streams = .conversation(readsErrors: false)
        #expect(try command.start().outputLines() == ["\(min(1000, own + 500))"])
        #expect(try preference(of: "self") == own)
    }

    @Test("is not settled while it shares the daemon's memory: the write would change the daemon's own oom_score_adj")
    func settledTooEarly() throws {
        let own = try preference(of: "self")
        // The test asks from the first moment on, mostly before the exec.
        let child = try shell("exit 0").start()
        while !child.settle() { sched_yield() }
        #expect(try preference(of: "self") == own)
        _ = try child.waitForExit()
        #expect(child.settle(), "there is nothing left to be done")
    }

    @Test("has no descriptors except 0, 1 and 2")
    func descriptors() throws {
        let inheritable = open("/dev/null", O_RDONLY)
        defer { close(inheritable) }
        // Descriptor 3 is the directory that ls reads.
        #expect(try shell("exec ls /proc/self/fd").start().outputLines() == ["0", "1", "2", "3"])
    }

    @Test("has the given soft limit of open files, and the hard limit unchanged")
    func descriptorLimit() throws {
        var command = shell("ulimit -Sn; ulimit -Hn")
        let inherited = try command.start().outputLines()
        command.descriptorLimit = 100
        #expect(try command.start().outputLines() == ["100", inherited[1]])
    }

    @Test("has no file of the daemon as a standard stream, even if the daemon started with closed streams")
    func standardDescriptors() async {
        await #expect(processExitsWith: .success) {
            for descriptor: Int32 in 0...2 { close(descriptor) }
            StandardDescriptors.open()
            let child = try shell("for i in 0 1 2; do readlink /proc/self/fd/$i; done").start()
            let links = try child.outputLines()
            #expect(links[0].hasPrefix("/memfd:push") && links[1].hasPrefix("pipe:") && links[2] == "/dev/null")
        }
    }

    @Test(
        "has one socket as standard input and output, and its standard error is read or discarded",
        arguments: [true, false])
    func conversation(readsErrors: Bool) throws {
        let script = "while read line; do echo \"got $line\"; echo \"heard $line\" >&2; done; exit 5"
        let command = ProcessCommand(
            arguments: ["/bin/sh", "-c", script], environment: [],
            streams: .conversation(readsErrors: readsErrors), mark: uniqueMark())
        let child = try command.start()
        let socket = try #require(child.takeConversation())
        for word in ["one", "two"] {
            #expect(write(socket.rawValue, "\(word)\n", 4) == 4)
            try #require(waitUntilReadable(socket.rawValue))
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = read(socket.rawValue, &bytes, bytes.count)
            #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self) == "got \(word)\n")
        }
        shutdown(socket.rawValue, Int32(SHUT_WR))
        #expect(try child.waitForExit() == .exited(5))
        guard let errors = child.takeErrors() else { return #expect(!readsErrors) }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(errors.rawValue, &bytes, bytes.count)
        #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self) == "heard one\nheard two\n")
    }

    @Test("has no signal blocked or ignored, although the daemon has")
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

    @Test("a program's exit code is reported", arguments: [0, 1, 75, 80, 255] as [Int32])
    func exitCode(code: Int32) throws {
        let child = try shell("exit \(code)").start()
        #expect(try child.waitForExit() == .exited(code))
        #expect(child.reap() == nil, "a status is given once")
    }

    @Test("the signal that ended a program is reported", arguments: [SIGKILL, SIGTERM, SIGSEGV])
    func exitSignal(signal: Int32) throws {
        let child = try shell("kill -\(signal) $$").start()
        #expect(try child.waitForExit() == .signaled(signal))
    }

    @Test("has no exit status while it runs")
    func noStatus() throws {
        #expect(try shell("sleep 60").start().reap() == nil)
    }

    @Test("does not run at all without a descriptor to watch it")
    func noDescriptor() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = 64
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            var fillers: [Int32] = []
            while true {
                let filler = dup(0)
                guard filler >= 0 else { break }
                fillers.append(filler)
            }
            while true {
                do {
                    let child = try shell("exit 3").start()
                    #expect(try child.waitForExit() == .exited(3))
                    return
                } catch let error as SpawnError {
                    #expect(error.isShortage, "\(error)")
                }
                // A process that ran has page faults: `ru_minflt` of RUSAGE_CHILDREN counts those of all reaped
                // children.
                var usage = rusage()
                #expect(getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage) == 0 && usage.ru_minflt == 0)
                let filler = fillers.popLast()
                close(try #require(filler))
            }
        }
    }
}
