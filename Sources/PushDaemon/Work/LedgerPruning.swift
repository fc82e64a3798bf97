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
    /// How large the ledger was, in bytes, when nothing more could be taken out of it; `nil` while it is small enough.
    private var stuckAt: Int?
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
    ///   - clock: says whether the wall clock is believed.
    init(_ committer: Committer, journal: JournalWriter, clock: ClockSteps) {
        self.committer = committer
        self.journal = journal
        self.clock = clock
    }

    /// Prunes what is too old, and what is too much.
    ///
    /// - Parameters:
    ///   - settings: how old and how much is too much.
    ///   - now: the wall clock, which says what is too old if it is believed.
    ///   - boot: the clock from the boot on, in nanoseconds.
    func prune(_ settings: StoreSettings, at now: WallTime, boot: Int64) {
        let objection = clock.objection(wall: now, boot: boot)
        prune(settings, at: now, byAge: objection == nil)
        guard let objection else { return }
        journal.log(JournalEntry(.warning, objection, messageID: .clockStepped))
    }

    /// Why nothing is deleted by its age now, for people; `nil`: what is too old is.
    func objection(at now: WallTime, boot: Int64) -> String? { clock.objection(wall: now, boot: boot) }

    /// Prunes a ledger that has become too large since. The parameters are those of the regular pruning.
    func check(_ settings: StoreSettings, at now: WallTime, boot: Int64) {
        guard let limit = settings.sizeMax, !isUnderway else { return }
        // Of a ledger that stays too large another look takes out what came since.
        guard committer.status.ledgerUsed > max(limit, (stuckAt ?? 0) + limit / 16) else { return }
        prune(settings, at: now, byAge: clock.isBelieved(wall: now, boot: boot))
    }

    private func prune(_ settings: StoreSettings, at now: WallTime, byAge: Bool) {
        let time = byAge ? now.milliseconds : .min
        isUnderway = true
        committer.prune(
            olderThan: Self.cutoff(time, settings.retention),
            deadLetters: DeadLetterLimits(
                cutoff: Self.cutoff(time, settings.deadLetterRetention),
                byteCountMax: settings.deadLetterSizeMax),
            figures: Self.cutoff(time, settings.figuresRetention),
            sizeMax: settings.sizeMax)
    }

    private static func cutoff(_ time: Int64, _ age: Duration) -> WallTime {
        let (cutoff, isBeforeAll) = time.subtractingReportingOverflow(age.milliseconds)
        guard !isBeforeAll, cutoff > 0 else { return WallTime(milliseconds: .min) }
        // Whole minutes: reports count a minute by its figures as soon as one of its rows is out.
        return WallTime(milliseconds: cutoff / 60_000 * 60_000)
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
    ///   - remains: what fills a ledger that is too large although nothing more could be taken out.
    ///   - now: the clock, in monotonic nanoseconds.
    func prunedBySize(requests: Int, remains: LedgerRemains?, at now: Int64) {
        bySize += requests
        untold += requests
        let wasStuck = stuckAt != nil
        stuckAt = remains.map { _ in committer.status.ledgerUsed }
        let isPauseOver = toldAt.map { now - $0 >= Self.pause } ?? true
        guard isPauseOver && (requests > 0 || remains != nil) || remains != nil && !wasStuck else { return }
        toldAt = now
        let deleted = "\(counted(untold, "request was", "requests were")) deleted before Retention= was over"
        untold = 0
        let why = remains.map(Self.text) ?? "the ledger was larger than MaxSize="
        journal.log(JournalEntry(.warning, "\(deleted): \(why)", messageID: .prunedBySize))
    }

    private static func text(_ remains: LedgerRemains) -> String {
        let letters = counted(remains.deadLetters, "dead letter", "dead letters")
        let parts = [
            "\(letters) (\(remains.deadLetterBytes) bytes)",
            "\(counted(remains.inFlight, "invocation", "invocations")) in flight",
            "\(counted(remains.entries, "entry", "entries")) of custom data that waits",
            "figures (\(remains.figureBytes) bytes)", "profiles and sessions",
        ]
        return "the ledger is larger than MaxSize= all the same, and nothing more can be deleted; it has "
            + parts.joined(separator: ", ") + ": raise MaxSize=, or lower DeadLetterSizeMax="
    }
}
