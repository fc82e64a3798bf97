/// A node's copy of a shard, as the node noted it at the engine.
public struct CopyNote: Hashable, Sendable {
    /// The node.
    public var node: String
    /// The last batch that it has.
    public var applied: UInt64
    /// How long ago it said so.
    public var age: Duration
    /// How long ago the batch after it was inserted when it said so; zero: there was none; `nil`: nobody knows.
    public var lag: Duration?
    /// Whether it is not to lead, by a person's order.
    public var isDrained: Bool
    /// The highest version of batches that it reads.
    public var reads: Int
    /// The version of its program; `nil`: not told.
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

/// The choice of the node that leads next, where a person wants another one.
public struct Succession: Sendable {
    /// Why nobody is chosen.
    public enum Refusal: Error, Hashable, Sendable {
        /// Nobody leads, so nobody can hand over.
        case nobodyLeads
        /// No such node has noted a copy.
        case unknown(String)
        /// The node leads already.
        case leads(String)
        /// The node is not to lead.
        case drained(String)
        /// The node has no near copy.
        case far(CopyNote)
        /// No node is left that could lead; the copies of the others.
        case nobodyIsLeft([CopyNote])
    }

    /// The node that leads.
    public var leader: String?
    /// The nodes' copies.
    public var copies: [CopyNote]
    /// How old a note is at most whose node runs.
    public var ageLimit: Duration
    /// How far the copy of a node may be behind that would lead at once.
    private static let lagLimit: Duration = .seconds(1)

    /// Joins the parts.
    public init(leader: String?, copies: [CopyNote], ageLimit: Duration) {
        (self.leader, self.copies, self.ageLimit) = (leader, copies, ageLimit)
    }

    /// The node that the leader hands over to.
    ///
    /// - Parameter wanted: the one that was asked for; `nil`: the nearest.
    public func successor(_ wanted: String?) throws(Refusal) -> String {
        guard let leader else { throw .nobodyLeads }
        guard let wanted else { return try nearest(but: leader).node }
        guard wanted != leader else { throw .leads(wanted) }
        guard let copy = copies.first(where: { $0.node == wanted }) else { throw .unknown(wanted) }
        guard !copy.isDrained else { throw .drained(wanted) }
        guard isNear(copy) else { throw .far(copy) }
        return wanted
    }

    /// Whether a node may be drained, and the one that it hands over to if it leads.
    public func draining(_ node: String) throws(Refusal) -> String? {
        guard node != leader else { return try nearest(but: node).node }
        guard let copy = copies.first(where: { $0.node == node }) else { throw .unknown(node) }
        // A node that leads goes on, and another order drains it.
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
            throw .nobodyIsLeft(others)
        }
        return best
    }
}
