import JournalLog
import PushCustomData
import PushModel

/// Counts the entries of custom data that were rejected on arrival, and says it in the journal: the first at once, those
/// that follow together, some time later.
struct RejectionLog {
    /// For how long rejections are gathered, in nanoseconds.
    private static let interval: Int64 = 10_000_000_000

    /// How many there were.
    private(set) var count: Int64 = 0
    /// The first of those that the journal was not told of.
    private var first: Rejection?
    private var untold: Int64 = 0
    private var toldAt: Int64?

    /// Notes what was rejected.
    ///
    /// - Parameters:
    ///   - rejections: the entries.
    ///   - now: monotonic nanoseconds.
    /// - Returns: what the journal is to be told; `nil`: nothing now.
    mutating func note(_ rejections: [Rejection], at now: Int64) -> JournalEntry? {
        guard !rejections.isEmpty else { return nil }
        count += Int64(rejections.count)
        untold += Int64(rejections.count)
        first = first ?? rejections.first
        return takeDue(at: now)
    }

    /// What the journal is to be told of all that was gathered for long enough; `nil`: nothing.
    mutating func takeDue(at now: Int64) -> JournalEntry? {
        guard let rejection = first, toldAt.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        let others = untold == 1 ? "" : " (and \(untold - 1) more)"
        let entry = JournalEntry(
            .warning, "custom data rejected, entry \(rejection.number): \(rejection.problem.text)\(others)",
            messageID: .customDataRejected,
            fields: [.init(.rejections, untold), .init(.reasonCode, rejection.problem.code.rawValue)])
        (first, untold, toldAt) = (nil, 0, now)
        return entry
    }
}
