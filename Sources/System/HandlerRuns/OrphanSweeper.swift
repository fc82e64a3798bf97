import Glibc
import HandlerProcess
import LinuxSystem

/// Kills and reaps escaped processes of runs that the daemon adopted, within a limit of the loop's time.
final class OrphanSweeper {
    /// The interval until an undecided process is checked again, in nanoseconds.
    private static let patience: Int64 = 2_000_000
    /// The longest wait for killed processes at the daemon's end, in nanoseconds.
    private static let lastPatience: Int64 = 1_000_000_000
    /// The limit of further sweeps at the daemon's end, for orphans of processes that were just reaped.
    private static let lastSweeps = 100

    private let loop: EventLoop
    private let log: (JournalEntry) -> Void
    private var orphans: OrphanReaper
    private var pace = SweepPace()
    private var signal: SignalSource?
    private var timer: TimerSource?
    /// The time of the armed timer, in monotonic nanoseconds; `nil` if it is not armed.
    private var nextSweepAt: Int64?
    /// The limit of the wait at the daemon's end, in monotonic nanoseconds.
    private var waitedForUntil: Int64?

    /// The number of adopted processes that are not reaped.
    var adoptedCount: Int { orphans.adoptedCount }

    /// - Parameters:
    ///   - loop: the loop.
    ///   - orphans: classifies and kills adopted processes.
    ///   - log: takes an entry for each process that may not be signalled.
    init(loop: EventLoop, orphans: consuming OrphanReaper, log: @escaping (JournalEntry) -> Void) {
        self.loop = loop
        self.log = log
        self.orphans = orphans
    }

    /// Begins to watch for SIGCHLD.
    func begin() throws(SystemError) {
        signal = try SignalSource(loop: loop, signal: SIGCHLD) { [unowned self] in sweep() }
        timer = try TimerSource(loop: loop) { [unowned self] in sweep() }
    }

    /// Returns whether the end of the daemon must wait, a second at most, for further processes. Kills those that it
    /// can.
    ///
    /// - Parameter hasMore: returns whether others have more to end.
    func keepsDaemon(orWhile hasMore: () -> Bool) -> Bool {
        let now = EventLoop.nowNanoseconds
        let end = waitedForUntil ?? now + Self.lastPatience
        waitedForUntil = end
        sweep(isLast: true)
        guard now < end else { return false }
        // No signal announces the removal of a cgroup, so the timer checks.
        if hasMore() { scheduleSweep(at: now + Self.patience) }
        return nextSweepAt != nil
    }

    /// Kills all that is left, and waits until it is gone, a second at most; for a loop that takes no further turn.
    func endAll() { orphans.endAll(withinNanoseconds: Self.lastPatience) }

    /// Sweeps the adopted processes, at once, or later if sweeps have taken much of the loop's time.
    ///
    /// - Parameter isLast: sweeps all of them at once in any case, because no later sweep follows.
    func sweep(isLast: Bool = false) {
        let start = EventLoop.nowNanoseconds
        let next = isLast ? start : pace.next(at: start)
        guard next <= start else { return scheduleSweep(at: next) }
        nextSweepAt = nil
        var sweep = isLast ? orphans.sweep(atMost: .max) : orphans.sweep()
        // Sweeps again for the orphans of processes that died after the list was read: the daemon will not wait for
        // their SIGCHLD.
        for _ in 0..<Self.lastSweeps where isLast && sweep.reaped > 0 {
            let untouchable = sweep.untouchable
            sweep = orphans.sweep(atMost: .max)
            sweep.untouchable = untouchable + sweep.untouchable
        }
        pace.noteSweep(from: start, to: EventLoop.nowNanoseconds)
        for process in sweep.untouchable {
            let message = "cannot end process \(process) of a handler: the process runs as another user"
            log(JournalEntry(.error, message))
        }
        // Some are undecided, in the middle of an execve; others were killed and are not dead yet.
        if sweep.undecided + sweep.killed > 0 { scheduleSweep(at: pace.next(at: start + Self.patience)) }
    }

    private func scheduleSweep(at time: Int64) {
        // Each end of a run calls this; an earlier timer stays as it is.
        guard nextSweepAt.map({ time < $0 }) ?? true else { return }
        nextSweepAt = time
        timer?.arm(at: time)
    }
}
