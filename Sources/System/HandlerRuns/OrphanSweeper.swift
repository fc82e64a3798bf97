import EventLoop
import Glibc
import HandlerProcess
import JournalLog
import LinuxSystem

/// Ends and reaps what got away from its run and became the daemon's child, without taking the loop's time for it.
final class OrphanSweeper {
    /// How soon what could not be told apart is looked at again, in nanoseconds.
    private static let patience: Int64 = 2_000_000
    /// How long the end of the daemon waits for what is killed to be gone, in nanoseconds.
    private static let lastPatience: Int64 = 1_000_000_000
    /// How often the end of the daemon looks once more at what was left by those that it has just reaped.
    private static let lastSweeps = 100

    private let loop: EventLoop
    private let log: (JournalEntry) -> Void
    private var orphans: OrphanReaper
    private var pace = SweepPace()
    private var signal: SignalSource?
    private var timer: TimerSource?
    /// When the timer will have it look again, in monotonic nanoseconds; `nil`: it will not.
    private var looksAgainAt: Int64?
    /// Until when the end of the daemon waits for it, in monotonic nanoseconds.
    private var waitedForUntil: Int64?

    /// How many adopted processes are not reaped.
    var adoptedCount: Int { orphans.adoptedCount }

    /// - Parameters:
    ///   - loop: the loop.
    ///   - orphans: judges and ends what was adopted.
    ///   - log: hears of processes that may not be ended.
    init(loop: EventLoop, orphans: consuming OrphanReaper, log: @escaping (JournalEntry) -> Void) {
        self.loop = loop
        self.log = log
        self.orphans = orphans
    }

    /// Begins to listen for deaths.
    func begin() throws(SystemError) {
        signal = try SignalSource(loop: loop, signal: SIGCHLD) { [unowned self] in sweep() }
        timer = try TimerSource(loop: loop) { [unowned self] in sweep() }
    }

    /// Whether the end of the daemon must wait, a second at most, because there is more to end. Ends what it can.
    ///
    /// - Parameter hasMore: whether others have more to end.
    func keepsDaemon(orWhile hasMore: () -> Bool) -> Bool {
        let now = EventLoop.nowNanoseconds
        let end = waitedForUntil ?? now + Self.lastPatience
        waitedForUntil = end
        sweep(isLast: true)
        guard now < end else { return false }
        // Of a removed cgroup no signal tells.
        if hasMore() { lookAgain(at: now + Self.patience) }
        return looksAgainAt != nil
    }

    /// Ends all that is left, and waits until it is gone, a second at most; for a loop that takes no further turn.
    func endAll() { orphans.endAll(withinNanoseconds: Self.lastPatience) }

    /// Looks through what was adopted: now, or soon if that has taken much of the loop's time.
    ///
    /// - Parameter isLast: now in any case, and all of it, because there is no later.
    func sweep(isLast: Bool = false) {
        let start = EventLoop.nowNanoseconds
        let next = isLast ? start : pace.next(at: start)
        guard next <= start else { return lookAgain(at: next) }
        looksAgainAt = nil
        var sweep = isLast ? orphans.sweep(atMost: .max) : orphans.sweep()
        // What those have left that died after the list was read is in the next one, and no signal would be waited for.
        for _ in 0..<Self.lastSweeps where isLast && sweep.reaped > 0 {
            let untouchable = sweep.untouchable
            sweep = orphans.sweep(atMost: .max)
            sweep.untouchable = untouchable + sweep.untouchable
        }
        pace.swept(from: start, to: EventLoop.nowNanoseconds)
        for process in sweep.untouchable {
            let message = "process \(process), which a handler started, may not be ended: it runs as another user"
            log(JournalEntry(.error, message))
        }
        // Some could not be told apart yet, in the middle of an execve; or were killed and are not dead yet.
        if sweep.undecided + sweep.killed > 0 { lookAgain(at: pace.next(at: start + Self.patience)) }
    }

    private func lookAgain(at time: Int64) {
        // Each end of a run asks for it; what is armed need not be armed again.
        guard looksAgainAt.map({ time < $0 }) ?? true else { return }
        looksAgainAt = time
        timer?.arm(at: time)
    }
}
