import PushFigures
import PushModel

/// Which numbers rows of a ledger have. What is outside was not written by this program: a flipped bit, or another hand.
///
/// Within them no sum or difference of two overflows, nor does a time or a span in a smaller unit.
enum StoredRange {
    /// Numbers of requests, events and entries, counts and lengths.
    static let number: ClosedRange<Int64> = 0...(1 << 62) - 1
    /// Of a ledger that comes from elsewhere: there is room for what is given after it.
    static let restoredNumber: ClosedRange<Int64> = 0...1 << 61
    /// Unix milliseconds: the years -6950 to 10889.
    static let time: ClosedRange<Int64> = -(1 << 48)...1 << 48
    /// Minutes of figures, and the one behind the last.
    static let minute: ClosedRange<Int64> = 0...FigureMinute.limit
    /// The places of figures of minutes.
    static let place: ClosedRange<Int64> = 0...FigureTable.place(FigureMinute.limit) - 1
    /// Microseconds: 285 years.
    static let span: ClosedRange<Int64> = -(1 << 53)...1 << 53
}

extension Statement {
    /// A number that is in a range.
    ///
    /// - Throws: `corrupt` for any other.
    func integer(_ column: Int32, in range: ClosedRange<Int64>) throws(StoreError) -> Int64 {
        let value = integer(column)
        guard range.contains(value) else { throw unreadable(column, "no row has \(value) there") }
        return value
    }

    /// The number of a request.
    func seq(_ column: Int32) throws(StoreError) -> SequenceNumber {
        SequenceNumber(try integer(column, in: StoredRange.number))
    }

    /// The number of a request, or none.
    func optionalSeq(_ column: Int32) throws(StoreError) -> SequenceNumber? {
        isNull(column) ? nil : try seq(column)
    }

    /// A point of the monotonic clock, in nanoseconds.
    func instant(_ column: Int32) throws(StoreError) -> Instant {
        Instant(nanoseconds: try integer(column, in: StoredRange.number))
    }

    /// A time in Unix milliseconds.
    func time(_ column: Int32) throws(StoreError) -> WallTime {
        WallTime(milliseconds: try integer(column, in: StoredRange.time))
    }

    /// A duration in microseconds.
    func span(_ column: Int32) throws(StoreError) -> Duration {
        .microseconds(try integer(column, in: StoredRange.span))
    }
}

extension Database {
    /// The one number that a query gives, of a request, an event or an entry.
    ///
    /// - Throws: `corrupt` for what no such number is.
    func number(_ sql: String) throws(StoreError) -> Int64 {
        let number = try integer(sql)
        guard StoredRange.number.contains(number) else {
            throw StoreError(
                .corrupt, message: "the ledger has the number \(number), which nothing was given", context: path)
        }
        return number
    }
}
