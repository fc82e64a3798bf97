import Glibc
import Testing

@testable import HandlerProcess
@testable import HandlerRuns
@testable import LinuxSystem
@testable import PushModel
@testable import PushRouter

@Suite("The program of a worker", .timeLimit(.minutes(30)))
struct WorkerChannelTests {
    // Runs in its own process: the sweeper kills processes that it does not know.
    @Test("that is being started when its input ends gets the end of input once it runs")
    func endOfInput() async {
        await #expect(processExitsWith: .success) {
            SignalSource.block([SIGCHLD])
            let loop = try EventLoop()
            let starter = try ProgramStarter(
                loop: loop, owner: "test\(getpid())", descriptorLimit: nil, cgroups: nil)
            let sweeper = OrphanSweeper(loop: loop, orphans: try OrphanReaper(adopts: false)) {
                Issue.record("it logs \($0.message)")
            }
            let system = try InstanceSystem(
                loop: loop, starter: starter, sweeper: sweeper, log: { Issue.record("it logs \($0.message)") },
                observe: nil)
            var reasons: [String] = []
            let command = Handler.Command(arguments: ["/bin/sh", "-c", "read -r line; exit 7"])
            let channel = WorkerChannel(command, name: "w", mark: "test\(getpid()):w:1", token: 1, system: system) {
                if case .closed(let reason) = $0 {
                    reasons.append(reason)
                    loop.exit(code: 0)
                }
            }
            try starter.begin { channel.wasSpawned($0.outcome) }
            channel.open()
            // The loop has not run, so it does not know the start yet.
            channel.finishInput()
            let limit = try TimerSource(loop: loop) { loop.exit(code: 1) }
            limit.arm(at: EventLoop.nowNanoseconds + 30_000_000_000)
            #expect(try loop.run() == 0, "it waits for a line")
            #expect(reasons == ["ended with exit status 7"])
            channel.close()
        }
    }

    // A line longer than the socket buffer is sent only in part.
    @Test("that ends while its child holds the socket has left a partly sent line unread")
    func heldSocket() async {
        await #expect(processExitsWith: .success) {
            SignalSource.block([SIGCHLD])
            let loop = try EventLoop()
            let starter = try ProgramStarter(
                loop: loop, owner: "test\(getpid())", descriptorLimit: nil, cgroups: nil)
            let sweeper = OrphanSweeper(loop: loop, orphans: try OrphanReaper(adopts: true)) { _ in }
            let system = try InstanceSystem(
                loop: loop, starter: starter, sweeper: sweeper, log: { Issue.record("it logs \($0.message)") },
                observe: nil)
            var reports: [String] = []
            let command = Handler.Command(arguments: ["/bin/sh", "-c", "read -r line; (sleep 60 &); exit 7"])
            var send = {}
            let channel = WorkerChannel(command, name: "w", mark: "test\(getpid()):w:1", token: 1, system: system) {
                switch $0 {
                case .opened: send()
                case .acceptsNoLines(let leavesLast): reports.append(leavesLast ? "leaves last" : "takes no more")
                case .closed(let reason):
                    reports.append(reason)
                    loop.exit(code: 0)
                case .gone: break
                case .failedToOpen, .line: Issue.record("\($0)")
                }
            }
            send = { [unowned channel] in
                channel.send(Array("line\n".utf8))
                channel.send([UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20) + Array("\n".utf8))
            }
            try starter.begin { channel.wasSpawned($0.outcome) }
            channel.open()
            let limit = try TimerSource(loop: loop) { loop.exit(code: 1) }
            limit.arm(at: EventLoop.nowNanoseconds + 30_000_000_000)
            #expect(try loop.run() == 0, "it does not end")
            #expect(reports == ["takes no more", "leaves last", "ended with exit status 7"])
            sweeper.endAll()
        }
    }
}
