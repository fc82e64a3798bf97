/// The texts that rows share, each looked up once: for who reads many rows that have the same few.
struct TextMemory: ~Copyable {
    private var texts: [Int64: String] = [:]
    private var lookUp: Statement
    /// How many were looked up.
    private(set) var lookUps = 0

    init(_ database: borrowing Database) throws(StoreError) {
        lookUp = try database.prepare("SELECT text FROM texts WHERE number = ?1")
    }

    /// The text of the next column, a shared one as the row has it, a text or the number of one; `nil` for NULL.
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
