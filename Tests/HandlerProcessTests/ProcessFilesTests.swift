import Glibc
import Testing

@testable import HandlerProcess

@Suite("A process in /proc", .timeLimit(.minutes(30)))
struct ProcessFilesTests {
    private func stat(name: String, flags: Int = 0, code: Int = 4096, environment: (Int, Int) = (100, 350)) -> [UInt8] {
        var fields = Array(repeating: "0", count: 53)
        fields[1] = "42"
        fields[2] = "(\(name))"
        fields[3] = "S"
        fields[4] = "7"
        fields[5] = "41"
        fields[8] = "-1"
        fields[9] = String(flags)
        fields[22] = "8871"
        fields[26] = String(code)
        fields[50] = String(environment.0)
        fields[51] = String(environment.1)
        return Array((fields[1...].joined(separator: " ") + "\n").utf8)
    }

    @Test("the status of a process is read whatever its name is", arguments: ["sh", "", ") R 1 1 1 (", "a b\nc)"])
    func names(name: String) {
        let status = ProcessFiles.status(parsing: stat(name: name))
        #expect(
            status
                == ProcessFiles.Status(parent: 7, group: 41, startTime: 8871, isExiting: false, environmentLength: 250))
    }

    @Test("with an empty environment differs from one without an environment yet, and from one that is exiting")
    func phases() {
        #expect(ProcessFiles.status(parsing: stat(name: "sh", environment: (9, 9)))?.environmentLength == 0)
        // execve(2) sets the environment's address before its length; the code's address comes last.
        #expect(ProcessFiles.status(parsing: stat(name: "sh", code: 0, environment: (9, 9)))?.environmentLength == nil)
        #expect(ProcessFiles.status(parsing: stat(name: "sh", code: 1, environment: (0, 0)))?.environmentLength == 0)
        #expect(ProcessFiles.status(parsing: stat(name: "sh", flags: 0x40_0104))?.isExiting == true)
    }

    @Test("is refused if its status is truncated")
    func short() {
        #expect(ProcessFiles.status(parsing: Array("42 (sh) S 7 42".utf8)) == nil)
        #expect(ProcessFiles.status(parsing: []) == nil)
    }

    @Test(
        "has a mark only as a whole environment entry, and the first one counts",
        arguments: [
            ("PUSH_RUN=s:1:0\0", "s:1:0"), ("A=1\0PUSH_RUN=s:1:0", "s:1:0"), ("PUSH_RUN=a\0PUSH_RUN=b\0", "a"),
            ("PUSH_RUN=\0", ""), ("A=PUSH_RUN=s:1:0\0", nil), ("XPUSH_RUN=s:1:0\0", nil), ("PUSH_RUN\0", nil),
            ("", nil),
        ])
    func marks(environment: String, mark: String?) {
        #expect(ProcessFiles.mark(in: Array(environment.utf8)) == mark)
    }

    @Test("is read correctly: marked, without environment, dead")
    func real() throws {
        let mark = uniqueMark()
        let child = try shell("env -i sh -c 'echo $$; kill -STOP $$' & kill -STOP $$", mark: mark).start()
        let unmarked = try child.outputProcesses(1)[0]
        #expect(ProcessFiles.mark(of: child.processID) == .marked(mark))
        #expect(ProcessFiles.mark(of: unmarked) == .unmarked)
        let status = try #require(ProcessFiles.status(of: child.processID))
        #expect(status.parent == getpid())
        #expect(status.group == child.processID)
        #expect(!status.isExiting)
        child.killGroup()
        try #require(waitUntilReadable(child.pidfd))
        #expect(ProcessFiles.mark(of: child.processID) == .exiting)
        #expect(ProcessFiles.status(of: child.processID)?.isExiting == true)
        #expect(child.reap() == .signaled(SIGKILL))
        #expect(ProcessFiles.status(of: child.processID) == nil)
    }

    @Test("is undecided only within execve: 20,000 looks at a process that does nothing else")
    func execve() throws {
        let mark = uniqueMark()
        let child = try shell("f='exec sh -c \"$f\"'; export f; echo; exec sh -c \"$f\"", mark: mark).start()
        _ = try child.outputLines(1)
        for _ in 0..<20_000 {
            let found = ProcessFiles.mark(of: child.processID)
            #expect(found == .marked(mark) || found == .undecided)
        }
        child.killGroup()
        #expect(try child.waitForExit() == .signaled(SIGKILL))
    }
}
