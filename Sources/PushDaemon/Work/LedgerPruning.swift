import LinuxSystem
import PushModel
import PushSettings
import Store

/// Keeps the ledger within `Retention=` and `MaxSize=`: starts the store's pruning, counts its deletions, and logs
/// them.
final class LedgerPruning {
    /// The least time between two journal entries for requests that were deleted before `Retention=`, in nanoseconds.
    private static let pause: Int64 = 3600 * 1_000_000_000

    private let committer: Committer
    private let journal: JournalWriter
    private let clock: ClockSteps
    private var isUnderway = false
    /// The size of the ledger in bytes when pruning could delete nothing more; `nil`: it is within its limit.
    private var stuckAt: Int?
    private var unreported = 0
    private var reportedAt: Int64?

    /// The number of requests that were deleted by age since the start.
    private(set) var byRetention = 0
    /// The number of requests that were deleted by the ledger's size since the start.
    private(set) var bySize = 0
    /// The number of dead letters that were dropped since the start for their age, and for their size.
    private(set) var deadLetters = (byAge: 0, bySize: 0)

    /// - Parameters:
    ///   - committer: prunes the ledger.
    ///   - journal: gets the entries.
    ///   - clock: tells whether the wall clock is believed.
    init(_ committer: Committer, journal: JournalWriter, clock: ClockSteps) {
        self.committer = committer
        self.journal = journal
        self.clock = clock
    }

    /// Prunes the ledger by age and by size.
    ///
    /// - Parameters:
    ///   - settings: the limits.
    ///   - now: the wall clock, for ages if it is believed.
    ///   - boot: CLOCK_BOOTTIME, in nanoseconds.
    func prune(_ settings: StoreSettings, at now: WallTime, boot: Int64) {
        let objection = clock.objection(wall: now, boot: boot)
        prune(settings, at: now, byAge: objection == nil)
        guard let objection else { return }
        journal.log(JournalEntry(.warning, objection, messageID: .clockStepped))
    }

    /// Why nothing is deleted by age now, for people; `nil`: rows are deleted by age.
    func objection(at now: WallTime, boot: Int64) -> String? { clock.objection(wall: now, boot: boot) }

    /// Prunes a ledger that became too large since the last pruning. The parameters are those of ``prune(_:at:boot:)``.
    func check(_ settings: StoreSettings, at now: WallTime, boot: Int64) {
        guard let limit = settings.sizeMax, !isUnderway else { return }
        // A ledger that stays too large is pruned again only after it has grown by a sixteenth of its limit.
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
        // Whole minutes: once one row of a minute is deleted, reports use the minute's figures instead of its rows.
        return WallTime(milliseconds: cutoff / 60_000 * 60_000)
    }

    /// Notes the deletions by age, and of dead letters.
    func pruned(requests: Int, deadLetters dropped: Int, bySize: Int) {
        isUnderway = false
        byRetention += requests
        deadLetters.byAge += dropped - bySize
        deadLetters.bySize += bySize
        if requests > 0 {
            journal.log(JournalEntry(.info, "deleted \(counted(requests, "request")) older than Retention="))
        }
        if dropped > 0 {
            let why = "older than DeadLetterRetention= or beyond DeadLetterSizeMax="
            let dropped = counted(dropped, "dead letter", "dead letters")
            journal.log(JournalEntry(.notice, "dropped \(dropped) \(why)"))
        }
    }

    /// Notes the deletions by size.
    ///
    /// - Parameters:
    ///   - requests: their number.
    ///   - remains: the contents of a ledger that is too large although nothing more can be deleted.
    ///   - now: monotonic nanoseconds.
    func prunedBySize(requests: Int, remains: LedgerRemains?, at now: Int64) {
        bySize += requests
        unreported += requests
        let wasStuck = stuckAt != nil
        stuckAt = remains.map { _ in committer.status.ledgerUsed }
        let isPauseOver = reportedAt.map { now - $0 >= Self.pause } ?? true
        guard isPauseOver && (requests > 0 || remains != nil) || remains != nil && !wasStuck else { return }
        reportedAt = now
        let deleted = "\(counted(unreported, "request was", "requests were")) deleted before Retention= was over"
        unreported = 0
        let why = remains.map(Self.text) ?? "the ledger was larger than MaxSize="
        journal.log(JournalEntry(.warning, "\(deleted): \(why)", messageID: .prunedBySize))
    }

    private static func text(_ remains: LedgerRemains) -> String {
        let letters = counted(remains.deadLetters, "dead letter", "dead letters")
        let parts = [
            "\(letters) (\(remains.deadLetterBytes) bytes)",
            "\(counted(remains.inFlight, "invocation", "invocations")) in flight",
            "\(counted(remains.entries, "entry", "entries")) of waiting custom data",
            "figures (\(remains.figureBytes) bytes)", "profiles and sessions",
        ]
        return "the ledger is still larger than MaxSize=, and nothing more can be deleted; it has "
            + parts.joined(separator: ", ") + ": raise MaxSize=, or lower DeadLetterSizeMax="
    }
}
