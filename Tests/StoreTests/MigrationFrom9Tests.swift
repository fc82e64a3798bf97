import PushModel
import TestSupport
import Testing

@testable import Store

/// `ledger-v9.sql` is what a daemon of schema 8 left when it was killed, in relay mode, with the tables of schema 9: pushes
/// to Android, iOS and the web, handled, failed, unrouted, not woken, to the tracker and in flight; a session, a token, a tap.
@Suite("What schema 9 left", .timeLimit(.minutes(30)))
struct MigrationFrom9Tests {
    /// All rows of what is called requests, invocations and events, each as one text.
    private func rows(_ database: borrowing Database) throws -> [String] {
        var rows: [String] = []
        for name in ["requests", "invocations", "events"] {
            let columns = try database.prepare(
                "SELECT group_concat('quote(' || name || ')', ' || '','' || ') FROM pragma_table_info('\(name)')")
            guard try columns.step(), let list = columns.text(0) else { continue }
            let statement = try database.prepare("SELECT \(list) FROM \(name) ORDER BY 1")
            while try statement.step() { rows.append("\(name) \(statement.text(0) ?? "")") }
        }
        return rows
    }

    @Test("is the same row for row, is not written again, and is read beside rows of today")
    func ledger() async throws {
        let directory = try EarlierLedger.dumped("ledger-v9.sql", schema: 9)
        let path = directory.path + "/ledger.db"
        let before = try rows(Database(path: path, access: .readOnly))
        #expect(before.count == 27)
        let ledger = try TestLedger(directory.path)
        let database = try ledger.intruder()
        #expect(try database.integer("PRAGMA user_version") == Schema.version)
        #expect(try rows(database) == before)
        try database.requireSound("integrity_check")
        #expect(try database.integer("SELECT count(*) FROM texts") == 0)
        #expect(try database.integer("PRAGMA page_size") == 8192, "a ledger keeps its pages")

        let reader = try ledger.reader()
        var outcomes: [Outcome?] = []
        try reader.rows { outcomes.append($0.invocation?.result?.outcome) }
        #expect(
            outcomes == [
                nil, .handedToTracker, .handedToTracker, .handled, .handled, .handled, .failed, .unrouted, .notWoken,
                .unrouted, .handedToTracker, nil,
            ])
        #expect(try reader.pendingInvocations().map(\.request.seq.value) == [11])
        #expect(try reader.find(uid: 0, id: "v-4")?.request.app == "com.example.crm")
        #expect(try reader.gaps().count == 1)
        var tracked: [String?] = []
        try reader.trackedDeliveries(newest: 9) { tracked.append($1.campaignID) }
        #expect(tracked == ["campaign-1", "campaign-1"])

        for seq in 12...14 { try await ledger.commit(Fixture.delivery(Int64(seq))) }
        #expect(try ledger.reader().story(of: SequenceNumber(14))?.request == Fixture.request(14))
        let own = "SELECT count(*) FROM requests WHERE operation = 'deliver' AND app = 'com.example.shop'"
        #expect(try database.integer(own) == 6, "by number or by text")
        #expect(try database.integer("SELECT count(*) FROM texts") > 0)
    }

    @Test("has the messages that a tap may name, before and after")
    func messages() async throws {
        let directory = try EarlierLedger.dumped("ledger-v9.sql", schema: 9)
        let path = directory.path + "/ledger.db"
        try Database(path: path, access: .readWrite).execute("UPDATE requests SET message_id = 'm12' WHERE seq = 7")
        let ledger = try TestLedger(directory.path)
        func found(_ id: String) throws -> Int64? {
            try ledger.reader().delivery(DeliveryReference(.message(id), app: nil, device: nil))?.request.seq.value
        }
        #expect(try found("m12") == 7)
        try await ledger.commit(Fixture.delivery(12))
        #expect(try found("m12") == 12)
        try ledger.intruder().requireSound("integrity_check")
    }

    @Test("makes the views of an earlier program anew, which knew fewer words")
    func views() throws {
        let directory = TemporaryDirectory()
        do { _ = try LedgerWriter(directory: directory.path) }
        let path = directory.path + "/ledger.db"
        try Database(path: path, access: .readWrite)
            .execute("DROP VIEW invocations; CREATE VIEW invocations AS SELECT seq, n FROM invocation_rows")
        let writer = try LedgerWriter(directory: directory.path)
        #expect(try writer.database.integer("SELECT count(*) FROM invocations WHERE outcome = 'handled'") == 0)
    }
}
