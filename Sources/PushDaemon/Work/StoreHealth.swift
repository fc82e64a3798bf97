import EventLoop
import JournalLog
import PushModel
import Store

/// Watches how the disk does: what cannot be written, and commits that take too long. Says both in the journal, and when
/// it is over.
final class StoreHealth {
    /// A commit that takes longer is told of; a reload may change it.
    var slowCommit: Duration
    /// Why nothing can be accepted for now; `nil` when all is well.
    private(set) var problem: String?
    /// Why a leader may not speak for the shared log for now; `nil`: its lease holds, or ended a moment ago.
    var pastLease: String?
    /// Why a new request is refused for now.
    var refusal: String? { problem ?? pastLease }
    /// Why the ledger cannot be written for now; the log goes on as long as it has room.
    private(set) var ledgerProblem: String?
    /// What the log waits for while the ledger makes room in it: no problem as long as the ledger does.
    private var waitsForRoom: StoreError?
    /// Why nothing can be accepted, as a gap, and since when.
    private var stall: Stall?
    /// Since when commits have been slow, in monotonic nanoseconds; `nil` when they are not.
    private(set) var slowSince: Int64?
    /// How many commits took longer than they should.
    private(set) var slowCommits: UInt64 = 0
    /// How long the longest commit took.
    private(set) var longestCommit: Duration = .zero
    /// How long commits took.
    private(set) var commits = DurationHistogram(bounds: DurationHistogram.commitBounds)

    /// A time in which nothing could be accepted.
    struct Stall: Equatable {
        var kind: DaemonGap.Kind
        /// In monotonic nanoseconds.
        var since: Int64
    }

    private let journal: JournalWriter
    private let disk: String
    private var timer: TimerSource?
    private var isArmed = false
    private var writingSince: Int64?
    /// Since when the batch was being written that was told of last.
    private var toldSince: Int64?

    /// - Parameters:
    ///   - loop: the loop, for the timer.
    ///   - journal: where entries go.
    ///   - slowCommit: a commit that takes longer is told of.
    ///   - isShared: whether the log is in a database that other machines share.
    init(loop: EventLoop, journal: JournalWriter, slowCommit: Duration, isShared: Bool = false) throws {
        (self.journal, disk) = (journal, isShared ? "database" : "disk")
        self.slowCommit = slowCommit
        // Holds: the timer is this object's own.
        timer = try TimerSource(loop: loop, priority: .important) { [unowned self] in lookAgain() }
    }

    // MARK: Commits

    /// Looks at the batch that is being written; at the end of a turn.
    ///
    /// - Parameter since: when it was handed over, in monotonic nanoseconds; `nil`: none is being written.
    func watch(writingSince since: Int64?) {
        writingSince = since
        // An armed timer stays as it is while one batch follows the other, and looks again when it goes off.
        if let since, !isArmed, since != toldSince { arm(for: since) }
    }

    private func arm(for since: Int64) {
        isArmed = true
        timer?.arm(at: since + slowCommit.nanoseconds)
    }

    private func lookAgain() {
        isArmed = false
        guard let since = writingSince else { return }
        // It waits for the ledger or for room, not for a slow disk.
        guard waitsForRoom == nil, problem == nil else { return arm(for: EventLoop.nowNanoseconds) }
        let taken = Duration.nanoseconds(EventLoop.nowNanoseconds - since)
        guard taken >= slowCommit else { return arm(for: since) }
        toldSince = since
        tellSlow("a commit has taken \(taken.milliseconds) ms so far", since: since)
    }

    /// A commit is done.
    ///
    /// - Parameter isTold: whether somebody else has told of it while it went on.
    func committed(took duration: Duration, at now: Int64, isTold: Bool = false) {
        writingSince = nil
        longestCommit = max(longestCommit, duration)
        if isTold { slowSince = slowSince ?? now - duration.nanoseconds }
        commits.add(duration)
        guard duration < slowCommit else {
            slowCommits += 1
            return tellSlow("a commit took \(duration.milliseconds) ms", since: now - duration.nanoseconds)
        }
        guard slowSince != nil else { return }
        slowSince = nil
        let message = "commits are fast again: the last one took \(duration.milliseconds) ms"
        journal.log(JournalEntry(.notice, message, messageID: .storeFast))
    }

    private func tellSlow(_ fact: String, since: Int64) {
        guard slowSince == nil else { return }
        slowSince = since
        journal.log(Self.slowEntry(fact, of: disk))
    }

    /// The entry about a commit that takes long.
    static func slowEntry(_ fact: String, of disk: String = "disk") -> JournalEntry {
        let message = "the \(disk) is slow: \(fact), and no request is acknowledged until it ends"
        return JournalEntry(.warning, message, messageID: .storeSlow)
    }

    // MARK: Problems

    /// Nothing can be written for now. While the log only waits for the ledger to make room, producers wait as well.
    ///
    /// - Parameter since: since when, in monotonic nanoseconds.
    /// - Returns: the time before it, where something else was in the way until now.
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

    /// A batch was written.
    ///
    /// - Returns: the time in which nothing could be; `nil` where there was no problem.
    func resumed() -> Stall? {
        waitsForRoom = nil
        guard problem != nil else { return nil }
        problem = nil
        journal.log(JournalEntry(.notice, "requests are accepted again", messageID: .storeResumed))
        return stall.take()
    }

    /// The ledger cannot be written for now.
    func ledgerStalled(_ error: StoreError) {
        ledgerProblem = "the ledger cannot be written for now, and the log fills: \(error)"
        journal.log(JournalEntry(.error, ledgerProblem ?? "", messageID: .storeStalled))
        if let waiting = waitsForRoom.take() { stalled(waiting) }
    }

    /// The ledger is written again.
    func ledgerResumed() {
        ledgerProblem = nil
        journal.log(JournalEntry(.notice, "the ledger can be written again", messageID: .storeResumed))
    }
}

extension StoreError {
    /// The gap that a time with this problem is.
    var gap: DaemonGap.Kind {
        switch kind {
        case .engineAway: .engineAway
        case .unprotected: .unprotected
        default: .diskStalled
        }
    }
}
