import Glibc
import LinuxSystem
import Synchronization

/// The result of one submitted command.
public struct SpawnResult: Sendable {
    /// The token given to `SpawnPool.submit`.
    public let token: UInt64
    /// The running program, or the error.
    public let outcome: Result<ChildProcess, SpawnError>
}

/// Threads that start programs, in the order of submission: the system calls of a start take too long for a loop, and
/// some starts wait for the exec.
///
/// A thread starts at the first need and stays until `stop`. It must stay, because the kernel lists a child with the
/// thread that started it (see `OrphanReaper`). The process's descriptors 0, 1 and 2 must be open.
public final class SpawnPool: Sendable {
    private struct Job {
        let command: ProcessCommand
        let token: UInt64
        /// The time after which it is not started any more.
        let deadline: Int64?
    }

    private struct State {
        /// The waiting jobs, by their place in the order of submission.
        var jobs: [UInt64: Job] = [:]
        /// The places of the waiting jobs, by their tokens.
        var places: [UInt64: UInt64] = [:]
        /// The place before which no job waits.
        var first: UInt64 = 0
        /// The place of the next job.
        var next: UInt64 = 0
        var threads: [PoolThread] = []
        /// The number of jobs that a thread has taken and whose result is not delivered.
        var underway = 0
        /// Whether a caller waits until there are none.
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
    ///   - threads: the largest number of simultaneous starts
    ///   - cgroups: makes a cgroup for each program; `nil` for none
    ///   - clock: monotonic nanoseconds, for deadlines; `nil` uses the system's clock
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

    /// Queues a command for a thread of the pool; returns at once.
    ///
    /// - Parameters:
    ///   - command: the program.
    ///   - token: is returned with the result; `cancel` finds the command by it, if no other waiting command has the
    ///     same one.
    ///   - deadline: monotonic nanoseconds; a command that no thread has taken by then is not started, and fails with
    ///     `ETIME`.
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

    /// Cancels a command that no thread has taken.
    ///
    /// - Returns: whether it was cancelled: then no result follows.
    public func cancel(_ token: UInt64) -> Bool {
        state.withLock { $0.remove(token) }
    }

    /// Returns whether no thread has taken a command. If its deadline has passed, it will not be started.
    public func isWaiting(_ token: UInt64) -> Bool { state.withLock { $0.places[token] != nil } }

    /// Waits until the results of all starts that a thread has taken are delivered; queued commands stay queued.
    ///
    /// - Parameter limit: the longest time: a program on a disk that does not answer may never start.
    public func waitForStarts(atMost limit: Duration) {
        _ = state.wait(atMost: limit) { state in
            state.isAwaited = state.underway > 0
            return state.isAwaited ? nil : true
        }
    }

    /// Empties the cache of users, whose data may have changed.
    public func forgetUsers() { users.forget() }

    /// Drops the queued commands without a result, and waits for the threads to end. A pool that has started a program
    /// stays alive until then.
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

    /// Returns nil if no thread can be started. The thread keeps the pool alive until it ends.
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

    /// Waits for a job; returns nil once the pool is stopped.
    private func nextJob() -> Job? {
        let next = state.wait { state -> Job?? in
            guard let job = state.popFirst() else { return state.isStopped ? .some(nil) : nil }
            state.underway += 1
            return job
        }
        return next.flatMap(\.self)
    }
}

/// A box for a thread of the pool, because an array takes copyable values only.
private final class PoolThread: Sendable {
    private let thread: Mutex<WorkerThread?>

    init(_ thread: consuming WorkerThread) { self.thread = Mutex(consume thread) }

    func join() { thread.withLock { $0.take() }?.join() }
}
