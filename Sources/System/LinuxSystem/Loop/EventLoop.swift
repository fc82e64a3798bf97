import CSystemd
import Glibc
public import PushModel
import Synchronization

/// One thread's event loop, on sd-event.
///
/// The loop and its sources belong to the thread that created the loop; only a ``Mailbox`` may be used from others. A
/// source lives as long as its object: after the object's release its handler is never called, even if its event was
/// pending.
///
/// The loop works in turns. A turn serves ready sources, in the order of their priorities, until none is left or the
/// turn's budget is spent. The end of the turn follows once, then the next turn.
public final class EventLoop {
    /// The order of ready sources: the smallest number first. Among sources of the same priority the order is
    /// undefined.
    public struct Priority: RawRepresentable, Sendable {
        /// The number, as `sd_event_source_set_priority` takes it.
        public let rawValue: Int64

        /// - Parameter rawValue: the number; smaller is earlier.
        public init(rawValue: Int64) { self.rawValue = rawValue }

        /// The first priority, for deadlines and results.
        public static let important = Priority(rawValue: Int64(SD_EVENT_PRIORITY_IMPORTANT))
        /// The usual priority.
        public static let normal = Priority(rawValue: Int64(SD_EVENT_PRIORITY_NORMAL))
        /// The last priority, for work when no other source is ready.
        public static let idle = Priority(rawValue: Int64(SD_EVENT_PRIORITY_IDLE))
    }

    /// The durations of turns, with their ends; the owner of the loop ends each slice. The longest duration is the
    /// longest time that a ready source may have waited. Processor time is that of the loop's thread: other work on the
    /// machine does not count.
    public private(set) var turns = TurnWindow()

    /// The underlying `sd_event`, for the sources.
    let handle: OpaquePointer
    /// The signals that sources watch.
    var signals: Set<Int32> = []
    private let thread = pthread_self()
    private let turnBudgetNanoseconds: Int64
    private var threadTime: Int64 = 0
    private var isInTurn = false
    private var leftForEnd: [() -> Void] = []
    private var exitCode: Int32?
    private var failure: SystemError?

    /// Creates an event loop of the calling thread.
    ///
    /// - Parameter turnBudgetNanoseconds: the time for which a turn serves sources, in nanoseconds.
    /// - Throws: if the kernel has no descriptor or memory left.
    public init(turnBudgetNanoseconds: Int64 = 1_000_000) throws(SystemError) {
        var created: OpaquePointer?
        let result = sd_event_new(&created)
        guard result >= 0, let created else {
            throw SystemError(operation: "create the event loop", errno: -result)
        }
        handle = created
        self.turnBudgetNanoseconds = turnBudgetNanoseconds
    }

    deinit { sd_event_unref(handle) }

    /// `CLOCK_MONOTONIC` now, in nanoseconds; on any thread.
    public static var nowNanoseconds: Int64 { SystemClock.monotonicNanoseconds }

    /// Takes turns until ``exit(code:)``.
    ///
    /// - Parameter endOfTurn: called at the end of each turn, for work done once for all its events, such as handing
    ///   over a batch. An sd-event post source would run only in pauses: one of idle priority never runs while another
    ///   source stays ready.
    /// - Returns: the code given to `exit`.
    /// - Throws: if the loop or one of its sources can no longer work.
    public func run(endOfTurn: () -> Void = {}) throws(SystemError) -> Int32 {
        preconditionOnThread()
        threadTime = SystemClock.threadNanoseconds
        while true {
            if let failure { throw failure }
            if let code = exitCode.take() { return code }
            try takeTurn(endOfTurn)
        }
    }

    /// Makes `run()` return after this turn, or at once outside a turn. The first code counts.
    ///
    /// - Parameter code: the result of `run()`.
    public func exit(code: Int32) {
        preconditionOnThread()
        if exitCode == nil { exitCode = code }
    }

    /// Answers the service manager's watchdog, from turns only, so that it detects a stuck loop. sd-event's own
    /// watchdog would block on a service manager that does not read.
    ///
    /// - Returns: a timer that answers as long as it lives; `nil` if the service manager did not set `WATCHDOG_USEC`.
    /// - Throws: if the watchdog's timer cannot be made.
    public func answerWatchdog() throws(SystemError) -> RepeatingTimer? {
        preconditionOnThread()
        var microseconds: UInt64 = 0
        let isAsked = try SystemError.check(sd_watchdog_enabled(0, &microseconds), "understand WATCHDOG_USEC") > 0
        guard isAsked else { return nil }
        return try RepeatingTimer(
            loop: self, priority: .important, after: .zero, every: .microseconds(Int64(clamping: microseconds / 2))
        ) { Notify.watchdog() }
    }

    /// Ends the current slice of ``turns``, and begins another.
    public func beginTurnSlice() { turns.beginSlice() }

