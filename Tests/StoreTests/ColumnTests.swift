import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// Checks the columns by name, as SQL readers do: a value that is written to and read from the wrong column passes
/// every round trip.
@Suite("The columns of the ledger", .timeLimit(.minutes(30)))
struct ColumnTests {
    /// The values of a table's first row, by column.
    private func row(of table: String, _ database: borrowing Database) throws -> [String: String] {
        let names = try database.prepare("SELECT name FROM pragma_table_info('\(table)')")
        var columns: [String] = []
        while try names.step() { columns.append(names.text(0) ?? "") }
        var row: [String: String] = [:]
        for column in columns {
            let value = try database.prepare("SELECT quote(\(column)) FROM \(table) LIMIT 1")
            if try value.step() { row[column] = value.text(0) ?? "" }
        }
        return row
    }

    @Test("hold the values that their names promise")
    func names() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Whole.records)
        let database = try ledger.secondConnection()
        #expect(
            try row(of: "requests", database) == [
                "seq": "101", "operation": "'interact'", "id": "'id-a'", "uid": "1001", "gid": "1002", "pid": "1003",
                "accepted_at": "1005", "accepted_ns": "1004", "boot": "X'00000000000003EE00000000000003EF'",
                "mode": "'relay'", "platform": "'web'", "app": "'app-a'", "device": "'device-a'",
                "external_id": "'user-a'", "message_id": "'message-a'", "body": "X'626F64792D61'",
                "state": "'force_quit'", "duplicate_id": "'duplicate-a'", "tracked": "1",
                "transport": "'adm'", "original_priority": "'high'", "delivered_priority": "'normal'",
                "replay_of": "1008",
            ])
        #expect(
            try row(of: "invocations", database) == [
                "seq": "101", "n": "11", "callback": "'willPresent'", "provider": "'provider-a'", "route": "'route-a'",
                "handler": "'handler-a'", "budget_us": "1101", "deadline_ns": "1102", "started": "1",
                "outcome": "'timed_out'", "reason": "'reason-a'", "queue_us": "1103", "exec_us": "1104",
                "total_us": "1105", "completed_by": "'handler'", "completed_times": "12",
                "completed_result": "'newData'", "completed_options": "'banner,list'", "decided_at": "1106",
                "observer": "1", "waited_for_seq": "91", "waited_for_n": "13", "waited_for_handler": "'before-a'",
                "reason_code": "'daemon_down'", "ahead": "1108", "waited_for_us": "1107",
            ])
        #expect(
            try row(of: "attempts", database) == [
                "number": "1", "seq": "101", "n": "11", "route": "'try-route-a'", "handler": "'try-handler-a'",
                "asked_us": "1151", "started_us": "1152", "ended_us": "1153", "answer": "'timed_out'", "status": "1154",
                "signal": "1155", "retry_after_us": "1156", "reason": "'try-reason-a'", "errors": "X'6572726F72732D61'",
                "errors_cut": "1157", "attempt": "3", "of_handler": "2",
            ])
        #expect(
            try row(of: "dead_letters", database) == ["seq": "101", "n": "11", "at": "1161", "bytes": "1270"],
            "those of its line, and of its attempt")
        #expect(
            try row(of: "gaps", database) == [
                "number": "1", "kind": "'suspended'", "begin_at": "1171", "end_at": "1172",
            ])
        #expect(
            try row(of: "life", database) == ["one": "1", "seen_at": "2181", "seq": "2182", "believed_at": "2183"])
        #expect(
            try row(of: "events", database) == [
                "cursor": "1", "seq": "103", "id": "X'00000000000004B100000000000004B2'",
                "kind": "'users.messages.pushnotification.Open'", "time": "1203", "delivery": "51",
                "external_user_id": "'eu-a'", "device_id": "'ed-a'", "app_id": "'ea-a'", "platform": "'ios'",
                "campaign_id": "'campaign-a'", "message_id": "'em-a'", "button_action_type": "'deep_link'",
                "button_string": "'button-a'", "duration_us": "NULL", "push_token": "NULL", "token_change": "NULL",
                "name": "NULL", "properties": "NULL",
            ])
        #expect(
            try row(of: "entries", database) == [
                "number": "61", "cause": "101", "kind": "'custom_event'", "suite": "NULL",
                "identifier_kind": "'alias'", "identifier": "'alias-a'", "identifier_label": "'label-a'",
                "platform": "'web'", "app": "'app-a'", "device": "'device-a'", "external_id": "'user-a'",
                "name": "'name-a'", "data": "X'7B2261223A317D'", "time": "1901", "saved_at": "1902",
                "state": "'rejected'", "settled_at": "NULL", "settled_by": "NULL", "claimant": "NULL",
                "reason": "'field-a: problem-a'",
                "reason_code": "'too_long'", "field": "'field-a'",
            ])
        #expect(
            try row(of: "sessions", database) == [
                "number": "33", "app": "'app-a'", "device": "'device-a'", "platform": "'web'",
                "external_id": "'user-a'", "started_at": "1501", "ended_at": "1502", "ended_by": "1503",
                "end_due_at": "1504", "since_at": "1505",
            ])
        #expect(
            try row(of: "tracked_deliveries", database) == [
                "event": "3", "received_at": "1301", "since_at": "1302", "displayed": "1", "own_id": "0",
                "unique_id": "'unique-a'", "digest": "1303", "buttons": "X'627574746F6E732D61'", "opened_at": "1304",
                "opened_by": "1305", "influenced": "0",
            ])
    }

    @Test(
        "of an event hold the fields of its kind, and NULL otherwise",
        arguments: [
            (.sessionEnd(.microseconds(1204)), ["duration_us": "1204"]),
            (.tokenStateChange(.registered, token: "t"), ["push_token": "'t'", "token_change": "'registered'"]),
            (.customEvent(name: "n", properties: "{}"), ["name": "'n'", "properties": "'{}'"]),
            (.influencedOpen(.init(campaignID: "c", messageID: "m")), ["campaign_id": "'c'", "message_id": "'m'"]),
        ] as [(AnalyticsEvent.Content, [String: String])])
    func content(_ content: AnalyticsEvent.Content, columns: [String: String]) async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        var event = Fixture.event(1)
        event.content = content
        try await ledger.commit([.event(event)])
        let own = [
            "campaign_id", "message_id", "button_action_type", "button_string", "duration_us", "push_token",
            "token_change", "name", "properties",
        ]
        let row = try row(of: "events", ledger.secondConnection()).filter { own.contains($0.key) && $0.value != "NULL" }
        #expect(row == columns)
    }
}
