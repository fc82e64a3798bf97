import Glibc
import Testing

@testable import HandlerProcess
@testable import HandlerRuns
@testable import LinuxSystem

/// Each test runs in its own process: a subreaper adopts the orphans of all other tests.
@Suite("The sweeper", .timeLimit(.minutes(30)))
struct OrphanSweeperTests {
    /// The number of looks at a process.
    private final class Looks {
        var count = 0
    }

    @Test("looks again, without a signal, at a process within execve, and kills it if its run has ended")
    func secondLook() async {
        await #expect(processExitsWith: .success) {
            SignalSource.block([SIGCHLD])
            let loop = try EventLoop()
            let looks = Looks()
            let orphans = try OrphanReaper(adopts: true) { _ in
                looks.count += 1
                return looks.count == 1 ? .undecided : .marked("ended:1:0")
            }
            let sweeper = OrphanSweeper(loop: loop, orphans: orphans) { _ in }
            try sweeper.begin()
            let orphan = try Self.orphan()
            defer { kill(orphan, SIGKILL) }

            sweeper.sweep()
            #expect(looks.count == 1 && kill(orphan, 0) == 0)
            // The timer fires only if the sweeper does not look again.
            let limit = try TimerSource(loop: loop) { loop.exit(code: 1) }
            limit.arm(at: EventLoop.nowNanoseconds + 30_000_000_000)
            let code = try loop.run { if kill(orphan, 0) != 0 { loop.exit(code: 0) } }
            #expect(code == 0, "nobody looked again")
            #expect(looks.count == 2)
        }
    }

    /// The processes that the daemon leaves at its end.
    private final class Family {
        var helper: Int32 = 0
        var parent: Int32 = 0
        var child: Int32 = 0
    }

    @Test("finds at the daemon's end the children of processes that died during the sweep")
    func leftMeanwhile() async {
        await #expect(processExitsWith: .success) {
            SignalSource.block([SIGCHLD])
            let family = Family()
            LiveRuns.begin("test:1:0")
            let orphans = try OrphanReaper(adopts: true) { process in
                switch process {
                case family.helper:
                    // The list was read. When the parent has ended, its child is adopted, and not in that list.
                    kill(family.parent, SIGKILL)
                    var facts = siginfo_t()
                    waitid(P_PID, id_t(family.parent), &facts, WEXITED | Int32(WNOWAIT))
                    return .marked("test:1:0")
                case family.child: return .marked("test:2:0")
                default: return .undecided
                }
            }
            let sweeper = OrphanSweeper(loop: try EventLoop(), orphans: orphans) { _ in }
            try sweeper.begin()
            family.helper = try Self.orphan()
            family.parent = try Self.orphan("sh -c 'sleep 600 & exec sleep 600' & exit")
            while family.child == 0 {
                let children = ProcessFiles.contents("/proc/\(family.parent)/task/\(family.parent)/children") ?? []
                family.child = ProcessFiles.processes(parsing: children).first ?? 0
            }
            defer { for process in [family.helper, family.child] { kill(process, SIGKILL) } }

            sweeper.sweep(isLast: true)
            try #require(sweeper.adoptedCount == 2, "the child is not known")
            var facts = siginfo_t()
            #expect(waitid(P_PID, id_t(family.child), &facts, WEXITED | Int32(WNOWAIT)) == 0)
            #expect(facts.si_code == CLD_KILLED)
        }
    }

    /// A process without a parent, which this process adopts.
    private static func orphan(_ script: String = "sleep 600 & exit") throws -> Int32 {
        var shell: pid_t = 0
        let words = ["sh", "-c", script]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawn(&shell, "/bin/sh", nil, nil, &arguments, environ) == 0)
        try #require(waitpid(shell, nil, 0) == shell)
        let children = try #require(ProcessFiles.contents("/proc/self/task/\(getpid())/children"))
        return try #require(ProcessFiles.processes(parsing: children).last)
    }
}
