import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// `requests`, `invocations` and `events` were tables; the SQL of people and programs reads the views as if they still
/// were.
@Suite("The views of the ledger", .timeLimit(.minutes(30)))
struct ViewTests {
    @Test(
        "use the indexes of their tables, and copy no row",
        arguments: [
            ("SELECT * FROM requests WHERE seq = 5", "SEARCH requests USING INTEGER PRIMARY KEY"),
            ("SELECT app FROM requests WHERE uid = 0 AND id = 'a'", "USING INDEX requests_by_id"),
            ("SELECT * FROM requests WHERE accepted_at BETWEEN 1 AND 2", "USING INDEX requests_by_time"),
            ("SELECT max(seq) FROM requests", "SEARCH requests"),
            ("SELECT count(*) FROM requests", "USING COVERING INDEX"),
            ("SELECT * FROM requests JOIN invocations USING (seq) ORDER BY seq, n", "SEARCH invocations USING PR"),
            (
                "SELECT * FROM requests LEFT JOIN invocations USING (seq) WHERE requests.seq > 5 ORDER BY requests.seq, n",
                "SEARCH invocations USING PRIMARY KEY (seq=?) LEFT-JOIN"
            ),
            ("SELECT * FROM events WHERE cursor > 5 ORDER BY cursor", "SEARCH events USING INTEGER PRIMARY KEY"),
            ("SELECT * FROM events WHERE seq = 5", "USING INDEX events_by_seq"),
        ])
    func plans(query: String, wanted: String) throws {
        let directory = TemporaryDirectory()
        let writer = try LedgerWriter(directory: directory.path)
        let statement = try writer.database.prepare("EXPLAIN QUERY PLAN \(query)")
        var plan = ""
        while try statement.step() { plan += "\(statement.text(3) ?? "")\n" }
        #expect(plan.contains(wanted), "\(plan)")
        for word in ["MATERIALIZE", "CO-ROUTINE", "TEMP B-TREE"] { #expect(!plan.contains(word), "\(plan)") }
    }

    @Test("have the columns of their tables, in the same order")
    func columns() throws {
        let directory = TemporaryDirectory()
        let writer = try LedgerWriter(directory: directory.path)
        func names(_ table: String) throws -> [String] {
            let statement = try writer.database.prepare("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
            var names: [String] = []
            while try statement.step() { names.append(statement.text(0) ?? "") }
            return names
        }
        for table in LedgerTable.all {
            #expect(try names(table.name) == names(table.rows))
            #expect(try names(table.rows).suffix(table.columns.count) == table.columns.map(\.name))
            #expect(try names(table.rows).count == table.columns.count + Int(table.firstParameter) - 1)
        }
    }
}
