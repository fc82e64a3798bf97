import LinuxSystem
import PushModel
import Store
import Synchronization

/// Watches the disk: failed writes, and commits that take too long. Logs the start and the end of both.
final class StoreHealth {
    /// The time after which a commit counts as slow; a reload may change it.
    var slowCommit: Duration
    /// Why nothing can be accepted for now; `nil`: all is well.
    private(set) var problem: String?
    /// Why a leader refuses requests for now; `nil`: its lease holds, or ended a moment ago.
    var pastLease: String?
    /// Why a new request is refused for now; `nil`: it is not.
    var refusal: String? { problem ?? pastLease }
    /// Why the ledger cannot be written for now; the log is still written while it has room.
    private(set) var ledgerProblem: String?
    /// The error of a full log while the ledger makes room in it: no problem as long as the ledger can be written.
    private var waitsForRoom: StoreError?
    /// The present stall, if nothing can be accepted.
    private var stall: Stall?
    /// Since when commits have been slow, in monotonic nanoseconds; `nil` when they are not.
    private(set) var slowSince: Int64?
    /// The number of slow commits.
    private(set) var slowCommits: UInt64 = 0
    /// The longest duration of a commit.
    private(set) var longestCommit: Duration = .zero
    /// The durations of the commits.
    private(set) var commits = DurationHistogram(bounds: DurationHistogram.commitBounds)

    /// A time in which nothing could be accepted.
    struct Stall: Equatable {
        var kind: DaemonGap.Kind
        /// The start, in monotonic nanoseconds.
        var since: Int64
    }

    private let journal: JournalWriter
    private let disk: String
    private var timer: TimerSource?
    private var isArmed = false
    private var writingSince: Int64?
    /// The start of the batch that was last reported as slow, in monotonic nanoseconds.
    private var reportedSince: Int64?

    /// - Parameters:
    ///   - loop: the event loop, for the timer.
    ///   - journal: gets the entries.
    ///   - slowCommit: the time after which a commit counts as slow.
    ///   - isShared: whether the log is in a database that other machines share.
    init(loop: EventLoop, journal: JournalWriter, slowCommit: Duration, isShared: Bool = false) throws {
        (self.journal, disk) = (journal, isShared ? "database" : "disk")
        self.slowCommit = slowCommit
        // `unowned` is safe: this object owns the timer.
        timer = try TimerSource(loop: loop, priority: .important) { [unowned self] in checkCommit() }
    }

    // MARK: Commits

    /// Looks at the batch that is being written; at the end of a turn.
    ///
    /// - Parameter since: when the batch was handed over, in monotonic nanoseconds; `nil`: none is being written.
    func watch(writingSince since: Int64?) {
        writingSince = since
        // While batches follow one another the timer stays armed, and looks again when it fires.
        if let since, !isArmed, since != reportedSince { arm(for: since) }
    }

    private func arm(for since: Int64) {
        isArmed = true
        timer?.arm(at: since + slowCommit.nanoseconds)
    }

    private func checkCommit() {
        isArmed = false
        guard let since = writingSince else { return }
        // The batch waits for the disk to have room, and the journal has that.
        guard problem == nil else { return arm(for: EventLoop.nowNanoseconds) }
        let taken = Duration.nanoseconds(EventLoop.nowNanoseconds - since)
        guard taken >= slowCommit else { return arm(for: since) }
        reportedSince = since
        reportSlow("a commit has taken \(taken.milliseconds) ms so far", since: since)
    }

    /// Whether a stop waits no longer for the batch that is being written: it finds no room. A slow write ends by itself.
    ///
    /// - Parameter now: monotonic nanoseconds.
    func findsNoRoom(at now: Int64) -> Bool { problem != nil || waitsForRoom != nil && isHeldUp(at: now) }

    /// Whether the batch that is being written has waited for at least `SlowCommit=`.
    private func isHeldUp(at now: Int64) -> Bool { writingSince.map { now - $0 >= slowCommit.nanoseconds } ?? false }

