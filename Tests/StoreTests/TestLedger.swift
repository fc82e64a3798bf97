import PushModel
import Testing

@testable import Store

/// A ledger of a test's own, with its committer and the reports in order.
final class TestLedger {
    let committer: Committer
    let path: String
    private var reports: AsyncStream<CommitReport>.Iterator
    private var number: UInt64 = 0

    init(_ path: String) throws {
        let (stream, continuation) = AsyncStream.makeStream(of: CommitReport.self)
        self.path = path
        committer = try Committer(directory: StateDirectory(path: path)) { continuation.yield($0) }
        reports = stream.makeAsyncIterator()
    }

    deinit { committer.stop() }

    /// The next thing the committer says.
    func report() async throws -> CommitReport { try #require(await reports.next()) }

    /// Submits a batch without waiting.
    func submit(_ batch: [LedgerRecord]) {
        number += 1
        committer.submit(batch, number: number)
    }

    /// Commits a batch and waits until it is on disk.
    func commit(_ batch: [LedgerRecord]) async throws {
        submit(batch)
        while true {
            guard case .committed(let through, _) = try await report() else {
                Issue.record("the commit failed")
                return
            }
            if through == number { return }
        }
    }

    func reader() throws -> LedgerReader { try LedgerReader(directory: path) }

    /// The numbers of all requests in the ledger.
    func storedNumbers() throws -> [Int64] {
        var numbers: [Int64] = []
        try reader().rows { numbers.append($0.seq.value) }
        return numbers
    }

    /// The deliveries that the tracker would be given back.
    func tracked(newest limit: Int = 100) throws -> [TrackedRow] {
        var rows: [TrackedRow] = []
        try reader().trackedDeliveries(newest: limit) { row, _ in rows.append(row) }
        return rows
    }

    /// A second connection that may do anything, as the `sqlite3` program could.
    func intruder() throws -> Database { try Database(path: path + "/ledger.db", access: .readWrite) }
}
