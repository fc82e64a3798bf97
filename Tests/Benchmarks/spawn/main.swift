// spawn rate PARALLEL PROGRAM: starts a second, for 2 s, as a loop does it: one thread that submits, polls and reaps.
// spawn kill COUNT: from killGroup to reaped, and to nothing left of the run.   spawn sweep: a sweep with nothing to do.
import Glibc
import HandlerProcess
import Synchronization

/// The pool's answers, with a pipe to poll.
final class Inbox: Sendable {
    private let results = Mutex<[SpawnResult]>([])
    private let ends: [Int32]

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        self.ends = ends
    }

    var readable: Int32 { ends[0] }

    func put(_ result: SpawnResult) {
        results.withLock { $0.append(result) }
        _ = write(ends[1], "x", 1)
    }

    func take() throws -> ChildProcess {
        var byte: UInt8 = 0
        _ = read(ends[0], &byte, 1)
        return try results.withLock { $0.removeFirst() }.outcome.get()
    }
}

func command(_ arguments: [String]) -> ProcessCommand {
    ProcessCommand(
        arguments: arguments, environment: [("PATH", "/usr/bin:/bin")],
        standardInput: Array(repeating: 120, count: 1300),
        mark: "bench:1:0")
}

func measureRate(parallel: Int, program: String) throws {
    let inbox = Inbox()
    let pool = SpawnPool(threads: min(parallel, 2)) { inbox.put($0) }
    let clock = ContinuousClock()
    let begin = clock.now
    var ended = 0
    var output: [UInt8] = []
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    defer { chunk.deallocate() }
    var children: [ChildProcess] = []
    for _ in 0..<parallel { pool.submit(command([program]), token: 0) }
    while clock.now - begin < .seconds(2) {
        var wanted = [pollfd(fd: inbox.readable, events: Int16(POLLIN), revents: 0)]
        wanted += children.map { pollfd(fd: $0.pidfd, events: Int16(POLLIN), revents: 0) }
        poll(&wanted, nfds_t(wanted.count), -1)
        for index in children.indices.reversed() where wanted[index + 1].revents != 0 {
            guard children[index].reap() != nil else { continue }
            _ = children[index].readOutput(into: &output, using: chunk)
            children.remove(at: index)
            ended += 1
            pool.submit(command([program]), token: 0)
        }
        if wanted[0].revents != 0 { children.append(try inbox.take()) }
    }
    let rate = Double(ended) / ((clock.now - begin) / .seconds(1))
    print("Swift  \(parallel) in flight, \(min(parallel, 2)) threads: \(Int(rate))/s")
}

func measureKill(count: Int) throws {
    let inbox = Inbox()
    let pool = SpawnPool(threads: 1) { inbox.put($0) }
    var reaper = try OrphanReaper()
    var toReaped: [Duration] = []
    var toNothing: [Duration] = []
    for _ in 0..<count {
        pool.submit(command(["/bin/sh", "-c", "sleep 60 & sleep 60"]), token: 0)
        let child = try inbox.take()
        usleep(5000)  // for the shell to start both
        let begin = ContinuousClock.now
        child.killGroup()
        var exited = pollfd(fd: child.pidfd.rawValue, events: Int16(POLLIN), revents: 0)
        poll(&exited, 1, -1)
        _ = child.reap()
        toReaped.append(ContinuousClock.now - begin)
        while reaper.sweep().killed > 0 { sched_yield() }
        toNothing.append(ContinuousClock.now - begin)
    }
    func percentiles(_ durations: [Duration]) -> String {
        let sorted = durations.sorted().map { Int($0 / .microseconds(1)) }
        return "p50 \(sorted[count / 2]) us, p99 \(sorted[count * 99 / 100]) us"
    }
    print("Swift  kill to reaped: \(percentiles(toReaped)); to nothing left: \(percentiles(toNothing))")
}

func measureSweep() throws {
    var reaper = try OrphanReaper()
    let begin = ContinuousClock.now
    for _ in 0..<100_000 { _ = reaper.sweep() }
    print("Swift  sweep without orphans: \((ContinuousClock.now - begin) / .microseconds(100_000)) us")
}

let arguments = CommandLine.arguments.dropFirst()
switch (arguments.first, arguments.count) {
case ("rate", 3): try measureRate(parallel: Int(arguments[2]) ?? 1, program: arguments[3])
case ("kill", 2): try measureKill(count: Int(arguments[2]) ?? 1)
case ("sweep", 1): try measureSweep()
default: exit(2)
}
