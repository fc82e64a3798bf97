import PushFigures
import PushModel

extension StoredRange {
    /// Of a ledger that comes from elsewhere: there is room for what is given after it.
    static let restoredNumber: ClosedRange<Int64> = 0...1 << 61
    /// Minutes of figures, and the one behind the last.
    static let minute: ClosedRange<Int64> = 0...FigureMinute.limit
    /// The places of figures of minutes.
    static let place: ClosedRange<Int64> = 0...FigureTable.place(FigureMinute.limit) - 1
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
