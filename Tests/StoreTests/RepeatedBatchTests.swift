import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// A write that failed with ENOSPC may have left its whole batch in the page cache. The repeat is written elsewhere
/// when a segment was released meanwhile, and a `kill -9` leaves both.
@Suite("A batch that is in the log twice")
struct RepeatedBatchTests: ~Copyable {
    private let directory = TemporaryDirectory()
    /// The number of requests in the ledger, a batch each, before the write that failed.
    private static let applied: Int64 = 5

    @Test(
        "is read where it was acknowledged, with all batches behind it",
        arguments: [1, 3], [false, true])
    func acknowledged(later: Int64, isElsewhere: Bool) async throws {
        let last = Self.applied + later
        try await writeTwice(through: last, isElsewhere: isElsewhere)
        let read = try LedgerReader.complete(directory: directory.path)
        #expect(try read.acceptedRequests() == Int(last))
        let ledger = try TestLedger(directory.path)
        #expect(ledger.committer.recovery.setAside == nil)
        #expect(try ledger.storedNumbers() == Array(1...last))
        try await ledger.commit(Fixture.delivery(last + 1))
        #expect(try ledger.storedNumbers() == Array(1...last + 1))
    }

    /// Writes batches that the ledger has, one behind them, and then that one again with others behind it.
    ///
    /// - Parameter isElsewhere: whether the repeat is in another segment; otherwise it is at the beginning of the same
    /// one.
    private func writeTwice(through last: Int64, isElsewhere: Bool) async throws {
        try await TestLedger(directory.path).commit(Fixture.delivery(1))
        let writer = try LedgerWriter(directory: directory.path)
        let logs = try LogDirectory(in: directory.path, state: writer.stateID)
        let limits = CommitLog.Limits(length: 64 << 20)
        var (segments, _) = try logs.segments()
        segments = [try #require(segments.first)]

        let first = try CommitLog(logs, limits: limits, segments: segments, after: writer.position, released: 1)
        for seq in 2...Self.applied {
            let rows = Self.rows(seq)
            let position = try append(rows, seq, to: first)
            try writer.apply([rows], through: position)
        }
        let failed = try append(Self.rows(Self.applied + 1), Self.applied + 1, to: first)

        if isElsewhere { segments = [try logs.create(77, length: limits.segmentLength)] }
        let number = writer.position.number
        let second = try CommitLog(logs, limits: limits, segments: segments, after: writer.position, released: number)
        for seq in Self.applied + 1...last {
            let position = try append(Self.rows(seq), seq, to: second)
            if seq == Self.applied + 1 { #expect(position.number == failed.number && position != failed) }
        }
    }

    private func append(_ rows: RowBuffer, _ seq: Int64, to log: CommitLog) throws -> LogPosition {
        try log.append(rows, lastSequence: SequenceNumber(seq), at: WallTime(milliseconds: 1_760_000_000_000 + seq))
    }

    private static func rows(_ seq: Int64) -> RowBuffer {
        let rows = RowBuffer()
        for record in Fixture.delivery(seq) { rows.append(record) }
        return rows
    }
}
