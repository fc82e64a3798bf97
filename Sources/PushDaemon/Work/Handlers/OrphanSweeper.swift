import EventLoop
import Glibc
import HandlerProcess
import JournalLog
import LinuxSystem

/// Ends and reaps what got away from its run and became the daemon's child, without taking the loop's time for it.
final class OrphanSweeper {
    /// How soon what could not be told apart is looked at again, in nanoseconds.
    private static let patience: Int64 = 2_000_000

    private let loop: EventLoop
    private let journal: JournalWriter
    private var orphans: OrphanReaper
    private var pace = SweepPace()
    private var signal: SignalSource?
    private var timer: TimerSource?

    /// - Parameters:
    ///   - loop: the loop.
    ///   - journal: hears of processes that may not be ended.
    init(loop: EventLoop, journal: JournalWriter) throws {
        self.loop = loop
        self.journal = journal
        orphans = try OrphanReaper()
    }

    /// Begins to listen for deaths.
    func begin() throws(SystemError) {
        signal = try SignalSource(loop: loop, signal: SIGCHLD) { [unowned self] in sweep() }
        timer = try TimerSource(loop: loop) { [unowned self] in sweep() }
    }

    /// Looks through what was adopted: now, or soon if that has taken much of the loop's time.
    func sweep() {
        let start = EventLoop.nowNanoseconds
        let next = pace.next(at: start)
        guard next <= start else {
            timer?.arm(at: next)
            return
        }
        let sweep = orphans.sweep()
        pace.swept(from: start, to: EventLoop.nowNanoseconds)
        for process in sweep.untouchable {
            let message = "process \(process), which a handler started, may not be ended: it runs as another user"
            journal.log(JournalEntry(.error, message))
        }
        // Some could not be told apart yet, in the middle of an execve; or were killed and are not dead yet.
        if sweep.undecided + sweep.killed > 0 { timer?.arm(at: pace.next(at: start + Self.patience)) }
    }
}
