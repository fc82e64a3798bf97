/// A record that has a row in a table of the ledger.
///
/// The table, the writer and the reader have the same order, and stand in one file. A new column comes last: the log
/// may have rows that end before it.
protocol StoredRecord: StoredValue {
    /// The table.
    static var table: LedgerTable { get }
}

/// A value that takes one column of a row, or several adjacent ones.
public protocol StoredValue {
    /// The number of columns.
    static var count: Int { get }

    /// Writes the value, or its parts in the order of the columns.
    func write(to row: inout RowWriter)

    /// Reads the value, or its parts in the order of the columns.
    init<Row: RowSource>(reading row: inout Row) throws(Row.Failure)
}

/// The values of a row of the log or of the ledger, in order.
public protocol RowSource {
    /// The error for a wrong value.
    associatedtype Failure: Error

    /// Whether the next value is NULL.
    var isNull: Bool { get }

    /// Skips values.
    mutating func skip(_ count: Int) throws(Failure)

    /// Reads a whole number.
    mutating func integer() throws(Failure) -> Int64

    /// Reads a text; `nil` for NULL.
    mutating func text() throws(Failure) -> String?

    /// Reads bytes; empty for NULL.
    mutating func bytes() throws(Failure) -> [UInt8]

    /// Reads a word, which the ledger may have as a number.
    mutating func word<Word: StoredWord>() throws(Failure) -> Word

    /// The error for the value read last.
    func unreadable(_ reason: String) -> Failure
}

extension RowSource {
    /// Reads a whole number within a range.
    @inlinable public mutating func integer(in range: ClosedRange<Int64>) throws(Failure) -> Int64 {
        let value = try integer()
        guard range.contains(value) else { throw unreadable("a row has the unknown value \(value)") }
        return value
    }

    /// Reads the next value.
    @inlinable public mutating func next<Value: StoredValue>() throws(Failure) -> Value { try Value(reading: &self) }

    /// Reads the next two values.
    @inlinable public mutating func next<A: StoredValue, B: StoredValue>() throws(Failure) -> (A, B) {
        (try A(reading: &self), try B(reading: &self))
    }

    /// Reads the next three values.
    @inlinable public mutating func next<A: StoredValue, B: StoredValue, C: StoredValue>() throws(Failure) -> (A, B, C)
    {
        (try A(reading: &self), try B(reading: &self), try C(reading: &self))
    }

    /// Reads the next four values.
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
