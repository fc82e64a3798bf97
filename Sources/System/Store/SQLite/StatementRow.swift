import CSQLite
import PushModel

/// The columns of a statement's current row, read one after the other. Valid until the statement's next step or reset.
struct StatementRow: RowSource {
    typealias Failure = StoreError

    private let handle: OpaquePointer
    private var column: Int32

    init(of handle: OpaquePointer, from column: Int32) { (self.handle, self.column) = (handle, column) }

    // MARK: The next column

    var isNull: Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    var isInteger: Bool { sqlite3_column_type(handle, column) == SQLITE_INTEGER }

    var nextInteger: Int64 { sqlite3_column_int64(handle, column) }

    /// The text of the next column, with NUL characters; `nil` for NULL.
    var nextText: String? { lentText.map { String(decoding: $0, as: UTF8.self) } }

    /// The bytes of the next column; empty for NULL.
    var nextBytes: [UInt8] { Array(lentBytes) }

    /// The text of the next column without a copy, valid until the next step or reset; `nil` for NULL.
    var lentText: UnsafeRawBufferPointer? {
        guard let start = sqlite3_column_text(handle, column) else { return nil }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// The bytes of the next column without a copy, valid until the next step or reset; empty for NULL.
    var lentBytes: UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    // MARK: Taking it

    mutating func skip(_ count: Int) { column += Int32(count) }

    mutating func integer() -> Int64 {
        defer { column += 1 }
        return nextInteger
    }

    mutating func text() -> String? {
        defer { column += 1 }
        return nextText
    }

    mutating func bytes() -> [UInt8] {
        defer { column += 1 }
        return nextBytes
    }

    mutating func word<Word: StoredWord>() throws(StoreError) -> Word {
        // A view's column has the word itself, a table's its number.
        guard isInteger else { return try name() }
        let number = integer()
        guard number >= 0, number < Word.stored.count else { throw unreadable("\(number) stands for no \(Word.self)") }
        return Word.stored[Int(number)]
    }

    /// Makes an error for the column that was read last.
    func unreadable(_ reason: String) -> StoreError {
        let name = sqlite3_column_name(handle, column - 1).map { String(cString: $0) } ?? ""
        let path = sqlite3_db_filename(sqlite3_db_handle(handle), "main").map { String(cString: $0) } ?? ""
        return StoreError(.corrupt, message: "column \(name): \(reason)", context: path)
    }
}
