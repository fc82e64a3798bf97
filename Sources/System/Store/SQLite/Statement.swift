import CSQLite
import PushModel

/// A compiled statement, finalized with the value. Parameters count from 1, columns from 0, as in SQLite.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    /// Holds the text of one run, which SQLite is lent: an allocation less for each value. What does not fit SQLite
    /// copies for itself.
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 1)
    private var used = 0

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit {
        sqlite3_finalize(handle)
        scratch.deallocate()
    }

    // MARK: Running

    /// Goes on to the next row; false when there is none left. Reset before the next run.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result:
            let sql = sqlite3_sql(handle).map { String(cString: $0) } ?? ""
            throw StoreError.sqlite(sqlite3_db_handle(handle), result, context: sql)
        }
    }

    /// Runs a statement that gives no rows, ready for the next values.
    mutating func run() throws(StoreError) {
        defer { reset() }
        _ = try step()
    }

    /// Ends a run, so that the statement neither holds a lock nor refuses values. All values must be bound anew.
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

    mutating func bind(_ value: UUID128, at index: Int32) {
        withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { bytes in
            let (start, owner) = lend(bytes)
            check(sqlite3_bind_blob(handle, index, start, Int32(bytes.count), owner))
        }
    }

    /// Where SQLite finds the bytes, and whether it has to copy them before the call returns.
    private mutating func lend(_ bytes: UnsafeRawBufferPointer) -> (UnsafeRawPointer?, sqlite3_destructor_type?) {
        guard bytes.count <= scratch.count - used else { return (bytes.baseAddress, copied) }
        let place = UnsafeMutableRawBufferPointer(rebasing: scratch[used...])
        place.copyMemory(from: bytes)
        used += bytes.count
        return (UnsafeRawPointer(place.baseAddress), nil)
    }

    /// Binds text in UTF-8 that SQLite is lent: it must outlive the run.
    func bind(lending text: UnsafeRawBufferPointer, at index: Int32) {
        // An empty buffer may have no address, which SQLite would take for NULL.
        let start = text.baseAddress ?? UnsafeRawPointer(scratch.baseAddress)
        check(sqlite3_bind_text(handle, index, start?.assumingMemoryBound(to: CChar.self), Int32(text.count), nil))
    }

    /// Binds bytes that SQLite is lent: they must outlive the run.
    func bind(lendingBytes bytes: UnsafeRawBufferPointer, at index: Int32) {
        let start = bytes.baseAddress ?? UnsafeRawPointer(scratch.baseAddress)
        check(sqlite3_bind_blob(handle, index, start, Int32(bytes.count), nil))
    }

    /// Binds the first columns of a row to the parameters 1 and on, as they are.
    func bind(row: borrowing Statement, count: Int32) {
        for column in 0..<count {
            check(sqlite3_bind_value(handle, column + 1, sqlite3_column_value(row.handle, column)))
        }
    }

    /// How many rows the last `INSERT`, `UPDATE` or `DELETE` of the connection changed.
    var changes: Int { Int(sqlite3_changes(sqlite3_db_handle(handle))) }

    // MARK: Columns

    /// How many columns a row has.
    var columnCount: Int32 { sqlite3_column_count(handle) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func isInteger(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_INTEGER }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The text of a column, NUL characters included; `nil` for NULL.
    func text(_ column: Int32) -> String? {
        guard let start = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The bytes of a column; empty for NULL.
    func bytes(_ column: Int32) -> [UInt8] {
        let start = sqlite3_column_blob(handle, column)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// The text of a column where it lies, until the next step or reset; `nil` for NULL.
    func lentTextBytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard let start = sqlite3_column_text(handle, column) else { return nil }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// The bytes of a column where they lie, until the next step or reset; empty for NULL.
    func lentBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// What the database calls a column; for messages.
    func columnName(_ column: Int32) -> String { sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "" }

    /// The database's file; for messages.
    var path: String {
        sqlite3_db_filename(sqlite3_db_handle(handle), "main").map { String(cString: $0) } ?? ""
    }

    /// A failure to bind is an index that the SQL does not have, or memory that ran out.
    private func check(_ result: Int32) {
        precondition(result == SQLITE_OK, "sqlite3_bind: result \(result)")
    }
}

/// `SQLITE_TRANSIENT`: SQLite copies the value before the call returns. A macro with a cast, which Swift does not import.
private var copied: sqlite3_destructor_type? { unsafeBitCast(-1, to: sqlite3_destructor_type?.self) }