    /// Runs work once, after the `endOfTurn` of ``run(endOfTurn:)`` in this turn, so that several events of a turn can
    /// share it. Outside a turn the work runs at once.
    public func atEndOfTurn(_ work: @escaping () -> Void) {
        preconditionOnThread()
        guard isInTurn else { return work() }
        leftForEnd.append(work)
    }

    /// Ends `run()` with an error: for errors in sources that have no caller to throw to.
    func fail(_ error: SystemError) {
        if failure == nil { failure = error }
    }

    /// Traps on any thread but the loop's.
    func preconditionOnThread() {
        precondition(pthread_equal(thread, pthread_self()) != 0, "an event loop is used on the thread that made it")
    }

    private func takeTurn(_ endOfTurn: () -> Void) throws(SystemError) {
        guard try waitUntilReady(timeoutMicroseconds: .max) else { return }
        let start = EventLoop.nowNanoseconds
        isInTurn = true
        defer { isInTurn = false }
        repeat {
            try SystemError.check(sd_event_dispatch(handle), "dispatch an event")
        } while try mayContinue(since: start)
        endOfTurn()
        runDeferredWork()
        let end = EventLoop.nowNanoseconds
        let threadTime = SystemClock.threadNanoseconds
        turns.add(processor: threadTime - self.threadTime, duration: end - start)
        self.threadTime = threadTime
    }

    private func runDeferredWork() {
        while !leftForEnd.isEmpty {
            for work in exchange(&leftForEnd, with: []) { work() }
        }
    }

    private func mayContinue(since start: Int64) throws(SystemError) -> Bool {
        guard exitCode == nil, failure == nil else { return false }
        guard EventLoop.nowNanoseconds - start < turnBudgetNanoseconds else { return false }
        return try waitUntilReady(timeoutMicroseconds: 0)
    }

    private func waitUntilReady(timeoutMicroseconds: UInt64) throws(SystemError) -> Bool {
        if try SystemError.check(sd_event_prepare(handle), "prepare the event loop") > 0 { return true }
        return try SystemError.check(sd_event_wait(handle, timeoutMicroseconds), "wait for events") > 0
    }
}

/// The durations of recent turns, in slices of time; a new slice replaces the oldest. Adding a turn costs no more than
/// in one histogram.
public struct TurnWindow: Sendable {
    /// The number of slices, with the current one.
    static let sliceCount = 6

    /// The processor time of all turns since the loop began.
    public var all: Histogram {
        var all = ended
        all.merge(recent)
        return all
    }

    /// The processor time of the turns in these slices.
    public var recent: Histogram { slices.reduce(into: growing.times) { $0.merge($1.times) } }
    /// The longest turn in these slices, in nanoseconds of elapsed time.
    public var recentLongest: Int64 { slices.reduce(growing.longest) { max($0, $1.longest) } }
    /// The longest turn since the loop began, in nanoseconds of elapsed time.
    public private(set) var longest: Int64 = 0

    private struct Slice: Sendable {
        var times = Histogram()
        var longest: Int64 = 0
    }

    private var growing = Slice()
    /// The former slices, the oldest first.
    private var slices: [Slice] = []
    /// The sum of the slices that were dropped.
    private var ended = Histogram()

    /// Creates a window without turns.
    init() {}

    /// Adds a turn.
    ///
    /// - Parameters:
    ///   - processor: its processor time, in nanoseconds.
    ///   - duration: its duration by the clock, in nanoseconds.
    mutating func add(processor: Int64, duration: Int64) {
        growing.times.add(microseconds: processor / 1000)
        growing.longest = max(growing.longest, duration)
        longest = max(longest, duration)
    }

    /// Begins another slice; to be called at even intervals.
    mutating func beginSlice() {
        slices.append(exchange(&growing, with: Slice()))
        if slices.count >= Self.sliceCount { ended.merge(slices.removeFirst().times) }
    }
}

extension Instant {
    /// The monotonic clock now.
    public static var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds) }
}

extension Moment {
    /// Both clocks now.
    public static func now() -> Moment { Moment(monotonic: .now, wall: WallClock.now) }
}

/// The wall clock of a process: this machine's, or the shared clock of a leader of machines that share a log. On any
/// thread.
public enum WallClock {
    private static let isShared = Atomic(false)
    private static let shared = Mutex<@Sendable () -> WallTime>({ WallClock.ofMachine })

    /// The time now.
    public static var now: WallTime {
        isShared.load(ordering: .acquiring) ? shared.withLock(\.self)() : ofMachine
    }

    /// The time on this machine's own clock.
    public static var ofMachine: WallTime { WallTime(milliseconds: SystemClock.wallMilliseconds) }

    /// Replaces the clock for the rest of the process's life. To be called once, before the first use of the time.
    public static func follow(_ clock: @escaping @Sendable () -> WallTime) {
        shared.withLock { $0 = clock }
        isShared.store(true, ordering: .releasing)
    }
}
