public import PushModel

/// The lease as a follower has seen it: it takes one that has not moved for a lease's time by its own clock (rule
/// R5), and at once one that was given back, unless that was for another node. A node that a person drained takes none.
///
/// Times are of `CLOCK_BOOTTIME`: nobody sets it, and it counts a suspension.
public struct LeaseWatch: Hashable, Sendable {
    private let length: Duration
    private var seen: LeaseRow?
    private var since: Instant?

    /// - Parameter length: the lease.
    public init(length: Duration) { self.length = length }

    /// The row was read.
    ///
    /// - Parameter answeredAt: when the answer came: the owner may have sent its renewal after the reading was sent,
    ///   and its lease counts from there.
    public mutating func saw(_ row: LeaseRow, answeredAt: Instant) {
        if row.withoutOrders != seen?.withoutOrders { since = answeredAt }
        seen = row
    }

    /// The engine did not answer: nobody knows what happened meanwhile, so the time counts anew.
    public mutating func lostTouch() { (seen, since) = (nil, nil) }

    /// The row that a node is to take, when it is time to.
    public func rowToTake(at now: Instant, by node: String) -> LeaseRow? {
        guard let seen, let since, !seen.drained.contains(node) else { return nil }
        return seen.isLeft(to: node) || now - since >= length ? seen : nil
    }
}

/// The lease of a leader (rule R7): past its time the leader starts no handler, refuses nobody and answers no question.
/// It goes on appending, because the chain alone decides.
///
/// Times are of `CLOCK_BOOTTIME`.
public struct LeaseHold: Hashable, Sendable {
    private let length: Duration
    private var until: Instant

    /// - Parameters:
    ///   - length: the lease.
    ///   - sentAt: when the taking was sent.
    public init(length: Duration, sentAt: Instant) {
        self.length = length
        until = sentAt + length
    }

    /// The engine confirmed a renewal.
    ///
    /// - Parameter sentAt: when it was sent.
    public mutating func renewed(sentAt: Instant) { until = max(until, sentAt + length) }

    /// Whether the lease holds.
    public func holds(at now: Instant) -> Bool { now < until }

    /// How much of it is left.
    public func left(at now: Instant) -> Duration { max(.zero, until - now) }
}
