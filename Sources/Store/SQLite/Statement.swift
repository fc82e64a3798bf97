import CSQLite
import PushModel

/// A compiled statement, finalized with the value. Parameters count from 1, columns from 0, as in SQLite.
struct Statement: ~Copyable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    // MARK: Running

    /// Goes on to the next row; false when there is none left. Reset before the next run.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result:
            let sql = sqlite3_sql(handle).map { String(cString: $0) } ?? ""
            let error = StoreError.sqlite(sqlite3_db_handle(handle), result, context: sql)
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs a statement that gives no rows, ready to be run again.
    func run() throws(StoreError) {
        _ = try step()
        sqlite3_reset(handle)
    }

    /// Ends a run, so that the statement neither holds a lock nor refuses values.
    func reset() { sqlite3_reset(handle) }

    // MARK: Parameters

    func bind(_ value: Int64?, at index: Int32) {
        guard let value else { return check(sqlite3_bind_null(handle, index)) }
        check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds text of any length, NUL characters included; SQLite copies it.
    func bind(_ value: String?, at index: Int32) {
        guard var value else { return check(sqlite3_bind_null(handle, index)) }
        value.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { characters in
                check(sqlite3_bind_text(handle, index, characters.baseAddress, Int32(characters.count), copied))
            }
        }
    }

    func bind(_ value: UUID128, at index: Int32) {
        withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { bytes in
            check(sqlite3_bind_blob(handle, index, bytes.baseAddress, 16, copied))
        }
    }

    /// Runs a statement that gives no rows with `bytes` as the parameter at `index`, without a copy.
    func run(with bytes: [UInt8], at index: Int32) throws(StoreError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(StoreError) in
            // An empty buffer may have no address, which SQLite would take for NULL.
            check(
                buffer.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : sqlite3_bind_blob(handle, index, buffer.baseAddress, Int32(buffer.count), nil))
            // The address must not stay behind, whichever way the run ends.
            defer { sqlite3_bind_null(handle, index) }
            try run()
        }
    }

    // MARK: Columns

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

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
