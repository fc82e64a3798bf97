import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// The length of a batch, from the smallest to the limit that writer and reader share.
@Suite("A batch of the log", .timeLimit(.minutes(5)))
struct BatchLimitTests: ~Copyable {
    private let directory = TemporaryDirectory()

    @Test("is found by a reader whatever its length, and one above the limit is refused before it is written")
    func everyLength() throws {
        let state = UUID128(high: 1, low: 2)
        let log = try CommitLog(
            LogDirectory(in: directory.path, state: state), limits: .init(length: 16 << 20), segments: [],
            after: .start,
            released: 0)
        let limit = (16 << 20) / BatchLimits.batchesInLog - LogSegment.headerLength - BatchHeader.length
        let blocks = limit / RowBuffer.alignment
        var generator = SeededGenerator(seed: 7)
        // The ends of blocks, where padding and header matter, then any length.
        var lengths = [0, 1, 2, 3, blocks / 2, blocks - 1, blocks].flatMap { block in
            (-65...65).map { block * RowBuffer.alignment + $0 }
        }
        lengths = lengths.filter { (64...limit).contains($0) }.shuffled(using: &generator).prefix(60) + [limit]
        lengths += (0..<12).map { _ in Int.random(in: 64...limit, using: &generator) }
        for length in lengths {
            let before = log.position
            let position = try log.append(
                try rows(length), lastSequence: SequenceNumber(1), at: WallTime(milliseconds: 1))
            var chain = try LogChain(try LogDirectory(in: directory.path, state: state).segments().0)
            let found = try #require(try chain.next(after: before))
            #expect(found.position == position && found.header.rowsLength == length)
            log.release(through: position.number)
        }
        let last = log.position
        let error = #expect(throws: StoreError.self) {
            try log.append(
                try rows(limit + 1), lastSequence: SequenceNumber(1), at: WallTime(milliseconds: 1))
        }
        #expect(error?.kind == .tooLong && error?.isTransient == false)
        #expect(log.position == last)
    }

    @Test(
        "becomes durable within a full log, in whatever order the store's two threads take their steps",
        arguments: 1...3)
    func fullLog(seed: UInt64) async throws {
        let ledger = try TestLedger(
            directory.path, limits: .init(logLength: 16 << 20), wrap: { DelayedLog($0, seed: seed) })
        var generator = SeededGenerator(seed: seed)
        let lengths = [100, 100, 30_000, 900_000, 2_000_000, 3_500_000, 4_100_000]
        var last: UInt64 = 0
        for seq in 1...16 {
            let length = try #require(lengths.randomElement(using: &generator))
            last = ledger.submit([.request(Fixture.request(Int64(seq), bytes: length))])
            try await ledger.durable(last)
        }
        try await ledger.applied(last)
        #expect(try ledger.reader().acceptedRequests() == 16)
    }

    @Test("that waits in a full log is given up at a stop: nobody was told that it is durable")
    func stop() async throws {
        let ledger = try TestLedger(directory.path, limits: .init(logLength: 16 << 20))
        let reader = try ledger.secondConnection()
        try reader.execute("BEGIN IMMEDIATE")
        var seq: Int64 = 0
        repeat {
            seq += 1
        } while try await ledger.isDurable(
            ledger.submit([.request(Fixture.request(seq, bytes: 3_500_000))]))
        ledger.committer.stop()
        try reader.execute("ROLLBACK")
        #expect(try TestLedger(directory.path).storedNumbers() == Array(1..<seq))
    }

    private func rows(_ length: Int) throws -> RowBuffer {
        let buffer = RowBuffer(headroom: BatchHeader.length)
        try #require(
            buffer.fill(rows: length, blocks: BatchHeader.blocksLength(rows: length)) { memory in
                memory.initializeMemory(as: UInt8.self, repeating: 0x5A)
                return memory.count
            })
        return buffer
    }
}
