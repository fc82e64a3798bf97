/// An order to delete rows, as a row of a chain that several machines write. Each copy carries it out at the same place
/// of the chain, and no copy deletes rows without an order. An order is the only row of its batch.
public enum ChainOrder: Hashable, Sendable {
    /// A slice of a pruning.
    case prune(PruningSlice)
    /// The erasure of a person.
    case erase(ErasureOrder)

    /// Whether the rows of a batch are an order.
    public static func isOrder(_ rows: UnsafeRawBufferPointer) -> Bool {
        guard let kind = rows.first.flatMap(RowKind.init) else { return false }
        return kind == .pruning || kind == .erasure
    }

    /// Reads the rows of a batch; `nil` if they are not an order.
    ///
    /// - Throws: `RowError` if an order has other rows beside it, or is incomplete.
    public init?(_ rows: UnsafeRawBufferPointer) throws(RowError) {
        guard Self.isOrder(rows) else { return nil }
        var reader = RowReader(rows)
        guard let row = try reader.next() else { return nil }
        let kind = row.kind
        var values = row.values
        self =
            kind == .pruning ? .prune(try PruningSlice(reading: &values)) : .erase(try ErasureOrder(reading: &values))
        guard values.isAtEnd, try reader.next() == nil else {
            throw RowError(message: "an order is not alone in its batch")
        }
    }
}

/// A slice of a pruning, with all limits that select rows, so that each copy deletes the same rows.
public struct PruningSlice: Hashable, Sendable {
    /// Requests accepted before this time are deleted; `nil`: requests of any age, the oldest first.
    public var cutoff: WallTime?
    /// The largest number of requests, and of entries, that this slice deletes.
    public var limit: Int
    /// The limits of age and size for dead letters; `nil`: no limit applies.
    public var deadLetters: DeadLetterLimits?
    /// Figures of requests accepted before this time are deleted if the requests have no rows; `nil`: no figures are.
    public var figures: WallTime?

    /// Joins the parts.
    public init(
        olderThan cutoff: WallTime?, limit: Int, deadLetters: DeadLetterLimits? = nil, figures: WallTime? = nil
    ) {
        (self.cutoff, self.limit, self.deadLetters, self.figures) = (cutoff, limit, deadLetters, figures)
    }
}

/// The limits of age and size for dead letters. Beyond them an invocation is no longer a dead letter, and its request
/// is deleted with the other requests.
public struct DeadLetterLimits: Hashable, Sendable {
    /// Invocations that became dead letters before this time are dead letters no longer.
    public var cutoff: WallTime
    /// The largest total size in bytes of the request lines of dead letters; the oldest are removed first.
    public var byteCountMax: Int

    /// Joins the two.
    public init(cutoff: WallTime, byteCountMax: Int) {
        (self.cutoff, self.byteCountMax) = (cutoff, byteCountMax)
    }
}

/// The person to erase, and the last request and entry to erase. On one machine a file of the state directory holds the
/// order until the erasure ends, so that the next start resumes an erasure that a crash interrupted.
public struct ErasureOrder: Hashable, Sendable {
    /// The person to erase.
    public var person: Person
    /// The last request and entry; later ones stay.
    public var bound: ErasureBound
    /// Whether undecided requests of the person are deleted too, because no daemon runs that would decide them. If
    /// false, their rows stay until they have outcomes.
    public var takesUndecided: Bool

    /// Joins the parts. `person` includes all devices that the ledger knows up to the bound.
    public init(person: Person, bound: ErasureBound, takesUndecided: Bool = false) {
        (self.person, self.bound, self.takesUndecided) = (person, bound, takesUndecided)
    }
}
