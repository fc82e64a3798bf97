/// An order to delete rows, stored as a row of a chain that several machines write. Each copy carries it out at the
/// same place of the chain, and deletes rows only by such an order. An order is alone in its batch.
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

    /// Reads the rows of a batch; `nil` if they are no order.
    ///
    /// - Throws: `RowError` if an order is incomplete or not alone in its batch.
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

/// A slice of a pruning, with every value that selects rows, so that each copy deletes the same ones.
public struct PruningSlice: Hashable, Sendable {
    /// Deletes requests that were accepted before this time; `nil` deletes requests of any age, the oldest first.
    public var cutoff: WallTime?
    /// The limit of requests, and of entries, that the slice deletes.
    public var limit: Int
    /// The limits of dead letters; `nil` keeps all of them.
    public var deadLetters: DeadLetterLimits?
    /// Deletes figures of minutes before this time that have no rows any more; `nil` deletes none.
    public var figures: WallTime?

    /// Joins the parts.
    public init(
        olderThan cutoff: WallTime?, limit: Int, deadLetters: DeadLetterLimits? = nil, figures: WallTime? = nil
    ) {
        (self.cutoff, self.limit, self.deadLetters, self.figures) = (cutoff, limit, deadLetters, figures)
    }
}

/// The limits of age and size of dead letters. Pruning deletes their requests once they are dead letters no more.
public struct DeadLetterLimits: Hashable, Sendable {
    /// Drops dead letters that became dead letters before this time.
    public var cutoff: WallTime
    /// The limit of the bytes that the request lines of all dead letters have together; the oldest go first.
    public var byteCountMax: Int

    /// Joins the two.
    public init(cutoff: WallTime, byteCountMax: Int) {
        (self.cutoff, self.byteCountMax) = (cutoff, byteCountMax)
    }
}

/// The person to erase, and the last request and entry that the erasure covers. On one machine the order lies in the
/// state directory during the erasure, so that a start resumes one that a crash interrupted.
public struct ErasureOrder: Hashable, Sendable {
    /// The person.
    public var person: Person
    /// The last request and entry that the erasure covers.
    public var bound: ErasureBound
    /// Whether the erasure deletes undecided requests of the person too, because no daemon runs that would decide them.
    /// Otherwise their rows wait for their outcomes.
    public var takesUndecided: Bool

    /// Joins the parts. The person owns all devices that the ledger knows up to the bound.
    public init(person: Person, bound: ErasureBound, takesUndecided: Bool = false) {
        (self.person, self.bound, self.takesUndecided) = (person, bound, takesUndecided)
    }
}
