import CSQLite
import Synchronization
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("The rows that a start reads", .timeLimit(.minutes(30)))
final class StartReadingTests {
    private let directory = TemporaryDirectory()

    @Test("are those of the ledger at the last stop, read on the ledger's own thread and connection")
    func recovered() async throws {
        do {
            let ledger = try TestLedger(directory.path)
            try await ledger.commit(Fixture.delivery(1) + Fixture.delivery(2))
            ledger.committer.stop()
        }
        let found = Monitor<SequenceNumber?>(nil)
        let applied = Monitor<[UInt64]>([])
        let isReleased = Monitor(false)
        let committer = try Committer(
            directory: StateDirectory(path: directory.path),
            onRecovered: { reader in
                let highest = try? reader.highestSequenceNumber()
                found.update { $0 = highest }
                _ = isReleased.wait { $0 ? true : nil }
            },
            onReport: { report in
                if case .applied(let number) = report { applied.update { $0.append(number) } }
            })
        #expect(found.wait { $0 } == SequenceNumber(2))
        let rows = committer.takeBuffer()
        for record in Fixture.delivery(3) { rows.append(record) }
        let number = committer.lastNumber + 1
        #expect(try committer.commit(CommitBatch(number: number, rows: rows, lastSequence: SequenceNumber(3))) != nil)
        committer.expedite(through: number)
        // The batch is durable; the ledger applies it only after the start has read its rows.
        #expect(try LedgerReader(directory: directory.path).highestSequenceNumber() == SequenceNumber(2))
        #expect(applied.withLock(\.isEmpty))
        isReleased.update { $0 = true }
        #expect(applied.wait(atMost: .seconds(60)) { $0.first } == number)
        #expect(try LedgerReader(directory: directory.path).highestSequenceNumber() == SequenceNumber(3))
        committer.stop()
    }

    @Test("are read without the mutex by which SQLite counts memory")
    func noCount() async {
        // Runs in its own process: another test may have used SQLite before.
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let writer = try LedgerWriter(directory: directory.path)
            precondition(sqlite3_memory_used() == 0)
            withExtendedLifetime(writer) {}
        }
    }

    @Test("include a shared text once, however many rows use it")
    func sharedTexts() throws {
        let writer = try LedgerWriter(directory: directory.path)
        try writer.database.execute("INSERT INTO texts VALUES (1, 1, 'one'), (2, 1, 'two')")
        let rows = try writer.database.prepare("VALUES (1), (2), (1), ('own'), (NULL), (2), (1)")
        var memory = try TextMemory(writer.database)
        var texts: [String?] = []
        while try rows.step() {
            var row = rows.row()
            texts.append(try memory.text(&row))
        }
        #expect(texts == ["one", "two", "one", "own", nil, "two", "one"])
        #expect(memory.lookUps == 2)
    }

    @Test("need a statement compiled at its first use, and once")
    func laterStatement() throws {
        let writer = try LedgerWriter(directory: directory.path)
        let count = Mutex(0)
        @Sendable func sql() -> String {
            count.withLock { $0 += 1 }
            return "SELECT 7"
        }
        var statement = LazyStatement(sql())
        #expect(count.withLock(\.self) == 0)
        for _ in 0..<2 {
            let box = try statement.compiled(for: writer.database)
            #expect(try box.statement.step() && box.statement.integer(0) == 7)
            box.statement.reset()
        }
        #expect(count.withLock(\.self) == 1)
    }
}
