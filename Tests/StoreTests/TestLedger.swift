import Testing

@testable import PushModel
@testable import Store

/// A ledger for one test, with its committer and the reports in order.
final class TestLedger {
    let committer: Committer
    let path: String
    private var stream: AsyncStream<StoreReport>.Iterator
    /// Reports that came while the test waited for another one.
    private var unread: [StoreReport] = []
    private var number: UInt64
    private var durableThrough: UInt64 = 0
    private var appliedThrough: UInt64 = 0
    private var lastSequence = SequenceNumber(0)

    /// - Parameters:
    ///   - log: the log; `nil`: one in the directory.
    ///   - shared: the engine and the term of a shared log.
    ///   - wrap: stands between the store's threads and the log in the directory.
    init(
        _ path: String, limits: Committer.Limits = .init(), log: MemoryLog? = nil, shared: SharedStore? = nil,
        wrap: (@Sendable (any BatchLog) -> any BatchLog)? = nil
    ) throws {
        let (reports, continuation) = AsyncStream.makeStream(of: StoreReport.self)
        self.path = path
        let directory = try StateDirectory(path: path)
        if let shared {
            committer = try Committer(directory: directory, shared: shared, limits: limits) { continuation.yield($0) }
        } else if let log {
            committer = try Committer(
                directory: directory, walLimit: limits.walLength, onMigration: {}, onRecovered: { _ in },
                onReport: { continuation.yield($0) }, openLog: log.open)
        } else if let wrap {
            let length = CommitLog.Limits(length: limits.logLength)
            committer = try Committer(
                directory: directory, walLimit: limits.walLength, onMigration: {}, onRecovered: { _ in },
                onReport: { continuation.yield($0) }
            ) { (writer, now) throws(StoreError) in
                let (log, summary) = try Recovery.run(
                    writer, stateDirectory: path, limits: length, now: now, onProgress: {})
                return (wrap(log), summary)
            }
        } else {
            committer = try Committer(directory: directory, limits: limits) { continuation.yield($0) }
        }
        number = committer.lastNumber
        stream = reports.makeAsyncIterator()
    }

    deinit { committer.stop() }

    /// The next report of the store that is not about a successful batch.
    func report() async throws -> StoreReport {
        if !unread.isEmpty { return unread.removeFirst() }
        while true {
            let report = try #require(await stream.next())
            switch report {
            case .durable(let number, _): durableThrough = number
            case .applied(let number): appliedThrough = number
            default: return report
            }
        }
    }

    /// The next batch, with these records.
    func batch(_ records: [LedgerRecord]) -> CommitBatch {
        let rows = committer.takeBuffer()
        for record in records {
            rows.append(record)
            if case .request(let request) = record { lastSequence = max(lastSequence, request.seq) }
        }
        number += 1
        return CommitBatch(number: number, rows: rows, lastSequence: lastSequence)
    }

    /// Submits a batch to the log's thread; ``durable(_:)`` waits for it.
    @discardableResult
    func submit(_ records: [LedgerRecord]) -> UInt64 {
        committer.submit(batch(records))
        return number
    }

    /// Writes a batch to the log.
    ///
    /// - Returns: its number; it may not be in the ledger yet.
    @discardableResult
    func write(_ records: [LedgerRecord]) throws -> UInt64 {
        try #require(try committer.commit(batch(records)) != nil)
        return number
    }

    /// Writes a batch and waits until it is in the ledger.
    func commit(_ records: [LedgerRecord]) async throws {
        let number = try write(records)
        committer.expedite(through: number)
        try await applied(number)
    }

    /// Waits until a batch is in the ledger.
    func applied(_ number: UInt64) async throws {
        while appliedThrough < number { try note(try #require(await stream.next())) }
    }

    /// Waits until a batch is in the ledger, or the store reports why it cannot be.
    ///
    /// - Returns: the report; `nil` when the batch is in the ledger.
    func problem(applying number: UInt64) async throws -> StoreReport? {
        committer.expedite(through: number)
        while appliedThrough < number {
            switch try #require(await stream.next()) {
            case .applied(let number): appliedThrough = number
            case .durable: break
            case let report: return report
            }
        }
        return nil
    }

    /// Waits until a batch is in the log.
    func durable(_ number: UInt64) async throws {
        while durableThrough < number { try note(try #require(await stream.next())) }
    }

    /// Waits until a batch is in the log, or until the log has no room for it.
    ///
    /// - Returns: whether it is in the log.
    func isDurable(_ number: UInt64) async throws -> Bool {
        while durableThrough < number {
            let report = try #require(await stream.next())
            if case .stalled = report { return false }
            try note(report)
        }
        return true
    }

    private func note(_ report: StoreReport) throws {
        switch report {
        case .durable(let number, _): durableThrough = number
        case .applied(let number): appliedThrough = number
        case .failed(let error): throw error
        default: unread.append(report)
        }
    }

    func reader() throws -> LedgerReader { try LedgerReader(directory: path) }

    /// The numbers of all requests in the ledger.
    func storedNumbers() throws -> [Int64] {
        var numbers: [Int64] = []
        try reader().rows { numbers.append($0.seq.value) }
        return numbers
    }

    /// The deliveries that a start would give the tracker.
    func tracked(newest limit: Int = 100) throws -> [TrackedRow] {
        var rows: [TrackedRow] = []
        try reader().trackedDeliveries(newest: limit) { row, _ in rows.append(row) }
        return rows
    }

    /// A second connection with all rights, like that of the `sqlite3` program.
    func secondConnection() throws -> Database { try Database(path: path + "/ledger.db", access: .readWrite) }
}
