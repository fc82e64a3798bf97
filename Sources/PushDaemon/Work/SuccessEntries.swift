import JournalLog
import PushModel
import PushSettings

/// Which successes get an entry of their own in the journal: so many a second, since the ledger has each of them. The others
/// are counted, and the count is told.
struct SuccessEntries {
    /// How many entries a second, in the long run.
    static let rate: Int64 = 500
    /// How many at once after a pause.
    private static let burst: Int64 = 2000
    /// How long untold ones are gathered, in nanoseconds.
    private static let interval: Int64 = 10_000_000_000

    private var credit = Self.burst
    private var creditedAt: Int64
    private var untold: UInt64 = 0
    private var untoldSince: Int64?

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

    /// Notes a success that gets an entry.
    mutating func tell() { credit -= 1 }

    /// Notes successes that get none.
    mutating func leaveOut(_ count: Int, at now: Int64) {
        guard count > 0 else { return }
        untold += UInt64(count)
        untoldSince = untoldSince ?? now
    }

    /// The entry for those that got none, when it is time to tell of them.
    mutating func summary(_ level: JournalSettings.Level, at now: Int64) -> JournalEntry? {
        guard let since = untoldSince, now - since >= Self.interval else { return nil }
        return lastSummary(level)
    }

    /// The entry for those that got none, whenever that was; `nil` without any.
    mutating func lastSummary(_ level: JournalSettings.Level) -> JournalEntry? {
        guard untold > 0 else { return nil }
        defer { (untold, untoldSince) = (0, nil) }
        return JournalEntry(
            level == .info ? .info : .debug,
            counted(untold, "outcome has no entry of its own", "outcomes have no entry of their own")
                + ", because there were more than \(Self.rate) a second: "
                + "pushctl report has them", messageID: .outcomesSummed, fields: [.init(.outcomes, untold)])
    }
}
