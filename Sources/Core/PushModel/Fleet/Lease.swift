/// The lease as a follower sees it. The follower takes a lease that was not renewed for the lease's length by its own
/// clock (rule R5), and at once one that was given back, unless another node is the named successor. A node that a
/// person drained takes none.
///
/// Times are of `CLOCK_BOOTTIME`, which nobody can set, and which counts a suspension.
public struct LeaseWatch: Hashable, Sendable {
    private let length: Duration
    private var seen: LeaseRow?
    private var since: Instant?

    /// - Parameter length: the length of the lease.
    public init(length: Duration) { self.length = length }

    /// Takes a reading of the row.
    ///
    /// - Parameter answeredAt: the time of the answer: the owner may have sent its renewal after this node sent its
    ///   question, and its lease counts from that renewal.
    public mutating func observe(_ row: LeaseRow, answeredAt: Instant) {
        if row.withoutOrders != seen?.withoutOrders { since = answeredAt }
        seen = row
    }

    /// Notes that the database did not answer: renewals may have been missed, so the time restarts.
    public mutating func noteUnreachable() { (seen, since) = (nil, nil) }

    /// The row that a node may take now; `nil` if it may not.
    public func claimableRow(at now: Instant, by node: String) -> LeaseRow? {
        guard let seen, let since, !seen.drained.contains(node) else { return nil }
        return seen.isReleased(to: node) || now - since >= length ? seen : nil
    }
}

/// The lease of a leader (rule R7): once it has expired the leader starts no handler, refuses no request and answers no
/// question. It continues to append, because the chain alone decides.
///
/// Times are of `CLOCK_BOOTTIME`.
public struct LeaseHold: Hashable, Sendable {
    private let length: Duration
    private var until: Instant

    /// - Parameters:
    ///   - length: the length of the lease.
    ///   - sentAt: the time of sending the request for the lease.
    public init(length: Duration, sentAt: Instant) {
        self.length = length
        until = sentAt + length
    }

    /// Extends the lease after the engine confirmed a renewal.
    ///
    /// - Parameter sentAt: the time of sending the renewal.
    public mutating func renewed(sentAt: Instant) { until = max(until, sentAt + length) }

    /// Whether the lease is valid.
    public func holds(at now: Instant) -> Bool { now < until }

    /// The rest of the lease.
    public func left(at now: Instant) -> Duration { max(.zero, until - now) }
}
