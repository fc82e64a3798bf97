import Glibc
import PushModel

/// A statement that takes the values of rows of the log in place, without a copy. For one thread.
struct RowStatement: ~Copyable {
    private var statement: Statement
    private let columns: [LedgerTable.Column]
    private let count: Int
    private let first: Int32
    private let texts: SharedTexts?

    /// Prepares a statement on a table with the columns of a row.
    ///
    /// - Parameters:
    ///   - sql: the statement, with a parameter for each column.
    ///   - texts: the texts that rows of the table share.
    init(
        _ sql: String, of table: LedgerTable, _ database: borrowing Database, texts: SharedTexts? = nil
    ) throws(StoreError) {
        statement = try database.prepare(sql)
        (columns, count, first, self.texts) = (table.columns, table.columns.count, table.firstParameter, texts)
    }

    /// Prepares any statement, with a parameter for each value.
    init(_ sql: String, count: Int, _ database: borrowing Database) throws(StoreError) {
        statement = try database.prepare(sql)
        (columns, self.count, first, texts) = ([], count, 1, nil)
    }

    /// The number of rows that the last run changed.
    var changes: Int { statement.changes }

    /// Runs the statement with the values of a row.
    ///
    /// - Parameters:
    ///   - values: the values, which must outlive the call; those of the last columns may be missing.
    ///   - key: the key that the ledger gives the row.
    mutating func run(_ values: RowValues, key: Int64? = nil) throws(StoreError) {
        var values = values
        if let key { statement.bind(key, at: 1) }
        var seq: Int64 = 0
        for place in 0..<count {
            let index = first + Int32(place)
            guard !values.isAtEnd else {
                statement.bind(place < columns.count ? columns[place].missing : nil, at: index)
                continue
            }
            switch try reading({ () throws(RowError) in try values.next() }) {
            case .null: statement.bind(nil as Int64?, at: index)
            case .integer(let value):
                // A row with shared texts begins with the number of its request.
                if place == 0 { seq = value }
                statement.bind(value, at: index)
            case .text(let text):
                switch coding(place) {
                case .plain, .name: statement.bind(lending: text, at: index)
                case .word(let words):
                    guard let number = words.number(of: text) else {
                        throw StoreError.row(RowError(message: "value \(place + 1) of a row is not one of its words"))
                    }
                    statement.bind(number, at: index)
                case .shared:
                    if let number = try texts?.number(of: text, isText: true, usedBy: seq) {
                        statement.bind(number, at: index)
                    } else {
                        statement.bind(lending: text, at: index)
                    }
                }
            case .bytes(let bytes):
                if case .shared = coding(place), let number = try texts?.number(of: bytes, isText: false, usedBy: seq) {
                    statement.bind(number, at: index)
                } else {
                    statement.bind(lendingBytes: bytes, at: index)
                }
            }
        }
        guard values.isAtEnd else { throw StoreError.row(RowError(message: "a row has too many values")) }
        try statement.run()
    }

    private func coding(_ place: Int) -> LedgerTable.Coding { place < columns.count ? columns[place].coding : .plain }
}

/// The statements that insert and delete the rows of a table by their key.
struct KeyedRows: ~Copyable {
    private var insert: RowStatement
    private var delete: RowStatement

    /// - Parameter verb: `INSERT`, or `INSERT OR REPLACE`.
    init(_ table: LedgerTable, _ verb: String, _ database: borrowing Database) throws(StoreError) {
        let insert = try RowStatement(table.insertion(verb), of: table, database)
        let delete = try RowStatement(
            "DELETE FROM \(table.rows) WHERE \(table.columns[0].name) = ?1", count: 1, database)
        self.insert = insert
        self.delete = delete
    }

    mutating func insert(_ values: RowValues) throws(StoreError) { try insert.run(values) }

    mutating func delete(_ values: RowValues) throws(StoreError) { try delete.run(values) }
}

/// Reads from a row; converts a `RowError` to a `StoreError`.
func reading<Value>(_ read: () throws(RowError) -> Value) throws(StoreError) -> Value {
    do throws(RowError) {
        return try read()
    } catch {
        throw StoreError.row(error)
    }
}

extension StoreError {
    /// Makes the error for a batch with a valid checksum whose rows no version of this program writes.
    static func row(_ error: RowError) -> StoreError {
        StoreError(.contradiction, message: error.message, context: "a batch of the log")
    }
}

/// Returns `?1,?2,...`, one parameter for each column.
func parameters(_ count: Int32) -> String { (1...count).map { "?\($0)" }.joined(separator: ",") }

extension [UInt8] {
    /// Returns whether the bytes are equal.
    func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { bytes in
            // The buffer of an empty array may have no address.
            guard let start = bytes.baseAddress, let otherStart = other.baseAddress else { return true }
            return memcmp(start, otherStart, bytes.count) == 0
        }
    }
}
