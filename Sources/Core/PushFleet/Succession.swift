/// The note of a node about its copy of a shard, as the engine has it.
public struct CopyNote: Hashable, Sendable {
    /// The node.
    public var node: String
    /// The last batch of the copy.
    public var applied: UInt64
    /// The age of the note.
    public var age: Duration
    /// The age of the next batch at the time of the note; zero: there was none; `nil`: unknown.
    public var lag: Duration?
    /// Whether the node must not lead, by a person's order.
    public var isDrained: Bool
    /// The highest batch version that it reads.
    public var reads: Int
    /// The version of its program; `nil`: unknown.
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
    /// The reason why no node is chosen.
    public enum Refusal: Error, Hashable, Sendable {
        /// No node leads, so none can hand over.
        case nobodyLeads
        /// The engine has no note of a copy from this node.
        case unknown(String)
        /// The node leads already.
        case leads(String)
        /// The node must not lead.
        case drained(String)
        /// The node's copy is too far behind, or its note too old.
        case far(CopyNote)
        /// No other node could lead; has the copies of the others.
        case nobodyIsLeft([CopyNote])
    }

    /// The node that leads.
    public var leader: String?
    /// The nodes' copies.
    public var copies: [CopyNote]
    /// The largest age of the note of a running node.
    public var ageLimit: Duration
    /// The largest lag of a node's copy that may lead at once.
    private static let lagLimit: Duration = .seconds(1)

    /// Joins the parts.
    public init(leader: String?, copies: [CopyNote], ageLimit: Duration) {
        (self.leader, self.copies, self.ageLimit) = (leader, copies, ageLimit)
    }

    /// Returns the node to which the leader hands over.
    ///
    /// - Parameter wanted: the requested node; `nil`: the one with the nearest copy.
    public func successor(_ wanted: String?) throws(Refusal) -> String {
        guard let leader else { throw .nobodyLeads }
        guard let wanted else { return try nearest(but: leader).node }
        guard wanted != leader else { throw .leads(wanted) }
        guard let copy = copies.first(where: { $0.node == wanted }) else { throw .unknown(wanted) }
        guard !copy.isDrained else { throw .drained(wanted) }
        guard isNear(copy) else { throw .far(copy) }
        return wanted
    }

    /// Checks that a node may be drained; returns the node to which it hands over if it leads.
    public func draining(_ node: String) throws(Refusal) -> String? {
        guard node != leader else { return try nearest(but: node).node }
        guard let copy = copies.first(where: { $0.node == node }) else { throw .unknown(node) }
        // With a leader the check is not needed: the leader continues, and draining the leader is another order.
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
