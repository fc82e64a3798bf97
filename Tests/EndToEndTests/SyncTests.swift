import CSQLite
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("The order to bring the ledger up to date")
struct SyncTests {
    private let installation = Installation()

    @Test("reports what is missing at its timeout, and succeeds when the ledger can be written again")
    func locked() throws {
        let daemon = try DaemonProcess.ready(installation)
        let control = try Client(path: installation.controlSocket)
        var database: OpaquePointer?
        try #require(sqlite3_open(installation.state + "/ledger.db", &database) == SQLITE_OK)
        defer { sqlite3_close(database) }
        try #require(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        let producer = try Client(path: installation.injectSocket)
        let line = #"{"op":"deliver","platform":"android","app":"shop","payload":{"data":{"k":"v"}}}"#
        #expect(try producer.ask(line)["ok"]?.bool == true)
        let reply = try control.ask(#"{"op":"sync","timeout_ms":50}"#)
        #expect(reply["ok"]?.bool == true && reply["complete"]?.bool == false, "\(reply)")
        #expect(try control.ask(#"{"op":"sync","timeout_ms":50}"#)["complete"]?.bool == false)
        try #require(sqlite3_exec(database, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
        #expect(try control.ask(#"{"op":"sync","timeout_ms":60000}"#)["complete"]?.bool == true)
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("delays neither clients that need the ledger while it cannot be written, nor a stop")
    func stalled() throws {
        let daemon = try DaemonProcess.ready(installation)
        var database: OpaquePointer?
        try #require(sqlite3_open(installation.state + "/ledger.db", &database) == SQLITE_OK)
        defer { sqlite3_close(database) }
        try #require(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        let producer = try Client(path: installation.injectSocket)
        let line = #"{"op":"deliver","id":"a","platform":"android","app":"shop","payload":{"data":{"k":"v"}}}"#
        #expect(try producer.ask(line)["ok"]?.bool == true)
        let refusal = try producer.ask(line)
        #expect(refusal["error"]?["code"]?.string == "unavailable", "\(refusal)")
        #expect(refusal["error"]?["retry"]?.bool == true)
        #expect(try producer.ask(line)["error"]?["code"]?.string == "unavailable")
        let control = try Client(path: installation.controlSocket)
        for _ in 0..<2 {
            let replay = try control.ask(#"{"op":"replay","requests":[1]}"#)
            #expect(replay["error"]?["code"]?.string == "unavailable", "\(replay)")
        }
        #expect(try daemon.stop() == .exited(0))
        try #require(sqlite3_exec(database, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
    }
}
