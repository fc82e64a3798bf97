/// A record of which the ledger has a table, with a row for each.
///
/// The table, what is written and what is read have one order, and stand in one file. A new column comes last: the log may
/// have rows that end before it.
public protocol StoredRecord {
    /// The table.
    static var table: LedgerTable { get }

    /// Writes the values, in the order of the columns.
    func write(to row: inout RowWriter)

    /// Takes the values back, in the order of the columns.
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

    /// A text, or none.
    mutating func text() throws(Failure) -> String?

    /// Bytes; none for NULL.
    mutating func bytes() throws(Failure) -> [UInt8]

    /// A word that the ledger has as a number.
    mutating func word<Word: StoredWord>() throws(Failure) -> Word

    /// The error for the value that was taken last.
    func unreadable(_ reason: String) -> Failure
}

/// Which numbers rows have. What is outside was not written by this program: a flipped bit, or another hand.
///
/// Within them no sum or difference of two overflows, nor does a time or a span in a smaller unit.
public enum StoredRange {
    /// Numbers of requests, events and entries, counts and lengths.
    public static let number: ClosedRange<Int64> = 0...(1 << 62) - 1
    /// Unix milliseconds: the years -6950 to 10889.
    public static let time: ClosedRange<Int64> = -(1 << 48)...1 << 48
    /// Microseconds: 285 years.
    public static let span: ClosedRange<Int64> = -(1 << 53)...1 << 53
}

// Values by their type.
extension RowSource {
    /// A whole number that is in a range.
    @inlinable public mutating func integer(in range: ClosedRange<Int64>) throws(Failure) -> Int64 {
        let value = try integer()
        guard range.contains(value) else { throw unreadable("no row has \(value) there") }
        return value
    }

    /// A whole number of a type.
    @inlinable public mutating func number<Value: FixedWidthInteger>() throws(Failure) -> Value {
        let integer = try integer()
        guard let value = Value(exactly: integer) else { throw unreadable("\(integer) does not fit a \(Value.self)") }
        return value
    }

    /// A whole number of a type, or none.
    @inlinable public mutating func optionalNumber<Value: FixedWidthInteger>() throws(Failure) -> Value? {
        try skipNull() ? nil : try number()
    }

    /// Whether it is one thing and not the other.
    @inlinable public mutating func flag() throws(Failure) -> Bool { try integer() != 0 }

    /// The number of a request.
    @inlinable public mutating func seq() throws(Failure) -> SequenceNumber {
        SequenceNumber(try integer(in: StoredRange.number))
    }

    /// The number of a request, or none.
    @inlinable
    public mutating func optionalSeq() throws(Failure) -> SequenceNumber? { try skipNull() ? nil : try seq() }

    /// The number of an invocation's request, then its own.
    @inlinable public mutating func invocationID() throws(Failure) -> InvocationID {
        InvocationID(seq: try seq(), n: Int(try integer(in: StoredRange.number)))
    }

    /// The number of an entry of custom data.
    @inlinable public mutating func entryNumber() throws(Failure) -> EntryNumber {
        EntryNumber(try integer(in: StoredRange.number))
    }

    /// A point of the monotonic clock, in nanoseconds.
    @inlinable public mutating func instant() throws(Failure) -> Instant {
        Instant(nanoseconds: try integer(in: StoredRange.number))
    }

    /// A point of the monotonic clock, or none.
    @inlinable
    public mutating func optionalInstant() throws(Failure) -> Instant? { try skipNull() ? nil : try instant() }

    /// A time in Unix milliseconds.
    @inlinable public mutating func time() throws(Failure) -> WallTime {
        WallTime(milliseconds: try integer(in: StoredRange.time))
    }

    /// A time in Unix milliseconds, or none.
    @inlinable public mutating func optionalTime() throws(Failure) -> WallTime? { try skipNull() ? nil : try time() }

    /// A duration in microseconds.
    @inlinable
    public mutating func span() throws(Failure) -> Duration { .microseconds(try integer(in: StoredRange.span)) }

    /// A duration in microseconds, or none.
    @inlinable public mutating func optionalSpan() throws(Failure) -> Duration? { try skipNull() ? nil : try span() }

    /// A digest, or none.
    @inlinable public mutating func optionalDigest() throws(Failure) -> UInt64? {
        try skipNull() ? nil : UInt64(bitPattern: try integer())
    }

    /// A 128-bit id.
    @inlinable public mutating func uuid() throws(Failure) -> UUID128 {
        let bytes = try bytes()
        guard bytes.count == 16 else { throw unreadable("\(bytes.count) bytes are no 128-bit id") }
        return UUID128(
            high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// A 128-bit id, or none.
    @inlinable public mutating func optionalUUID() throws(Failure) -> UUID128? { try skipNull() ? nil : try uuid() }

    /// A word that the ledger has as a number, or none.
    @inlinable public mutating func optionalWord<Word: StoredWord>() throws(Failure) -> Word? {
        try skipNull() ? nil : try word()
    }

    /// A word that the ledger has as a text.
    @inlinable public mutating func name<Name: RawRepresentable<String>>() throws(Failure) -> Name {
        let text = try text() ?? ""
        guard let name = Name(rawValue: text) else { throw unreadable("'\(text)' is no \(Name.self)") }
        return name
    }

    /// A word that the ledger has as a text, or none.
    @inlinable public mutating func optionalName<Name: RawRepresentable<String>>() throws(Failure) -> Name? {
        try skipNull() ? nil : try name()
    }

    /// An app, for which the empty text says that there is none.
    @inlinable public mutating func app() throws(Failure) -> String? {
        let app = try text()
        return app == "" ? nil : app
    }

    /// An app, then a device.
    @inlinable public mutating func deviceKey() throws(Failure) -> DeviceKey {
        DeviceKey(app: try app(), device: try text() ?? "")
    }

    /// Leaves the next value out if it is NULL.
    ///
    /// - Returns: whether it was.
    @inlinable public mutating func skipNull() throws(Failure) -> Bool {
        guard isNull else { return false }
        try skip(1)
        return true
    }
}
