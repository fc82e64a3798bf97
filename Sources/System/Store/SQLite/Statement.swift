import CSQLite
import PushModel

/// A compiled statement, finalized with the value. Parameters count from 1, columns from 0, as in SQLite.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    /// The text of one run, which SQLite reads in place: this saves one allocation for each value. SQLite copies a
    /// value that does not fit.
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 1)
    private var used = 0

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit {
        sqlite3_finalize(handle)
        scratch.deallocate()
    }

    // MARK: Running

    /// Steps to the next row; false after the last one. Call `reset` before the next run.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result:
            let sql = sqlite3_sql(handle).map { String(cString: $0) } ?? ""
            throw StoreError.sqlite(sqlite3_db_handle(handle), result, context: sql)
        }
    }

    /// Runs a statement that yields no rows, and resets it for the next values.
    mutating func run() throws(StoreError) {
        defer { reset() }
        _ = try step()
    }

    /// Ends a run: the statement holds no lock any more, and accepts values. All values must be bound anew.
    mutating func reset() {
        sqlite3_reset(handle)
        used = 0
    }

    // MARK: Parameters

    func bind(_ value: Int64?, at index: Int32) {
        guard let value else { return check(sqlite3_bind_null(handle, index)) }
        check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds text of any length, NUL characters included.
    mutating func bind(_ value: String?, at index: Int32) {
        guard var value else { return check(sqlite3_bind_null(handle, index)) }
        value.withUTF8 { text in
            let (start, owner) = lend(UnsafeRawBufferPointer(text))
            check(
                sqlite3_bind_text(
                    handle, index, start?.assumingMemoryBound(to: CChar.self), Int32(text.count), owner))
        }
    }

    /// Returns the address of the bytes for SQLite, and whether SQLite must copy them before the call returns.
    private mutating func lend(_ bytes: UnsafeRawBufferPointer) -> (UnsafeRawPointer?, sqlite3_destructor_type?) {
        guard bytes.count <= scratch.count - used else { return (bytes.baseAddress, copied) }
        let place = UnsafeMutableRawBufferPointer(rebasing: scratch[used...])
        place.copyMemory(from: bytes)
        used += bytes.count
        return (UnsafeRawPointer(place.baseAddress), nil)
    }

    /// Binds UTF-8 text without a copy: it must outlive the run.
    func bind(lending text: UnsafeRawBufferPointer, at index: Int32) {
        // An empty buffer may have no address, which SQLite would take for NULL.
        let start = text.baseAddress ?? UnsafeRawPointer(scratch.baseAddress)
        check(sqlite3_bind_text(handle, index, start?.assumingMemoryBound(to: CChar.self), Int32(text.count), nil))
    }

    /// Binds bytes without a copy: they must outlive the run.
    func bind(lendingBytes bytes: UnsafeRawBufferPointer, at index: Int32) {
        let start = bytes.baseAddress ?? UnsafeRawPointer(scratch.baseAddress)
        check(sqlite3_bind_blob(handle, index, start, Int32(bytes.count), nil))
    }

    /// Binds the first columns of a row to the parameters from 1, unchanged.
    func bind(row: borrowing Statement, count: Int32) {
        for column in 0..<count {
            check(sqlite3_bind_value(handle, column + 1, sqlite3_column_value(row.handle, column)))
        }
    }

    /// The number of rows that the connection's last `INSERT`, `UPDATE` or `DELETE` changed.
    var changes: Int { Int(sqlite3_changes(sqlite3_db_handle(handle))) }

    // MARK: Columns

    /// The number of columns.
    var columnCount: Int32 { sqlite3_column_count(handle) }

    /// Returns the columns of the row, from one on.
    func row(from column: Int32 = 0) -> StatementRow { StatementRow(of: handle, from: column) }

    /// Reads a value from the columns, from one on.
    func value<Value: StoredValue>(_ column: Int32 = 0) throws(StoreError) -> Value {
        var row = row(from: column)
        return try Value(reading: &row)
    }

    func isNull(_ column: Int32) -> Bool { row(from: column).isNull }

    func integer(_ column: Int32) -> Int64 { row(from: column).nextInteger }

    /// The text of a column, NUL characters included; `nil` for NULL.
    func text(_ column: Int32) -> String? { row(from: column).nextText }

    /// The bytes of a column; empty for NULL.
    func bytes(_ column: Int32) -> [UInt8] { row(from: column).nextBytes }

    /// The bytes of a column without a copy, valid until the next step or reset; empty for NULL.
    func lentBytes(_ column: Int32) -> UnsafeRawBufferPointer { row(from: column).lentBytes }

    /// Returns the integer of a column.
    ///
    /// - Throws: `corrupt` if it is outside the range.
    func integer(_ column: Int32, in range: ClosedRange<Int64>) throws(StoreError) -> Int64 {
        var row = row(from: column)
        return try row.integer(in: range)
    }

    /// Checks a bind: it fails only for an index that the SQL does not have, or if memory ran out.
    private func check(_ result: Int32) {
        precondition(result == SQLITE_OK, "sqlite3_bind: result \(result)")
    }
}

/// `SQLITE_TRANSIENT`: SQLite copies the value before the call returns. A macro with a cast, which Swift does not import.
private var copied: sqlite3_destructor_type? { unsafeBitCast(-1, to: sqlite3_destructor_type?.self) }

/// A statement that is compiled at its first use, so that a start does not compile statements it never runs.
struct LazyStatement: ~Copyable {
    private let sql: @Sendable () -> String
    private var compiled: StatementBox?

    init(_ sql: @autoclosure @escaping @Sendable () -> String) { self.sql = sql }

    /// The statement, always of the same connection.
    mutating func compiled(for database: borrowing Database) throws(StoreError) -> StatementBox {
        if let compiled { return compiled }
        let box = StatementBox(try database.prepare(sql()))
        compiled = box
        return box
    }
}

/// A statement in a class, for places that take copyable values only, such as a dictionary.
final class StatementBox {
    var statement: Statement

    init(_ statement: consuming Statement) { self.statement = statement }
}

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
