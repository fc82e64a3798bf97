import CSQLite
import Glibc
import TestSupport
import Testing

@Suite("A ledger of an earlier version")
struct MigrationPatienceTests {
    @Test("is brought up to date in a start that asks its service manager for time before it is ready")
    func extendsTimeout() throws {
        let installation = Installation()
        mkdir(installation.state, 0o700)
        var connection: OpaquePointer?
        try #require(sqlite3_open(installation.state + "/ledger.db", &connection) == SQLITE_OK)
        let dump = String(decoding: Fixture.bytes("ledger-v1.sql"), as: UTF8.self)
        let sql = "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;" + dump
        try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(connection)
        let daemon = try DaemonProcess.ready(installation)
        let words = daemon.messages.flatMap(\.self)
        let asked = try #require(words.firstIndex(of: "EXTEND_TIMEOUT_USEC=600000000"), "\(words)")
        let ready = try #require(words.firstIndex(of: "READY=1"))
        #expect(asked < ready)
        #expect(try daemon.stop() == .exited(0))
        // What is up to date needs no time.
        let next = try DaemonProcess.ready(installation)
        #expect(next.messages.allSatisfy { !$0.contains("EXTEND_TIMEOUT_USEC=600000000") })
        #expect(try next.stop() == .exited(0))
    }
}
