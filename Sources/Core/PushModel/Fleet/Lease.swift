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

/// The note of a node about its copy of a shard, as the engine has it.
public struct CopyNote: Hashable, Sendable {
    /// The node.
    public var node: String
    /// The last batch of the copy.
    public var applied: UInt64
    /// The age of the note.
    public var age: Duration
    /// The age of the batch after it at the time of the note; zero if there was none; `nil` if unknown.
    public var lag: Duration?
    /// Whether the node may not lead, by a person's order.
    public var isDrained: Bool
    /// The highest version of batches that the node reads.
    public var reads: Int
    /// The version of its program; `nil` if unknown.
    public var program: String?

    /// Joins the parts.
    public init(
        node: String, applied: UInt64, age: Duration, lag: Duration?, isDrained: Bool = false, reads: Int = 1,
        program: String? = nil
    ) {
        (self.node, self.applied, self.age, self.lag, self.isDrained) = (node, applied, age, lag, isDrained)
        (self.reads, self.program) = (reads, program)
    }
}

/// The choice of the next leader when a person orders a change.
public struct Succession: Sendable {
    /// The reason for choosing no node.
    public enum Refusal: Error, Hashable, Sendable {
        /// No node leads, so none can hand over.
        case noLeader
        /// The engine has no note of a copy from this node.
        case unknown(String)
        /// The node leads.
        case leads(String)
        /// The node is drained.
        case drained(String)
        /// The copy of the node is too far behind.
        case tooFarBehind(CopyNote)
        /// No other node could lead; the copies of the others.
        case noCandidate([CopyNote])
    }

    /// The node that leads.
    public var leader: String?
    /// The nodes' copies.
    public var copies: [CopyNote]
    /// The age limit of a note; a node with an older one does not count as running.
    public var ageLimit: Duration
    /// The limit by which the copy of a successor may be behind, so that it can lead at once.
    private static let lagLimit: Duration = .seconds(1)

    /// Joins the parts.
    public init(leader: String?, copies: [CopyNote], ageLimit: Duration) {
        (self.leader, self.copies, self.ageLimit) = (leader, copies, ageLimit)
    }

    /// Chooses the node that the leader hands over to.
    ///
    /// - Parameter wanted: the node that the person named; `nil`: the nearest.
    public func successor(_ wanted: String?) throws(Refusal) -> String {
        guard let leader else { throw .noLeader }
        guard let wanted else { return try nearest(but: leader).node }
        guard wanted != leader else { throw .leads(wanted) }
        guard let copy = copies.first(where: { $0.node == wanted }) else { throw .unknown(wanted) }
        guard !copy.isDrained else { throw .drained(wanted) }
        guard isNear(copy) else { throw .tooFarBehind(copy) }
        return wanted
    }

    /// Checks that a node may be drained, and returns the node that it hands over to; `nil` if it does not lead.
    public func draining(_ node: String) throws(Refusal) -> String? {
        guard node != leader else { return try nearest(but: node).node }
        guard let copy = copies.first(where: { $0.node == node }) else { throw .unknown(node) }
        // If another node leads, that one keeps leading, and only a further order drains it.
        if leader == nil, copy.age <= ageLimit { _ = try nearest(but: node) }
        return nil
    }

    private func isNear(_ copy: CopyNote) -> Bool {
        copy.age <= ageLimit && copy.lag.map { $0 <= Self.lagLimit } ?? false
    }

    private func nearest(but node: String) throws(Refusal) -> CopyNote {
        let others = copies.filter { $0.node != node }
        let near = others.filter { isNear($0) && !$0.isDrained }
        guard let best = near.min(by: { ($0.lag ?? .zero, $1.applied) < ($1.lag ?? .zero, $0.applied) }) else {
            throw .noCandidate(others)
        }
        return best
    }
}

/// The version in which a leader writes its batches: the highest that all copies read, so that a pair can be upgraded
/// one machine after the other. It never falls, since the batches already written need readers of their version anyway.
public struct VersionGate: Hashable, Sendable {
    /// The version of the previous batch.
    private var last: Int
    /// The highest version that this program reads and writes.
    private let own: Int

    /// - Parameters:
    ///   - last: the version of the last batch of the chain.
    ///   - own: the highest version that this program reads and writes.
    public init(after last: Int, own: Int = ChainBatch.currentVersion) { (self.last, self.own) = (last, own) }

    /// Returns the version of the next batch.
    ///
    /// - Parameters:
    ///   - copies: the lowest version among those that the copies read; `nil` if it is unknown yet.
    ///   - rows: the version that the rows of the batch need.
    public mutating func next(copies: Int?, rows: Int) -> Int {
        last = max(version(copies: copies), rows)
        return last
    }

    /// Returns the version that all readers of the chain read.
    ///
    /// - Parameter copies: the lowest version among those that the copies read; `nil` if it is unknown yet.
    public func version(copies: Int?) -> Int { max(last, min(own, copies ?? last)) }
}
