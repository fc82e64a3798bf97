import TestSupport
import Testing

@testable import Store

/// Ledgers that earlier versions wrote, as `sqlite3` dumped them.
enum EarlierLedger {
    /// A state directory with such a ledger.
    static func dumped(_ dump: String, schema: Int64) throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        let path = directory.path + "/ledger.db"
        writeFile("", to: path)
        let database = try Database(path: path, access: .readWrite)
        try database.execute("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL")
        try database.execute(String(decoding: TestSupport.Fixture.bytes(dump), as: UTF8.self))
        #expect(try database.integer("PRAGMA user_version") == schema)
        return directory
    }
}
