import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("The committer")
struct CommitterTests {
    @Test("commits batches in the order in which they came, and says so in that order")
    func order() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        for seq in 1...200 { ledger.submit(Fixture.delivery(Int64(seq))) }
        var last: UInt64 = 0
        while last < 200 {
            guard case .committed(let through, let duration) = try await ledger.report() else {
                Issue.record("the commit failed")
                return
            }
            #expect(through > last)
            #expect(duration > .zero)
            last = through
        }
        #expect(try ledger.storedNumbers() == Array(1...200))
    }

    @Test("puts a batch of 10,000 records into one transaction")
    func large() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...10_000).map { .request(Fixture.request(Int64($0), bytes: 1300)) })
        #expect(try ledger.reader().acceptedRequests() == 10_000)
    }

    @Test("commits what was submitted before it stops")
    func stop() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        for seq in 1...50 { ledger.submit(Fixture.delivery(Int64(seq))) }
        ledger.committer.stop()
        #expect(try ledger.storedNumbers() == Array(1...50))
    }

    @Test("writes none of a batch that cannot be written whole, and ends")
    func atomic() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a"))
        ledger.submit(Fixture.delivery(2) + Fixture.delivery(3, id: "a"))
        guard case .failed(let error) = try await ledger.report() else {
            Issue.record("the commit did not fail")
            return
        }
        #expect(error.kind == .failed)
        #expect(error.message == "UNIQUE constraint failed: requests.uid, requests.id")
        #expect(error.context.hasPrefix("\(directory.path)/ledger.db: INSERT INTO requests"))
        #expect(try ledger.storedNumbers() == [1])
    }

    @Test("takes an update of an invocation that does not exist for the error it is")
    func unknownUpdate() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        ledger.submit([.update(Fixture.invocation(5, n: 2))])
        guard case .failed(let error) = try await ledger.report() else {
            Issue.record("the update did not fail")
            return
        }
        #expect(error.message == "there is no invocation 2 of request 5")
    }

    @Test("waits while another program holds the ledger's lock, then goes on with nothing lost")
    func busy() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let intruder = try ledger.intruder()
        try intruder.execute("BEGIN IMMEDIATE")
        ledger.submit(Fixture.delivery(1))
        guard case .stalled(let error) = try await ledger.report() else {
            Issue.record("the commit did not stall")
            return
        }
        #expect(error.kind == .busy)
        ledger.submit(Fixture.delivery(2))
        try intruder.execute("ROLLBACK")
        // The first comes with the next try; the second may share its transaction.
        var through: UInt64 = 0
        while through < 2, case .committed(let number, _) = try await ledger.report() { through = number }
        #expect(try ledger.storedNumbers() == [1, 2])
    }

    @Test("reports what a stall still keeps off the disk at the stop as failed")
    func stopWhileStalled() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let intruder = try ledger.intruder()
        try intruder.execute("BEGIN IMMEDIATE")
        ledger.submit(Fixture.delivery(1))
        guard case .stalled(let error) = try await ledger.report() else {
            Issue.record("the commit did not stall")
            return
        }
        ledger.committer.stop()
        #expect(try await ledger.report() == .failed(error))
    }
}
