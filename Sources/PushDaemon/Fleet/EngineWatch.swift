/// The engine of a shared log as a machine finds it: whether it answers, and whether a standby has what is written. Times are
/// monotonic nanoseconds.
struct EngineWatch: Equatable, Sendable {
    /// When it answered last.
    private(set) var answeredAt: Int64
    /// Since when it has given no answer; `nil`: it answers.
    private(set) var awaySince: Int64?
    /// Since when no standby has had what is written; `nil`: one has, as far as anything was written.
    private(set) var unprotectedSince: Int64?

    /// It answered just now.
    init(at now: Int64) { answeredAt = now }

    /// It answered a question.
    mutating func answered(at now: Int64) { (answeredAt, awaySince) = (now, nil) }

    /// It confirmed a commit.
    mutating func confirmed(at now: Int64) {
        answered(at: now)
        unprotectedSince = nil
    }

    /// It gives no answer.
    mutating func isAway(since: Int64) { awaySince = awaySince ?? since }

    /// It answers, and no standby has what is written.
    mutating func isUnprotected(since: Int64, at now: Int64) {
        answered(at: now)
        unprotectedSince = unprotectedSince ?? since
    }
}
