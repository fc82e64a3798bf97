public import PushModel

/// The lease as a follower sees it. The follower takes a lease that has not changed for the lease's length by its own
/// clock (rule R5), and at once one that was given back, unless that names another node as successor. A node that a
/// person drained takes none.
///
/// Times are of `CLOCK_BOOTTIME`, which is never set and includes suspensions.
public struct LeaseWatch: Hashable, Sendable {
    private let length: Duration
    private var seen: LeaseRow?
    private var since: Instant?

    /// - Parameter length: the length of the lease.
    public init(length: Duration) { self.length = length }

    /// Takes the row that was read.
    ///
    /// - Parameter answeredAt: the time when the answer came: the owner may have sent its renewal after this node sent
    ///   the question, and its lease counts from there.
    public mutating func saw(_ row: LeaseRow, answeredAt: Instant) {
        if row.withoutOrders != seen?.withoutOrders { since = answeredAt }
        seen = row
    }

    /// Forgets the row after a failure to reach the engine: the time counts anew, because the row may have changed
    /// unseen.
    public mutating func lostTouch() { (seen, since) = (nil, nil) }

    /// Returns the row that a node takes now; `nil`: not yet.
    public func rowToTake(at now: Instant, by node: String) -> LeaseRow? {
        guard let seen, let since, !seen.drained.contains(node) else { return nil }
        return seen.isLeft(to: node) || now - since >= length ? seen : nil
    }
}

/// The lease of a leader (rule R7). After its end the leader starts no handler, refuses no request and answers no
/// question. It continues to append, because only the chain decides.
///
/// Times are of `CLOCK_BOOTTIME`.
public struct LeaseHold: Hashable, Sendable {
    private let length: Duration
    private var until: Instant

    /// - Parameters:
    ///   - length: the length of the lease.
    ///   - sentAt: the time when the request for the lease was sent.
    public init(length: Duration, sentAt: Instant) {
        self.length = length
        until = sentAt + length
    }

    /// Takes a renewal that the engine confirmed.
    ///
    /// - Parameter sentAt: the time when the renewal was sent.
    public mutating func renewed(sentAt: Instant) { until = max(until, sentAt + length) }

    /// Whether the lease is valid.
    public func holds(at now: Instant) -> Bool { now < until }

    /// Returns the time until its end.
    public func left(at now: Instant) -> Duration { max(.zero, until - now) }
}