    /// The batch that has waited for at least `SlowCommit=`, with the reason; `nil`: there is none.
    ///
    /// - Parameter now: monotonic nanoseconds.
    func commitProblem(at now: Int64) -> String? {
        guard let since = writingSince, isHeldUp(at: now) else { return nil }
        let taken = Duration.nanoseconds(now - since).milliseconds
        return "\(cause): a commit has taken \(taken) ms so far, and no request is acknowledged until it ends"
    }

    /// The cause of a long commit, as a sentence.
    private var cause: String {
        waitsForRoom == nil ? "the \(disk) is slow" : "the log is full, and the ledger has made no room in it yet"
    }

    /// Notes that a commit is done.
    ///
    /// - Parameter isReported: whether ``CommitWatch`` reported it already.
    func committed(took duration: Duration, at now: Int64, isReported: Bool = false) {
        writingSince = nil
        longestCommit = max(longestCommit, duration)
        if isReported { slowSince = slowSince ?? now - duration.nanoseconds }
        commits.add(duration)
        guard duration < slowCommit else {
            slowCommits += 1
            return reportSlow("a commit took \(duration.milliseconds) ms", since: now - duration.nanoseconds)
        }
        guard slowSince != nil else { return }
        slowSince = nil
        let message = "commits are fast again: the last one took \(duration.milliseconds) ms"
        journal.log(JournalEntry(.notice, message, messageID: .storeFast))
    }

    private func reportSlow(_ fact: String, since: Int64) {
        guard slowSince == nil else { return }
        slowSince = since
        journal.log(Self.slowEntry(fact, because: cause))
    }

    /// The entry about a commit that takes long.
    static func slowEntry(_ fact: String, because cause: String = "the disk is slow") -> JournalEntry {
        let message = "\(cause): \(fact), and no request is acknowledged until it ends"
        return JournalEntry(.warning, message, messageID: .storeSlow)
    }

    // MARK: Problems

    /// Notes that nothing can be written for now. While the log only waits until the ledger makes room, producers just
    /// wait.
    ///
    /// - Parameter since: the start, in monotonic nanoseconds.
    /// - Returns: the stall before it, if it had another cause.
    @discardableResult
    func stalled(_ error: StoreError, since: Int64 = EventLoop.nowNanoseconds) -> Stall? {
        guard error.kind != .logFull || ledgerProblem != nil else {
            waitsForRoom = error
            return nil
        }
        problem = "nothing can be written for now: \(error)"
        journal.log(JournalEntry(.critical, "no request can be accepted for now: \(error)", messageID: .storeStalled))
        let kind = error.gap
        guard let before = stall else {
            stall = Stall(kind: kind, since: since)
            return nil
        }
        guard before.kind != kind else { return nil }
        stall = Stall(kind: kind, since: EventLoop.nowNanoseconds)
        return before
    }

    /// Notes that a batch was written.
    ///
    /// - Returns: the stall that has ended; `nil`: there was none.
    func resumed() -> Stall? {
        waitsForRoom = nil
        guard problem != nil else { return nil }
        problem = nil
        journal.log(JournalEntry(.notice, "requests are accepted again", messageID: .storeResumed))
        return stall.take()
    }

    /// Notes that the ledger cannot be written for now.
    func ledgerStalled(_ error: StoreError) {
        ledgerProblem = "the ledger cannot be written for now, and the log fills: \(error)"
        journal.log(JournalEntry(.error, ledgerProblem ?? "", messageID: .storeStalled))
        if let waiting = waitsForRoom.take() { stalled(waiting) }
    }

    /// Notes that writes to the ledger succeed again.
    func ledgerResumed() {
        ledgerProblem = nil
        journal.log(JournalEntry(.notice, "the ledger can be written again", messageID: .storeResumed))
    }
}

extension StoreError {
    /// The kind of gap that this problem causes.
    var gap: DaemonGap.Kind {
        switch kind {
        case .engineAway: .engineAway
        case .unprotected: .unprotected
        default: .diskStalled
        }
    }
}

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
            // Looks again: a commit that began just before `isAwake` became false has not woken the thread.
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
