import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("The committer", .timeLimit(.minutes(30)))
struct CommitterTests {
    @Test("makes batches durable in the order in which they came, and applies them in that order")
    func order() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        for seq in 1...200 {
            let duration = try #require(try ledger.committer.commit(ledger.batch(Fixture.delivery(Int64(seq)))))
            #expect(duration > .zero)
        }
        try await ledger.applied(200)
        #expect(try ledger.storedNumbers() == Array(1...200))
    }

    @Test("writes submitted batches on the log's thread, and reports them")
    func submitted() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        for seq in 1...20 { try await ledger.durable(ledger.submit(Fixture.delivery(Int64(seq)))) }
        try await ledger.applied(20)
        #expect(try ledger.storedNumbers() == Array(1...20))
    }

    @Test("applies a batch of 10,000 records in one transaction")
    func large() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...10_000).map { .request(Fixture.request(Int64($0), bytes: 1300)) })
        #expect(try ledger.reader().acceptedRequests() == 10_000)
    }

    @Test("applies all durable batches before it stops")
    func stop() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        for seq in 1...50 { try ledger.write(Fixture.delivery(Int64(seq))) }
        ledger.committer.stop()
        #expect(try ledger.storedNumbers() == Array(1...50))
    }

    @Test("reports repeatedly during a stop that the ledger still has much to apply")
    func slowStop() throws {
        let directory = TemporaryDirectory()
        let isReleased = Monitor(false)
        let committer = try Committer(
            directory: StateDirectory(path: directory.path),
            onRecovered: { _ in _ = isReleased.wait { $0 ? true : nil } },
            onReport: { _ in })
        var waits = 0
        committer.stop(every: .milliseconds(1)) {
            waits += 1
            if waits == 3 { isReleased.update { $0 = true } }
        }
        #expect(waits >= 3)
    }

    @Test("applies no part of a batch that contradicts the ledger, and ends; the next start sets the log aside")
    func contradiction() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a"))
        try ledger.write(Fixture.delivery(2) + Fixture.delivery(3, id: "a"))
        guard case .failed(let error) = try await ledger.report() else {
            Issue.record("the batch was applied")
            return
        }
        #expect(error.kind == .contradiction)
        #expect(error.message == "UNIQUE constraint failed: request_rows.uid, request_rows.id")
        #expect(error.context.hasPrefix("\(directory.path)/ledger.db: INSERT INTO request_rows"))
        #expect(try ledger.storedNumbers() == [1])
        ledger.committer.stop()

        let next = try TestLedger(directory.path)
        let aside = try #require(next.committer.recovery.setAside)
        #expect(
            aside.reason == "batch 2 cannot be applied: UNIQUE constraint failed: request_rows.uid, request_rows.id")
        #expect(try next.storedNumbers() == [1])
        try await next.commit(Fixture.delivery(4))
        #expect(try next.storedNumbers() == [1, 4])
    }

    @Test("reports an update of a missing invocation as an error")
    func unknownUpdate() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try ledger.write([.update(Fixture.invocation(5, n: 2))])
        guard case .failed(let error) = try await ledger.report() else {
            Issue.record("the update did not fail")
            return
        }
        #expect(error.message == "a row changes an invocation of request 5 that the ledger does not have")
    }

    @Test("keeps acknowledging while another program holds the ledger's lock, and applies all batches afterwards")
    func busy() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let rawConnection = try ledger.secondConnection()
        try rawConnection.execute("BEGIN IMMEDIATE")
        try ledger.write(Fixture.delivery(1))
        guard case .ledgerStalled(let error) = try await ledger.report() else {
            Issue.record("the ledger did not stall")
            return
        }
        #expect(error.kind == .busy)
        let second = try ledger.write(Fixture.delivery(2))
        try rawConnection.execute("ROLLBACK")
        #expect(try await ledger.report() == .ledgerResumed)
        try await ledger.applied(second)
        #expect(try ledger.storedNumbers() == [1, 2])
    }

    @Test("leaves batches in the log when the ledger is stalled at the stop; the next start applies them")
    func stopWhileStalled() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let rawConnection = try ledger.secondConnection()
        try rawConnection.execute("BEGIN IMMEDIATE")
        try ledger.write(Fixture.delivery(1))
        guard case .ledgerStalled = try await ledger.report() else {
            Issue.record("the ledger did not stall")
            return
        }
        ledger.committer.stop()
        try rawConnection.execute("ROLLBACK")
        let next = try TestLedger(directory.path)
        #expect(next.committer.recovery.batches == 1)
        #expect(try next.storedNumbers() == [1])
    }
}
