import Glibc
import Testing

@testable import HandlerProcess

@Suite("A program's process group", .timeLimit(.minutes(30)))
struct GroupTests {
    @Test("SIGTERM ends all processes of a program's group")
    func terminate() throws {
        let child = try shell("echo; sleep 60").start()
        _ = try child.outputLines(1)
        child.terminateGroup()
        #expect(try child.waitForExit() == .signaled(SIGTERM))
    }

    @Test("may ignore SIGTERM, but not SIGKILL")
    func refusal() throws {
        let child = try shell("trap 'echo no' TERM; echo; while :; do sleep 0.01; done").start()
        _ = try child.outputLines(1)
        child.terminateGroup()
        #expect(try child.outputLines(1) == ["no"])
        #expect(child.reap() == nil)
        child.killGroup()
        #expect(try child.waitForExit() == .signaled(SIGKILL))
    }

    @Test("dies as a whole: children, grandchildren, stopped processes")
    func descendants() throws {
        let child = try shell(
            "sleep 60 & echo $!; sh -c 'sleep 60 & echo $!; kill -STOP $$' & echo $!; sleep 60"
        ).start()
        let descendants = try child.outputProcesses(3)
        child.killGroup()
        #expect(try child.waitForExit() == .signaled(SIGKILL))
        for process in descendants { #expect(waitUntilGone(process)) }
    }

    @Test("does not outlive a leader that ends by itself")
    func background() throws {
        let child = try shell("sleep 60 & echo $!; exit 3").start()
        let background = try child.outputProcesses(1)[0]
        try #require(waitUntilReadable(child.pidfd))
        #expect(isRunning(background))
        #expect(child.reap() == .exited(3))
        #expect(waitUntilGone(background))
    }

    @Test("does not protect a leader that moved to the daemon's group")
    func deserter() throws {
        let perl = "setpgrp(0, getpgrp(getppid())) or die; $| = 1; print qq(\\n); sleep 60"
        let child = try shell("exec perl -e '\(perl)'").start()
        _ = try child.outputLines(1)
        try #require(getpgid(child.processID) == getpgrp())
        child.killGroup()
        #expect(try child.waitForExit() == .signaled(SIGKILL))
    }

    @Test("dies when its handle is dropped")
    func dropped() throws {
        func start() throws -> [Int32] {
            let child = try shell("sleep 60 & echo $!; echo $$; sleep 60").start()
            return try child.outputProcesses(2)
        }
        let processes = try start()
        #expect(waitUntilGone(processes[0]))
        #expect(kill(processes[1], 0) == -1 && errno == ESRCH, "the leader is reaped")
    }

    @Test("SIGKILL ends hundreds of processes of a group at once")
    func hundreds() throws {
        let children = try (0..<300).map { _ in
            try ProcessCommand(
                arguments: ["/bin/sleep", "60"], environment: [], standardInput: [], mark: uniqueMark()
            ).start()
        }
        for child in children { child.killGroup() }
        for child in children { #expect(try child.waitForExit() == .signaled(SIGKILL)) }
    }
}
