import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("The rows of one invocation in one transaction", .timeLimit(.minutes(30)))
final class LatestInvocationsTests {
    private let directory = TemporaryDirectory()

    private static func started(_ seq: Int64) -> InvocationRecord {
        var record = Fixture.invocation(seq, outcome: nil)
        (record.handler, record.started) = ("crm", true)
        return record
    }

    /// Two invocations that begin, start and end, and what comes between.
    private static let story: [LedgerRecord] = [
        .request(Fixture.request(1)), .invocation(Fixture.invocation(1, outcome: nil)),
        .request(Fixture.request(2)), .invocation(Fixture.invocation(2, outcome: nil)), .update(started(2)),
        .update(started(1)), .event(Fixture.event(2)), .update(Fixture.invocation(2, outcome: .handled)),
        .update(Fixture.invocation(1, outcome: .failed)),
    ]

    @Test("are one that is stored: the latest, as new as the first")
    func latest() throws {
        let rows = RowBuffer(headroom: 0)
        for record in Self.story { rows.append(record) }
        var reader = RowReader(rows.rows)
        var latest = LatestInvocations()
        while let (kind, values) = try reader.next() {
            guard kind == .invocation || kind == .invocationUpdate else { continue }
            try latest.add(values, isNew: kind == .invocation)
        }
        let stored = latest.takeAll()
        #expect(stored.map(\.isNew) == [true, true])
        var numbers: [Int64] = []
        for row in stored {
            var values = row.values
            numbers.append(try values.integer())
            try values.skip(8)
            guard case .text = try values.next() else {
                Issue.record("a row without its outcome is stored")
                continue
            }
        }
        #expect(numbers == [1, 2])
        #expect(latest.takeAll().isEmpty)
        withExtendedLifetime(rows) {}
    }

    @Test("leave in the ledger what they leave when each is a transaction of its own")
    func same() async throws {
        var found: [[String]] = []
        for (name, batches) in [("one", [Self.story]), ("each", Self.story.map { [$0] })] {
            let ledger = try TestLedger("\(directory.path)/\(name)")
            for batch in batches { try await ledger.commit(batch) }
            var statement = try ledger.intruder().prepare("SELECT * FROM invocations ORDER BY seq")
            var rows: [String] = []
            while try statement.step() {
                rows.append((0..<statement.columnCount).map { statement.text($0) ?? "NULL" }.joined(separator: " "))
            }
            statement.reset()
            found.append(rows)
        }
        #expect(found[0] == found[1] && found[0].count == 2)
    }
}
