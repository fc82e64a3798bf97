import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A log that is not on this machine's disk", .timeLimit(.minutes(30)))
struct BatchLogTests {
    private let batches = MemoryBatches()

    @Test("feeds the ledger, and a second ledger applies all of it and appends behind its end")
    func follows() async throws {
        let here = TemporaryDirectory()
        let there = TemporaryDirectory()
        let first = try TestLedger(here.path, log: MemoryLog(batches))
        for number in 1...3 { try await first.commit(Fixture.delivery(Int64(number))) }
        #expect(try first.storedNumbers() == [1, 2, 3])
        first.committer.stop()

        let second = try TestLedger(there.path, log: MemoryLog(batches))
        #expect(second.committer.recovery.batches == 3 && second.committer.lastNumber == 3)
        try await second.commit(Fixture.delivery(4))
        #expect(try second.storedNumbers() == [1, 2, 3, 4])
        #expect(batches.count == 4)
    }

    @Test("fences a writer when another one's batch is there: the batch is not acknowledged, and nothing follows it")
    func refuses() async throws {
        let here = TemporaryDirectory()
        let there = TemporaryDirectory()
        let ours = try TestLedger(here.path, log: MemoryLog(batches))
        let theirs = try TestLedger(there.path, log: MemoryLog(batches))
        try await theirs.commit(Fixture.delivery(1))
        let error = #expect(throws: StoreError.self) { try ours.write(Fixture.delivery(2)) }
        #expect(error?.kind == .fenced && error?.isTransient == false)
        #expect(batches.count == 1)
        #expect(try ours.storedNumbers().isEmpty)
    }

    @Test("that refuses a batch of the log's thread ends the store with the error `fenced`")
    func reports() async throws {
        let here = TemporaryDirectory()
        let there = TemporaryDirectory()
        let ours = try TestLedger(here.path, log: MemoryLog(batches))
        let theirs = try TestLedger(there.path, log: MemoryLog(batches))
        try await theirs.commit(Fixture.delivery(1))
        let number = ours.submit(Fixture.delivery(2))
        let error = await #expect(throws: StoreError.self) { try await ours.durable(number) }
        #expect(error?.kind == .fenced)
        #expect(ours.committer.stop()?.kind == .fenced)
    }
}
