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
