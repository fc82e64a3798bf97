import LinuxSystem
import PushModel
import PushSettings

/// Limits the journal entries for successes to so many a second, because the ledger has each success. Counts the
/// others, and logs their number.
struct SuccessEntries {
    /// The number of entries a second, in the long run.
    static let rate: Int64 = 500
    /// The number of entries at once after a pause.
    private static let burst: Int64 = 2000
    /// The time between two summaries, in nanoseconds.
    private static let interval: Int64 = 10_000_000_000

    private var credit = Self.burst
    private var creditedAt: Int64
    private var unreported: UInt64 = 0
    private var unreportedSince: Int64?

    init(now: Int64) { creditedAt = now }

    /// Whether there is room for an entry.
    var hasRoom: Bool { credit > 0 }

    /// Reads the clock, in monotonic nanoseconds.
    mutating func read(_ now: Int64) {
        let earned = (now - creditedAt) * Self.rate / 1_000_000_000
        guard earned > 0 else { return }
        credit = min(Self.burst, credit + earned)
        creditedAt = now
    }

    /// Counts a success that gets an entry.
    mutating func countEntry() { credit -= 1 }

    /// Counts successes that get no entry.
    mutating func leaveOut(_ count: Int, at now: Int64) {
        guard count > 0 else { return }
        unreported += UInt64(count)
        unreportedSince = unreportedSince ?? now
    }

    /// The summary of successes without an entry, if it is due.
    mutating func summary(_ level: JournalSettings.Level, at now: Int64) -> JournalEntry? {
        guard let since = unreportedSince, now - since >= Self.interval else { return nil }
        return lastSummary(level)
    }

    /// The summary of successes without an entry, due or not; `nil` if there are none.
    mutating func lastSummary(_ level: JournalSettings.Level) -> JournalEntry? {
        guard unreported > 0 else { return nil }
        defer { (unreported, unreportedSince) = (0, nil) }
        return JournalEntry(
            level == .info ? .info : .debug,
            counted(unreported, "outcome has no entry of its own", "outcomes have no entry of their own")
                + ", because there were more than \(Self.rate) a second: "
                + "pushctl report has them", messageID: .outcomesSummed, fields: [.init(.outcomes, unreported)])
    }
}
