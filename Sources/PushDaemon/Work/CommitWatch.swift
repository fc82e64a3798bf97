import EventLoop
import JournalLog
import LinuxSystem
import PushModel
import Synchronization

/// Tells of a commit that the loop makes itself and that takes long: the loop waits for it, and can tell nothing. It
/// answers the service manager's watchdog meanwhile, since a disk that is slow is no loop that is stuck.
///
/// A thread of its own looks at the clock while there are such commits, and sleeps when there was none for a second.
final class CommitWatch: Sendable {
    private let thread: WatchThread

    /// - Parameters:
    ///   - journal: where the entry goes.
    ///   - slowCommit: a commit that takes longer is told of.
    /// - Throws: when the system has no thread left.
    init(journal: JournalWriter, slowCommit: Duration) throws(SystemError) {
        let thread = WatchThread(journal: journal, slowCommit: slowCommit.nanoseconds)
        self.thread = thread
        try WorkerThread("commit watch") { thread.run() }.detach()
    }

    deinit { thread.stop() }

    /// A reload may change it.
    func setSlowCommit(_ duration: Duration) {
        thread.slowCommit.store(duration.nanoseconds, ordering: .relaxed)
    }

    /// A commit begins; on the loop's thread.
    ///
    /// - Parameter now: monotonic nanoseconds, above 0.
    func begin(at now: Int64) {
        thread.since.store(now, ordering: .sequentiallyConsistent)
        if !thread.isAwake.load(ordering: .sequentiallyConsistent) { thread.wake() }
    }

    /// It has ended.
    ///
    /// - Returns: whether it was told of.
    func end() -> Bool { thread.since.exchange(0, ordering: .sequentiallyConsistent) < 0 }
}

/// What the thread and the loop share.
private final class WatchThread: Sendable {
    private struct Calls: Sendable {
        var isWanted = false
        var isStopping = false
    }

    /// How often it looks.
    private static let interval: Duration = .milliseconds(100)
    /// After how many looks in vain it sleeps.
    private static let looksInVain = 10
    /// A commit that has taken so long is no reason for the service manager to end the daemon.
    private static let patience: Int64 = 1_000_000_000

    /// Since when the loop has been in a commit, in monotonic nanoseconds; 0: it is in none; negative: that was told.
    let since = Atomic<Int64>(0)
    let slowCommit: Atomic<Int64>
    let isAwake = Atomic<Bool>(false)
    private let calls = Monitor(Calls())
    private let journal: JournalWriter

    init(journal: JournalWriter, slowCommit: Int64) {
        self.journal = journal
        self.slowCommit = Atomic(slowCommit)
    }

    func wake() {
        isAwake.store(true, ordering: .sequentiallyConsistent)
        calls.update { $0.isWanted = true }
    }

    func stop() { calls.update { $0.isStopping = true } }

    func run() {
        while waitUntilWanted() {
            var (inVain, answered) = (0, Int64(0))
            while inVain < Self.looksInVain {
                if calls.wait(atMost: Self.interval, { $0.isStopping ? true : nil }) == true { return }
                inVain = look(&answered) ? 0 : inVain + 1
            }
            isAwake.store(false, ordering: .sequentiallyConsistent)
            // One that began just before that found it awake.
            if since.load(ordering: .sequentiallyConsistent) != 0 { wake() }
        }
    }

    /// - Returns: false when it is to end.
    private func waitUntilWanted() -> Bool {
        let isWanted = calls.wait { calls -> Bool? in
            if calls.isStopping { return false }
            defer { calls.isWanted = false }
            return calls.isWanted ? true : nil
        }
        return isWanted == true
    }

    /// Looks at the commit that goes on.
    ///
    /// - Parameter answered: when the watchdog was answered last, in monotonic nanoseconds.
    /// - Returns: whether there is one.
    private func look(_ answered: inout Int64) -> Bool {
        let value = since.load(ordering: .sequentiallyConsistent)
        guard value != 0 else { return false }
        let now = EventLoop.nowNanoseconds
        let taken = now - abs(value)
        if taken >= Self.patience, now - answered >= Self.patience {
            answered = now
            Notify.watchdog()
        }
        if value > 0, taken >= slowCommit.load(ordering: .relaxed),
            since.compareExchange(expected: value, desired: -value, ordering: .sequentiallyConsistent).exchanged
        {
            journal.log(StoreHealth.slowEntry("a commit has taken \(taken / 1_000_000) ms so far"))
        }
        return true
    }
}
