import Glibc
import Testing

@testable import HandlerProcess

@Suite("After a crash of the daemon", .timeLimit(.minutes(30)))
struct LeftoverProcessesTests {
    @Test("all processes of this state directory are killed, escaped or not, and no others")
    func kills() throws {
        let state = "left\(getpid())"
        let run = try shell(
            "setsid sh -c 'echo $$; env -i setsid sleep 60 & echo $!; wait' &"  // found by mark, and by parent
                + "(env -i sh -c 'echo $$; exec sleep 60' &); sleep 60",  // found by group
            mark: "\(state):1:0"
        ).start()
        let other = try shell("echo; sleep 60", mark: "\(state)0:1:0").start()
        let processes = try run.outputProcesses(3) + [run.processID]
        _ = try other.outputLines(1)

        #expect(LeftoverProcesses.kill(of: state, patience: .seconds(30)) == [])
        for process in processes { #expect(!isRunning(process)) }
        #expect(try run.waitForExit() == .signaled(SIGKILL))
        other.terminateGroup()
        #expect(try other.waitForExit() == .signaled(SIGTERM), "another state's")
    }

    @Test("no process is found if none is left")
    func nothing() {
        #expect(LeftoverProcesses.kill(of: "none\(getpid())", patience: .zero) == [])
    }

    @Test("a pid that was reused, now or when its status was read, is left alone")
    func usedAgain() {
        func status(_ startTime: UInt64) -> ProcessFiles.Status {
            ProcessFiles.Status(
                parent: 1, group: 7, startTime: startTime, isExiting: false, environmentLength: 100)
        }
        var marks: [String?] = ["s:1:0", nil]
        let changed = LeftoverProcesses.find(
            markPrefix: "s:", in: [7], mark: { _ in marks.removeFirst() }, status: { _ in status(5) })
        #expect(changed.isEmpty)
        var times: [UInt64] = [5, 6]
        let replaced = LeftoverProcesses.find(
            markPrefix: "s:", in: [7], mark: { _ in "s:1:0" }, status: { _ in status(times.removeFirst()) })
        #expect(replaced.isEmpty)
        let same = LeftoverProcesses.find(
            markPrefix: "s:", in: [7], mark: { _ in "s:1:0" }, status: { _ in status(5) })
        #expect(same.map(\.process) == [7])
    }
}
