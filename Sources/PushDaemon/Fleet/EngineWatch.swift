/// The state of a shared log's engine as this machine sees it: whether it answers, and whether a standby has all that
/// was written. Times are monotonic nanoseconds.
struct EngineWatch: Equatable, Sendable {
    /// The time of its last answer.
    private(set) var answeredAt: Int64
    /// The start of the outage; `nil`: it answers.
    private(set) var unreachableSince: Int64?
    /// Since when no standby has had the latest writes; `nil`: one has them.
    private(set) var unprotectedSince: Int64?

    /// The engine answered just now.
    init(at now: Int64) { answeredAt = now }

    /// Notes an answer.
    mutating func answered(at now: Int64) { (answeredAt, unreachableSince) = (now, nil) }

    /// Notes a confirmed commit.
    mutating func confirmed(at now: Int64) {
        answered(at: now)
        unprotectedSince = nil
    }

    /// Notes that it does not answer.
    mutating func noteUnreachable(since: Int64) { unreachableSince = unreachableSince ?? since }

    /// Notes that it answers, and that no standby has the latest writes.
    mutating func isUnprotected(since: Int64, at now: Int64) {
        answered(at: now)
        unprotectedSince = unprotectedSince ?? since
    }
}
