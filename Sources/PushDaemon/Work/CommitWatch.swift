import LinuxSystem
import PushModel
import Synchronization

/// Reports a commit of the loop's thread that takes long: the loop waits for the disk and cannot report it. Answers the
/// service manager's watchdog meanwhile, because a slow disk is no hung loop.
///
/// Its thread looks at the clock while the loop makes commits, and sleeps after a second without one.
final class CommitWatch: Sendable {
    private let thread: WatchThread

    /// - Parameters:
    ///   - journal: where the entry goes.
    ///   - slowCommit: the time after which a commit is reported.
    /// - Throws: when the system can start no thread.
    init(journal: JournalWriter, slowCommit: Duration) throws(SystemError) {
        let thread = WatchThread(journal: journal, slowCommit: slowCommit.nanoseconds)
        self.thread = thread
        try WorkerThread("commit watch") { thread.run() }.detach()
    }

    deinit { thread.stop() }

    /// Changes the time after which a commit is reported, for a reload.
    func setSlowCommit(_ duration: Duration) {
        thread.slowCommit.store(duration.nanoseconds, ordering: .relaxed)
    }

    /// Notes the start of a commit; on the loop's thread.
    ///
    /// - Parameter now: monotonic nanoseconds, above 0.
    func begin(at now: Int64) {
        thread.since.store(now, ordering: .sequentiallyConsistent)
        if !thread.isAwake.load(ordering: .sequentiallyConsistent) { thread.wake() }
    }

    /// Notes the end of the commit; on the loop's thread.
    ///
    /// - Returns: whether the commit was reported.
    func end() -> Bool { thread.since.exchange(0, ordering: .sequentiallyConsistent) < 0 }
}

/// The state that the watch's thread and the loop share.
private final class WatchThread: Sendable {
    private struct Calls: Sendable {
        var isWanted = false
        var isStopping = false
    }

    /// The time between two looks.
    private static let interval: Duration = .milliseconds(100)
    /// The number of looks without a commit after which the thread sleeps.
    private static let idleChecks = 10
    /// After this time in a commit, the thread answers the watchdog for the loop.
    private static let patience: Int64 = 1_000_000_000

    /// The start of the loop's commit, in monotonic nanoseconds; 0: there is none; negative: it was reported.
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
        while waitUntilNeeded() {
            var (inVain, answered) = (0, Int64(0))
            while inVain < Self.idleChecks {
                if calls.wait(atMost: Self.interval, { $0.isStopping ? true : nil }) == true { return }
                inVain = check(&answered) ? 0 : inVain + 1
            }
            isAwake.store(false, ordering: .sequentiallyConsistent)
            // A commit that began just before the store found the thread awake and did not wake it.
            if since.load(ordering: .sequentiallyConsistent) != 0 { wake() }
        }
    }

    /// - Returns: `false` if the thread is to end.
    private func waitUntilNeeded() -> Bool {
        let isWanted = calls.wait { calls -> Bool? in
            if calls.isStopping { return false }
            defer { calls.isWanted = false }
            return calls.isWanted ? true : nil
        }
        return isWanted == true
    }

    /// Looks at the commit that is under way.
    ///
    /// - Parameter answered: the time of the last answer to the watchdog, in monotonic nanoseconds.
    /// - Returns: whether there is a commit.
    private func check(_ answered: inout Int64) -> Bool {
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

/// Watches whether the machine has more work than its processors can do: then a thread that is ready to run waits.
/// Measures the thread that made it.
final class ProcessorWatch {
    private let wait = ProcessorWait()
    private var shortage = ProcessorShortage()

    /// Whether there was a shortage at the last look; `false` if the kernel does not tell.
    ///
    /// - Parameter now: monotonic nanoseconds.
    func isShort(at now: Int64) -> Bool {
        if shortage.isDue(at: now), let waited = wait?.nanoseconds() { shortage.check(waited: waited, at: now) }
        return shortage.isShort
    }
}

/// Decides from a thread's waits for a processor whether the processors are short.
struct ProcessorShortage {
    /// The time between two looks, in nanoseconds: a look takes some 2 us.
    static let interval: Int64 = 5_000_000
    /// A shortage is a wait of more than 1 part in 5 of the time. With 2 handlers that compute on 2 processors the loop
    /// waits 2 parts in 5, without them less than a tenth of one.
    static let part: Int64 = 5

    /// The time of the last look, and the thread's total wait by then, in nanoseconds.
    private var last: (time: Int64, waited: Int64)?
    /// Whether there was a shortage between the last two looks.
    private(set) var isShort = false

    /// Whether it is time for another look.
    func isDue(at now: Int64) -> Bool { last.map { now - $0.time >= Self.interval } ?? true }

    /// Notes a look.
    ///
    /// - Parameters:
    ///   - waited: the thread's total wait, in nanoseconds.
    ///   - now: monotonic nanoseconds.
    mutating func check(waited: Int64, at now: Int64) {
        if let last { isShort = (waited - last.waited) * Self.part > now - last.time }
        last = (now, waited)
    }
}
