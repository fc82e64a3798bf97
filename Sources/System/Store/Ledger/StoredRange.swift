import PushFigures
import PushModel

extension StoredRange {
    /// The numbers of a ledger from elsewhere, which leave room for new numbers.
    static let restoredNumber: ClosedRange<Int64> = 0...1 << 61
    /// Minutes of figures, with the one behind the last.
    static let minute: ClosedRange<Int64> = 0...FigureMinute.limit
    /// The places of figures of minutes.
    static let place: ClosedRange<Int64> = 0...FigureTable.place(FigureMinute.limit) - 1
}

extension Database {
    /// Returns the number of a request, an event or an entry that a query yields.
    ///
    /// - Throws: `corrupt` if it is outside the valid range.
    func number(_ sql: String) throws(StoreError) -> Int64 {
        let number = try integer(sql)
        guard StoredRange.number.contains(number) else {
            throw StoreError(
                .corrupt, message: "the ledger has the number \(number), which is out of range", context: path)
        }
        return number
    }
}
