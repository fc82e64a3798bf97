import JournalLog
import PushModel
import PushSettings
import Store

/// Keeps the ledger within `Retention=` and `MaxSize=`: asks the store to prune, counts what went by which rule, and tells.
final class LedgerPruning {
    /// How long after the entry that requests went before their time the next one is made, in nanoseconds.
    private static let pause: Int64 = 3600 * 1_000_000_000

    private let committer: Committer
    private let journal: JournalWriter
    private let clock: ClockSteps
    private var isUnderway = false
    /// Whether nothing more can be taken out of a ledger that is too large: it is tried again with the next regular pruning.
    private var isStuck = false
    private var untold = 0
    private var toldAt: Int64?

    /// How many requests went since the start because they were too old.
    private(set) var byRetention = 0
    /// How many went since the start because the ledger was too large.
    private(set) var bySize = 0
    /// How many dead letters were dropped since the start.
    private(set) var deadLetters = 0

    /// - Parameters:
    ///   - committer: prunes.
    ///   - journal: is told.
    ///   - clock: says whether the wall clock was set.
    init(_ committer: Committer, journal: JournalWriter, clock: ClockSteps) {
        self.committer = committer
        self.journal = journal
        self.clock = clock
    }

    /// Prunes what is too old, and what is too much.
    ///
    /// - Parameters:
    ///   - settings: how old and how much is too much.
    ///   - now: the wall clock, which says what is too old unless it was set.
    ///   - boot: the clock from the boot on, in nanoseconds.
    func prune(_ settings: StoreSettings, at now: WallTime, boot: Int64) {
        let step = clock.step(wall: now, boot: boot)
        prune(settings, at: now, byAge: step == nil)
        guard let step else { return }
        let days = (abs(step) + ClockSteps.most / 2) / ClockSteps.most
        let message = """
            the clock was set \(step > 0 ? "ahead" : "back") by \(counted(days, "day")) since the start, so \
            nothing is deleted as older than Retention=; set it right, or restart pushrouterd if it is right now
            """
        journal.log(JournalEntry(.warning, message, messageID: .clockStepped))
    }

    /// Prunes a ledger that has become too large since. The parameters are those of the regular pruning.
    func check(_ settings: StoreSettings, at now: WallTime, boot: Int64) {
        guard let limit = settings.sizeMax, !isUnderway, !isStuck, committer.status.ledgerUsed > limit else { return }
        prune(settings, at: now, byAge: clock.step(wall: now, boot: boot) == nil)
    }

    private func prune(_ settings: StoreSettings, at now: WallTime, byAge: Bool) {
        let time = byAge ? now.milliseconds : .min
        isUnderway = true
        isStuck = false
        committer.prune(
            olderThan: Self.cutoff(time, settings.retention),
            deadLetters: DeadLetterLimits(
                cutoff: Self.cutoff(time, settings.deadLetterRetention),
                byteCountMax: settings.deadLetterSizeMax),
            sizeMax: settings.sizeMax)
    }

    private static func cutoff(_ time: Int64, _ age: Duration) -> WallTime {
        let (cutoff, isBeforeAll) = time.subtractingReportingOverflow(age.milliseconds)
        return WallTime(milliseconds: isBeforeAll ? .min : cutoff)
    }

    /// What was too old is out.
    func pruned(requests: Int, deadLetters dropped: Int) {
        isUnderway = false
        byRetention += requests
        deadLetters += dropped
        if requests > 0 {
            let deleted = counted(requests, "request was", "requests were")
            journal.log(JournalEntry(.info, "\(deleted) older than Retention= and deleted"))
        }
        if dropped > 0 {
            let why = "older than DeadLetterRetention= or beyond DeadLetterSizeMax="
            let dropped = counted(dropped, "dead letter", "dead letters")
            journal.log(JournalEntry(.notice, "\(dropped) \(why), dropped now"))
        }
    }

    /// What was too much is out.
    ///
    /// - Parameters:
    ///   - requests: how many that is.
    ///   - isStillTooLarge: whether nothing more could be taken out, and the ledger is too large all the same.
    ///   - now: the clock, in monotonic nanoseconds.
    func prunedBySize(requests: Int, isStillTooLarge: Bool, at now: Int64) {
        bySize += requests
        untold += requests
        isStuck = isStillTooLarge
        guard isStillTooLarge || requests > 0 && (toldAt.map({ now - $0 >= Self.pause }) ?? true) else { return }
        toldAt = now
        let deleted = "\(counted(untold, "request was", "requests were")) deleted before Retention= was over"
        untold = 0
        let why =
            isStillTooLarge
            ? "the ledger is larger than MaxSize= all the same: what is left is in flight, a dead letter, custom data that "
                + "waits, or a profile"
            : "the ledger was larger than MaxSize="
        journal.log(JournalEntry(.warning, "\(deleted): \(why)", messageID: .prunedBySize))
    }
}
