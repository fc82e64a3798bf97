import Glibc
import TestSupport
import Testing

@testable import HandlerRuns
@testable import LinuxSystem
@testable import PushModel
@testable import PushRouter

@Suite("A withdrawn start", .timeLimit(.minutes(30)))
struct CancelledStartTests {
    /// The number of starts: the threads have not begun most of them when they are withdrawn.
    private static let count: Int64 = 100

    private static func run(
        _ number: Int64, of name: String? = nil, isWorker: Bool, arguments: [String] = ["/bin/sleep", "600"]
    ) -> HandlerRun {
        let command = Handler.Command(arguments: arguments)
        let rules = InstanceRules(instances: 1, pipeline: 1, idleTimeout: nil)
        let handler = Handler(name: name ?? "h\(number)", kind: isWorker ? .worker(command, rules) : .exec(command))
        let now = Moment.now()
        let deadline = now.monotonic + .seconds(3600)
        let request = AcceptedRequest(
            seq: SequenceNumber(number), operation: .deliver, id: nil, peer: Peer(uid: 1, gid: 1, pid: 1),
            acceptedAt: now, boot: UUID128(high: 0, low: 0), mode: .device, platform: .android, app: nil, device: nil,
            externalID: nil, messageID: nil, body: [])
        let record = InvocationRecord(
            id: InvocationID(seq: SequenceNumber(number), n: 0), callback: .onMessageReceived, provider: nil,
            route: "all", handler: handler.name, budget: .seconds(3600), deadline: deadline, started: true, result: nil)
        return HandlerRun(
            invocation: record, request: request, subject: InvocationSubject(), handler: handler, deadline: deadline)
    }

    private static func begin(
        reportingTo report: @escaping (RouterEvent) -> Void = { _ in }
    ) throws -> (EventLoop, HandlerRunner) {
        SignalSource.block([SIGCHLD])
        let loop = try EventLoop()
        let runner = try HandlerRunner(
            loop: loop, owner: "test\(getpid())", descriptorLimit: nil, bridgeCommand: { _ in nil },
            log: { Issue.record("it logs \($0.message)") })
        try runner.begin(reportingTo: report)
        return (loop, runner)
    }

