import CSQLite
import Glibc
import TestSupport
import Testing

@Suite("A start that finds data of another format")
struct OtherFormatTests {
    @Test("counts figures of another version anew, and extends its start timeout before it is ready")
    func extendsTimeout() throws {
        let installation = Installation()
        let first = try TestDaemon(installation)
        #expect(first.pushctl("token", "t", "--device", "d", "--platform", "android", "--wait").end == .exited(0))
        #expect(try first.process.stop() == .exited(0))
        try installation.makeFiguresOld()
        let daemon = try DaemonProcess.ready(installation)
        let words = daemon.messages.flatMap(\.self)
        let asked = try #require(words.firstIndex(of: "EXTEND_TIMEOUT_USEC=600000000"), "\(words)")
        let ready = try #require(words.firstIndex(of: "READY=1"))
        #expect(asked < ready)
        #expect(try daemon.stop() == .exited(0))
        // Figures of the current version need no extension.
        let next = try DaemonProcess.ready(installation)
        #expect(next.messages.allSatisfy { !$0.contains("EXTEND_TIMEOUT_USEC=600000000") })
        #expect(try next.stop() == .exited(0))
    }

    @Test("moves a ledger of another format away; journal, status and doctor name the directory")
    func setAside() throws {
        let installation = Installation()
        mkdir(installation.state, 0o700)
        var connection: OpaquePointer?
        try #require(sqlite3_open(installation.state + "/ledger.db", &connection) == SQLITE_OK)
        let sql = "CREATE TABLE requests (seq INTEGER PRIMARY KEY); PRAGMA user_version = 1"
        try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(connection)
        chmod(installation.state + "/ledger.db", 0o640)
        let before = readFile(installation.state + "/ledger.db")

        let daemon = try TestDaemon(installation)
        let place = try #require(names(in: installation.state).first { $0.hasPrefix("set-aside-") })
        let path = "\(installation.state)/\(place)"
        #expect(readFile(path + "/ledger.db") == before)
        let entry = "the files of the state directory were moved to \(path), and a new ledger begins"
        try waitUntil("the journal says it") { daemon.process.standardError.contains(entry) }
        let status = daemon.pushctl("status", "--all")
        #expect(status.output.contains("store.set_aside.1") && status.output.contains(path))
        #expect(daemon.pushctl("status").lines.contains("Set aside      \(path)"))
        let doctor = daemon.pushctl("doctor", "--quiet")
        #expect(doctor.output.contains("\(path): a start or a restore moved ledger or log here"), "\(doctor.output)")
        #expect(try daemon.process.stop() == .exited(0))
    }
}
