import LinuxSystem
import PushModel
import PushRouter

/// Counts the entries of custom data that were rejected on arrival, and logs them: the first at once, later ones
/// together, once in 10 s.
struct RejectionLog {
    /// The time between two journal entries, in nanoseconds.
    private static let interval: Int64 = 10_000_000_000

    /// The number of rejections.
    private(set) var count: Int64 = 0
    /// The first rejection since the last journal entry.
    private var first: Rejection?
    private var unreported: Int64 = 0
    private var reportedAt: Int64?

    /// Notes rejections.
    ///
    /// - Parameters:
    ///   - rejections: the entries.
    ///   - now: monotonic nanoseconds.
    /// - Returns: the journal entry; `nil`: none is due.
    mutating func note(_ rejections: [Rejection], at now: Int64) -> JournalEntry? {
        guard !rejections.isEmpty else { return nil }
        count += Int64(rejections.count)
        unreported += Int64(rejections.count)
        first = first ?? rejections.first
        return takeDue(at: now)
    }

    /// Returns the journal entry for rejections that were gathered for `interval`; `nil`: none is due.
    mutating func takeDue(at now: Int64) -> JournalEntry? {
        guard let rejection = first, reportedAt.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        let others = unreported == 1 ? "" : " (and \(unreported - 1) more)"
        let entry = JournalEntry(
            .warning, "custom data rejected, entry \(rejection.number): \(rejection.problem.text)\(others)",
            messageID: .customDataRejected,
            fields: [.init(.rejections, unreported), .init(.reasonCode, rejection.problem.code.rawValue)])
        (first, unreported, reportedAt) = (nil, 0, now)
        return entry
    }
}