    // Runs in its own process: it adopts orphans, and kills processes that it does not know.
    @Test("leaves no process, of an exec handler and of a worker", arguments: [false, true])
    func cancelled(isWorker: Bool) async {
        await #expect(processExitsWith: .success) { [isWorker] in
            let (loop, runner) = try Self.begin()
            let runs = (1...Self.count).map { Self.run($0, isWorker: isWorker) }
            for run in runs { runner.start(run) }
            #expect(runner.processCount == Int(Self.count))
            runner.stopAll()
            // All starts may have been withdrawn, so that no event comes.
            if runner.processCount == 0 { loop.exit(code: 0) }
            let patience = try TimerSource(loop: loop) { [unowned loop] in loop.exit(code: 1) }
            patience.arm(at: EventLoop.nowNanoseconds + 60_000_000_000)
            let code = try loop.run { if runner.processCount == 0 { loop.exit(code: 0) } }
            #expect(code == 0, "there are \(runner.processCount) processes")
            #expect(runner.count == 0 && !runner.hasInstances && runner.instances.starting.isEmpty)
        }
    }

    // A reload changed the handler twice while its callbacks waited: each version has an entry for its late callback.
    @Test("ends the worker of a removed handler, even if another one of that name comes")
    func removed() async {
        await #expect(processExitsWith: .success) {
            let (loop, runner) = try Self.begin()
            runner.reconfigured([])
            for number in Int64(1)...3 {
                let run = Self.run(number, of: "h", isWorker: true, arguments: ["/bin/sleep", "60\(number)"])
                runner.start(run)
                #expect(runner.stop(run.invocation.id) == nil)
            }
            #expect(runner.processCount == 3)
            let patience = try TimerSource(loop: loop) { [unowned loop] in loop.exit(code: 1) }
            patience.arm(at: EventLoop.nowNanoseconds + 60_000_000_000)
            let code = try loop.run { if !runner.hasInstances { loop.exit(code: 0) } }
            #expect(code == 0, "there are \(runner.processCount) processes")
        }
    }

    @Test("counts as started at its deadline if its program may run before the loop knows")
    func startedUnheard() async {
        await #expect(processExitsWith: .success) {
            var told: [InvocationID] = []
            let (loop, runner) = try Self.begin {
                if case .started(let id, _) = $0 { told.append(id) }
            }
            defer { withExtendedLifetime(loop) {} }
            let directory = TemporaryDirectory()
            let fifo = directory.path + "/process"
            #expect(mkfifo(fifo, 0o600) == 0)
            let run = Self.run(1, isWorker: false, arguments: ["/bin/sh", "-c", "echo >\(fifo); exec sleep 60"])
            runner.start(run)
            _ = readFile(fifo)
            runner.reportStarts(due: run.deadline + .nanoseconds(-1))
            #expect(told.isEmpty)
            for _ in 1...2 { runner.reportStarts(due: run.deadline) }
            #expect(told == [run.invocation.id])
            runner.stopAll()
        }
    }

    // A lease lets the kernel wait with the exec, as a busy disk does. Then the program closes its output.
    @Test("lets a program that the kernel executes late run to its end")
    func lateExec() async {
        await #expect(processExitsWith: .success) {
            // The kernel tells the end of a lease by SIGIO.
            signal(SIGIO, SIG_IGN)
            var answers: [HandlerAnswer] = []
            let (loop, runner) = try Self.begin {
                if case .finished(_, let answer) = $0 { answers.append(answer) }
            }
            let patience = try TimerSource(loop: loop) { [unowned loop] in loop.exit(code: 1) }
            patience.arm(at: EventLoop.nowNanoseconds + 60_000_000_000)
            let directory = TemporaryDirectory()
            for number: Int64 in 1...5 {
                let program = "\(directory.path)/program\(number)"
                writeFile("#!/bin/sh\nexec >/dev/null\nsleep 0.1\n", to: program)
                #expect(chmod(program, 0o700) == 0)
                let lease = open(program, O_RDONLY | O_CLOEXEC)
                defer { close(lease) }
                // F_SETLEASE; file systems of containers may have no leases.
                guard fcntl(lease, 1024, F_WRLCK) == 0 else { return print("left out: a lease: \(errno)") }
                let release = try TimerSource(loop: loop) { _ = fcntl(lease, 1024, F_UNLCK) }
                release.arm(at: EventLoop.nowNanoseconds + 15_000_000)
                runner.start(Self.run(number, isWorker: false, arguments: [program]))
                let code = try loop.run { if answers.count == number { loop.exit(code: 0) } }
                try #require(code == 0)
            }
            for answer in answers { if case .signaled(let signal) = answer { Issue.record("signal \(signal)") } }
        }
    }

    // RLIMIT_NPROC counts the processes and threads of a user, and does not bind root: uses a user without others.
    @Test(
        "that RLIMIT_NPROC refuses is retried until its deadline",
        .needsRoot)
    func refused() async {
        await #expect(processExitsWith: .success) {
            let user = uid_t(1_000_000_000 + getpid())
            #expect(setuid(user) == 0)
            var (finished, wanted) = (0, 1)
            let (loop, runner) = try Self.begin {
                switch $0 {
                case .finished: finished += 1
                case .failedToStart(_, let reason): Issue.record("\(reason)")
                default: break
                }
            }
            let patience = try TimerSource(loop: loop) { [unowned loop] in loop.exit(code: 1) }
            patience.arm(at: EventLoop.nowNanoseconds + 60_000_000_000)
            func run() throws -> Int32 { try loop.run { if finished == wanted { loop.exit(code: 0) } } }
            runner.start(Self.run(1, isWorker: false, arguments: ["/bin/true"]))
            #expect(try run() == 0)
            wanted = 6
            // The daemon's threads, and one program.
            let threads = rlim_t(names(in: "/proc/self/task").count)
            var limit = rlimit(rlim_cur: threads + 1, rlim_max: threads + 1)
            #expect(setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit) == 0)
            for number: Int64 in 2...6 {
                runner.start(Self.run(number, isWorker: false, arguments: ["/bin/sleep", "0.1"]))
            }
            #expect(try run() == 0, "\(finished) have run")
        }
    }

    // The daemon ends at once when it cannot trust its disk.
    @Test(
        "ends a program that runs already, though the loop does not know it and takes no further turn",
        arguments: [false, true])
    func unheard(isWorker: Bool) async {
        await #expect(processExitsWith: .success) { [isWorker] in
            let (loop, runner) = try Self.begin()
            defer { withExtendedLifetime(loop) {} }
            let directory = TemporaryDirectory()
            let fifo = directory.path + "/process"
            #expect(mkfifo(fifo, 0o600) == 0)
            let arguments = ["/bin/sh", "-c", "echo $$ >\(fifo); exec sleep 60"]
            runner.start(Self.run(1, isWorker: isWorker, arguments: arguments))
            let number = try #require(readFile(fifo)).dropLast()
            let process = try #require(Int32(String(decoding: number, as: UTF8.self)))
            runner.stopAll()
            var facts = siginfo_t()
            #expect(waitid(P_PID, id_t(process), &facts, WEXITED | WNOWAIT) == 0 && facts.si_code == CLD_KILLED)
        }
    }
}
