/// An order to take rows out, which is a row of a chain that several machines write: each copy carries it out at the same
/// place, and none by itself. It is alone in its batch.
public enum ChainOrder: Hashable, Sendable {
    /// A slice of a pruning.
    case prune(PruningSlice)
    /// A person.
    case erase(ErasureOrder)

    /// Whether the rows of a batch are an order.
    public static func isOrder(_ rows: UnsafeRawBufferPointer) -> Bool {
        guard let kind = rows.first.flatMap(RowKind.init) else { return false }
        return kind == .pruning || kind == .erasure
    }

    /// Reads the rows of a batch; `nil` where they are no order.
    ///
    /// - Throws: `RowError` where an order is not alone, or not whole.
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

/// A slice of a pruning, with all that says which rows go: the same ones in each copy.
public struct PruningSlice: Hashable, Sendable {
    /// Requests that were accepted before go; `nil`: requests of any age, the oldest first.
    public var cutoff: WallTime?
    /// How many requests, and how many entries, go at most.
    public var limit: Int
    /// Which dead letters are too old or too many; `nil`: none are.
    public var deadLetters: DeadLetterLimits?
    /// Figures without rows of what was accepted before go; `nil`: none do.
    public var figures: WallTime?

    /// Joins the parts.
    public init(
        olderThan cutoff: WallTime?, limit: Int, deadLetters: DeadLetterLimits? = nil, figures: WallTime? = nil
    ) {
        (self.cutoff, self.limit, self.deadLetters, self.figures) = (cutoff, limit, deadLetters, figures)
    }
}

/// How long dead letters stay, and how many: their requests go with the others once they are dead letters no more.
public struct DeadLetterLimits: Hashable, Sendable {
    /// Those that became dead letters before then go.
    public var cutoff: WallTime
    /// How many bytes the request lines of those that stay may have together; the oldest go first.
    public var byteCountMax: Int

    /// Joins the two.
    public init(cutoff: WallTime, byteCountMax: Int) {
        (self.cutoff, self.byteCountMax) = (cutoff, byteCountMax)
    }
}

/// Whom to erase, and up to which request and entry. On one machine it lies in the state directory from the beginning of an
/// erasure to its end, so that a start goes on with one that a crash interrupted.
public struct ErasureOrder: Hashable, Sendable {
    /// Whom.
    public var person: Person
    /// Requests that were accepted later stay.
    public var bound: ErasureBound
    /// Whether requests of the person that are not decided go, because no daemon decides them. Without it the rows wait for
    /// their outcomes.
    public var takesUndecided: Bool

    /// Joins the parts. The person has all devices that the ledger knows up to the bound.
    public init(person: Person, bound: ErasureBound, takesUndecided: Bool = false) {
        (self.person, self.bound, self.takesUndecided) = (person, bound, takesUndecided)
    }
}
