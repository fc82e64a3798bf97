import Glibc
import LinuxSystem
import Synchronization

/// What became of one submitted command.
public struct SpawnResult: Sendable {
    /// As it was given to `SpawnPool.submit`.
    public let token: UInt64
    /// The running program, or why there is none.
    public let outcome: Result<ChildProcess, SpawnError>
}

/// Threads that start programs, first come, first served: what a start asks of the kernel is too much for a loop, and
/// some starts wait for the exec.
///
/// The threads begin when they are first needed and stay until `stop`; they must stay, because the kernel counts a child
/// to the thread that started it (see `OrphanReaper`). The process's descriptors 0, 1 and 2 must be open.
public final class SpawnPool: Sendable {
    private struct Job {
        let command: ProcessCommand
        let token: UInt64
        /// From when on it is not worth starting.
        let deadline: Int64?
    }

    private struct State {
        /// What waits, by the order in which it came.
        var jobs: [UInt64: Job] = [:]
        /// Where it stands in that order, by the tokens.
        var places: [UInt64: UInt64] = [:]
        /// Before this place nothing waits.
        var first: UInt64 = 0
        /// The place of what comes next.
        var next: UInt64 = 0
        var threads: [PoolThread] = []
        /// Jobs that a thread has taken up, and of which the result is not delivered yet.
        var underway = 0
        /// Whether somebody waits until there are none.
        var isAwaited = false
        var isStopped = false

        mutating func append(_ job: Job) {
            jobs[next] = job
            places[job.token] = next
            next += 1
        }

        mutating func popFirst() -> Job? {
            while first < next {
                defer { first += 1 }
                guard let job = jobs.removeValue(forKey: first) else { continue }
                if places[job.token] == first { places[job.token] = nil }
                return job
            }
            return nil
        }

        mutating func remove(_ token: UInt64) -> Bool {
            places.removeValue(forKey: token).flatMap { jobs.removeValue(forKey: $0) } != nil
        }
    }

    private let limit: Int
    private let clock: @Sendable () -> Int64
    private let cgroups: RunCgroups?
    private let users = KnownUsers()
    private let deliver: @Sendable (SpawnResult) -> Void
    private let state = Monitor(State())

    /// - Parameters:
    ///   - threads: how many programs are started at the same time, at most
    ///   - cgroups: where each program gets one; `nil`: it gets none
    ///   - clock: monotonic nanoseconds, which deadlines are held against; `nil`: the system's
    ///   - deliver: gets each result once, on a thread of the pool; must not wait for a thread that calls `stop`
    public init(
        threads: Int, cgroups: RunCgroups? = nil, clock: (@Sendable () -> Int64)? = nil,
        deliver: @escaping @Sendable (SpawnResult) -> Void
    ) {
        precondition(threads > 0)
        limit = threads
        self.clock = clock ?? { SystemClock.monotonicNanoseconds }
        self.cgroups = cgroups
        self.deliver = deliver
    }

    /// Has the command started on a thread of the pool; returns at once.
    ///
    /// - Parameters:
    ///   - command: the program.
    ///   - token: comes with the result; by it the command can be taken back, if no other that waits has the same.
    ///   - deadline: monotonic nanoseconds; what no thread has taken up before is not started, and fails with `ETIME`.
    public func submit(_ command: ProcessCommand, token: UInt64, deadline: Int64? = nil) {
        let isTaken = state.withLock { state in
            precondition(!state.isStopped, "a stopped pool starts nothing")
            let idle = state.threads.count - state.underway
            if state.jobs.count >= idle, state.threads.count < limit, let thread = startThread() {
                state.threads.append(thread)
            }
            guard !state.threads.isEmpty else { return false }
            state.append(Job(command: command, token: token, deadline: deadline))
            return true
        }
        if isTaken {
            state.wakeOne()
        } else {
            deliver(SpawnResult(token: token, outcome: .failure(SpawnError(EAGAIN, starting: command))))
        }
    }

    /// Takes back a command that no thread has taken up yet.
    ///
    /// - Returns: whether it was taken back: then no result comes.
    public func cancel(_ token: UInt64) -> Bool {
        state.withLock { $0.remove(token) }
    }

    /// Whether no thread has taken up a command yet. One whose deadline has passed will not be started then.
    public func isWaiting(_ token: UInt64) -> Bool { state.withLock { $0.places[token] != nil } }

    /// Waits until the results of all starts are delivered that a thread has taken up; what nobody has taken up stays.
    ///
    /// - Parameter limit: how long at most: a program on a disk that does not answer may never be started.
    public func waitForStarts(atMost limit: Duration) {
        _ = state.wait(atMost: limit) { state in
            state.isAwaited = state.underway > 0
            return state.isAwaited ? nil : true
        }
    }

    /// Has users looked up again: what is known of them may have changed.
    public func forgetUsers() { users.forget() }

    /// Drops what has not been started, without an answer, and waits until the threads have ended. A pool that has ever
    /// started something lives until then.
    public func stop() {
        let threads = state.withLock { state in
            state.isStopped = true
            (state.jobs, state.places, state.first) = ([:], [:], state.next)
            defer { state.threads = [] }
            return state.threads
        }
        state.wake()
        for thread in threads { thread.join() }
    }

    /// Nil if the system gives us no thread. The thread keeps the pool alive until it ends.
    private func startThread() -> PoolThread? { try? PoolThread(WorkerThread("spawn") { [self] in run() }) }

    private func run() {
        while let job = nextJob() {
            deliver(SpawnResult(token: job.token, outcome: Result { () throws(SpawnError) in try start(job) }))
            let isAwaited = state.withLock { state in
                state.underway -= 1
                return state.isAwaited
            }
            if isAwaited { state.wake() }
        }
    }

    private func start(_ job: Job) throws(SpawnError) -> ChildProcess {
        if let deadline = job.deadline, clock() >= deadline { throw SpawnError(ETIME, starting: job.command) }
        return try job.command.start(in: cgroups, users)
    }

    /// Waits for a job; nil once the pool is stopped.
    private func nextJob() -> Job? {
        let next = state.wait { state -> Job?? in
            guard let job = state.popFirst() else { return state.isStopped ? .some(nil) : nil }
            state.underway += 1
            return job
        }
        return next.flatMap(\.self)
    }
}

/// A thread of the pool, which may be one of several: a thread itself cannot be copied into a list.
private final class PoolThread: Sendable {
    private let thread: Mutex<WorkerThread?>

    init(_ thread: consuming WorkerThread) { self.thread = Mutex(consume thread) }

    func join() { thread.withLock { $0.take() }?.join() }
}
