/// The ranges of numbers in rows. This program never writes a number outside: a bit flipped, or another program wrote
/// it.
///
/// Within the ranges no sum or difference of two numbers overflows, and no conversion of a time or a span to a smaller
/// unit.
public enum StoredRange {
    /// Numbers of requests, events and entries, counts and lengths.
    public static let number: ClosedRange<Int64> = 0...(1 << 62) - 1
    /// Unix milliseconds: the years -6950 to 10889.
    public static let time: ClosedRange<Int64> = -(1 << 48)...1 << 48
    /// Microseconds: 285 years.
    public static let span: ClosedRange<Int64> = -(1 << 53)...1 << 53
}

extension StoredValue {
    @inlinable public static var count: Int { 1 }
}

extension Optional: StoredValue where Wrapped: StoredValue {
    @inlinable public static var count: Int { Wrapped.count }

    @inline(__always) public func write(to row: inout RowWriter) {
        if let self { self.write(to: &row) } else { row.nulls(Self.count) }
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        if row.isNull {
            self = nil
            try row.skip(Self.count)
        } else {
            self = try Wrapped(reading: &row)
        }
    }
}

extension StoredValue where Self: FixedWidthInteger {
    @inline(__always) public func write(to row: inout RowWriter) { row.integer(Int64(truncatingIfNeeded: self)) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let integer = try row.integer()
        guard let value = Self(exactly: integer) else { throw row.unreadable("\(integer) does not fit a \(Self.self)") }
        self = value
    }
}

extension Int: StoredValue {}
extension Int32: StoredValue {}
extension Int64: StoredValue {}
extension UInt32: StoredValue {}

/// A digest: any 64 bits.
extension UInt64: StoredValue {
    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(bitPattern: try row.integer())
    }
}

extension Bool: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.integer(self ? 1 : 0) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) { self = try row.integer() != 0 }
}

extension String: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.text(self) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) { self = try row.text() ?? "" }
}

extension [UInt8]: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.bytes(self) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) { self = try row.bytes() }
}

extension UUID128: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.uuid(self) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let bytes = try row.bytes()
        guard bytes.count == 16 else { throw row.unreadable("an id has \(bytes.count) bytes rather than 16") }
        self.init(
            high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension SequenceNumber: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.integer(value) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(try row.integer(in: StoredRange.number))
    }
}

extension EntryNumber: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.integer(value) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(try row.integer(in: StoredRange.number))
    }
}

extension InvocationID: StoredValue {
    @inlinable public static var count: Int { 2 }

    @inline(__always) public func write(to row: inout RowWriter) { row.add(seq, n) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(seq: try row.next(), n: Int(try row.integer(in: StoredRange.number)))
    }
}

/// Nanoseconds of the monotonic clock.
extension Instant: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.integer(nanoseconds) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(nanoseconds: try row.integer(in: StoredRange.number))
    }
}

extension WallTime: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.integer(milliseconds) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(milliseconds: try row.integer(in: StoredRange.time))
    }
}

/// Microseconds.
extension Duration: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.integer(microseconds) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self = .microseconds(try row.integer(in: StoredRange.span))
    }
}

/// An app, then a device. The empty text stands for no app.
extension DeviceKey: StoredValue {
    public func write(to row: inout RowWriter) { row.add(app ?? "", device) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let (app, device): (String, String) = try row.next()
        self.init(app: app.isEmpty ? nil : app, device: device)
    }
}

/// A word of a closed set that rows hold as a text.
public protocol StoredName: StoredValue, RawRepresentable<String> {}

extension StoredName {
    @inline(__always) public func write(to row: inout RowWriter) { row.text(rawValue) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) { self = try row.name() }
}

extension RowSource {
    /// Reads a word that rows hold as a text.
    @inlinable public mutating func name<Name: RawRepresentable<String>>() throws(Failure) -> Name {
        let text = try text() ?? ""
        guard let name = Name(rawValue: text) else { throw unreadable("'\(text)' is no \(Name.self)") }
        return name
    }
}

extension AttemptRecord.Answer: StoredName {}
extension DaemonGap.Kind: StoredName {}
extension EntryKind: StoredName {}
extension EntryState: StoredName {}
extension IdentifierKind: StoredName {}
extension Interaction.Verdict: StoredName {}
extension ReasonCode: StoredName {}
extension RejectionCode: StoredName {}
extension SendingState.Phase: StoredName {}

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
