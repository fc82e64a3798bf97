/// A record of which the ledger has a table, with a row for each.
///
/// The table, what is written and what is read have one order, and stand in one file. A new column comes last: the log may
/// have rows that end before it.
public protocol StoredRecord: StoredValue {
    /// The table.
    static var table: LedgerTable { get }
}

/// A value that a row has in one column, or in some that follow on each other.
public protocol StoredValue {
    /// How many columns it has.
    static var count: Int { get }

    /// Writes the value, or its parts in the order of the columns.
    func write(to row: inout RowWriter)

    /// Takes the value back, or its parts in the order of the columns.
    init<Row: RowSource>(reading row: inout Row) throws(Row.Failure)
}

/// The values of a row, one after the other: of the log, or of the ledger.
public protocol RowSource {
    /// What is wrong with a value.
    associatedtype Failure: Error

    /// Whether the next value is NULL.
    var isNull: Bool { get }

    /// Leaves out values.
    mutating func skip(_ count: Int) throws(Failure)

    /// A whole number.
    mutating func integer() throws(Failure) -> Int64

    /// A text; `nil` for NULL.
    mutating func text() throws(Failure) -> String?

    /// Bytes; none for NULL.
    mutating func bytes() throws(Failure) -> [UInt8]

    /// A word, which the ledger may have as a number.
    mutating func word<Word: StoredWord>() throws(Failure) -> Word

    /// The error for the value that was taken last.
    func unreadable(_ reason: String) -> Failure
}

extension RowSource {
    /// A whole number that is in a range.
    @inlinable public mutating func integer(in range: ClosedRange<Int64>) throws(Failure) -> Int64 {
        let value = try integer()
        guard range.contains(value) else { throw unreadable("no row has \(value) there") }
        return value
    }

    /// The next value.
    @inlinable public mutating func next<Value: StoredValue>() throws(Failure) -> Value { try Value(reading: &self) }

    /// The next two values.
    @inlinable public mutating func next<A: StoredValue, B: StoredValue>() throws(Failure) -> (A, B) {
        (try A(reading: &self), try B(reading: &self))
    }

    /// The next three values.
    @inlinable public mutating func next<A: StoredValue, B: StoredValue, C: StoredValue>() throws(Failure) -> (A, B, C)
    {
        (try A(reading: &self), try B(reading: &self), try C(reading: &self))
    }

    /// The next four values.
    @inlinable public mutating func next<A: StoredValue, B: StoredValue, C: StoredValue, D: StoredValue>()
        throws(Failure) -> (A, B, C, D)
    {
        (try A(reading: &self), try B(reading: &self), try C(reading: &self), try D(reading: &self))
    }
}

extension RowWriter {
    @inline(__always) mutating func add<A: StoredValue>(_ a: A) { a.write(to: &self) }

    @inline(__always) mutating func add<A: StoredValue, B: StoredValue>(_ a: A, _ b: B) {
        a.write(to: &self)
        b.write(to: &self)
    }

    @inline(__always) mutating func add<A: StoredValue, B: StoredValue, C: StoredValue>(_ a: A, _ b: B, _ c: C) {
        add(a, b)
        c.write(to: &self)
    }

    @inline(__always) mutating func add<A: StoredValue, B: StoredValue, C: StoredValue, D: StoredValue>(
        _ a: A, _ b: B, _ c: C, _ d: D
    ) {
        add(a, b)
        add(c, d)
    }
}
