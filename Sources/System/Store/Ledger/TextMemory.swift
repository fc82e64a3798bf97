/// A cache of shared texts, for a reader of many rows that have the same few.
struct TextMemory: ~Copyable {
    private var texts: [Int64: String] = [:]
    private var lookUp: Statement
    /// The number of queries.
    private(set) var lookUps = 0

    init(_ database: borrowing Database) throws(StoreError) {
        lookUp = try database.prepare("SELECT text FROM texts WHERE number = ?1")
    }

    /// Returns the text of the next column, which has a text or the number of a shared one; `nil` for NULL.
    mutating func text(_ row: inout StatementRow) throws(StoreError) -> String? {
        guard row.isInteger else { return row.text() }
        let number = row.integer()
        if let known = texts[number] { return known }
        lookUps += 1
        lookUp.bind(number, at: 1)
        defer { lookUp.reset() }
        guard try lookUp.step(), let text = lookUp.text(0) else { return nil }
        texts[number] = text
        return text
    }
}
