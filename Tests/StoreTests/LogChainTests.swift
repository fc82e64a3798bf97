import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The chain of batches in a log")
struct LogChainTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private let state = UUID128(high: 1, low: 2)

    @Test("is read to its end, also with batches longer than one read")
    func longBatches() throws {
        let batches = try write([1, 3000, 1, 1, 9000, 2, 3000])
        var chain = try chain()
        #expect(try readThrough(&chain) == batches.map(\.position))
        #expect(try chain.damage(behind: try #require(batches.last).position) == nil)
    }

    @Test(
        "is damaged where a whole batch follows torn ones, however far behind, and at the start of a segment too",
        arguments: [1, 2], [1, 2, 3])
    func damageFarAhead(whole: Int, torn: Int) throws {
        // The first segment is so short that the batches of 1 MiB begin the second.
        let batches = try write([1] + Array(repeating: 3000, count: 4) + [1])
        #expect(batches[0].position.segment != batches[1].position.segment)
        let segments = try logDirectory().segments().0
        for batch in batches[whole..<whole + torn] {
            let zeros = AlignedMemory(byteCount: RowBuffer.alignment)
            let segment = try #require(segments.first { $0.id == batch.position.segment })
            try segment.write(UnsafeRawBufferPointer(zeros.bytes), at: batch.start)
        }
        var chain = try chain()
        #expect(try readThrough(&chain) == batches[..<whole].map(\.position))
        #expect(
            try chain.damage(behind: batches[whole - 1].position)
                == "batch \(whole + torn + 1) follows batch \(whole), and the batches between them cannot be read")
    }

    @Test("ends before a whole batch with the right number and a wrong predecessor: a start does not apply it")
    func otherPredecessor() async throws {
        let directory = TemporaryDirectory()
        try await TestLedger(directory.path).commit(Fixture.delivery(1))
        do {
            let writer = try LedgerWriter(directory: directory.path)
            let logs = try LogDirectory(in: directory.path, state: writer.stateID)
            var position = writer.position
            position.checksum ^= 1
            let log = try CommitLog(
                logs, limits: .init(length: 64 << 20), segments: [try logs.create(77, length: 1 << 20)],
                after: position,
                released: position.number)
            let rows = RowBuffer(headroom: BatchHeader.length)
            for record in Fixture.delivery(2) { rows.append(record) }
            let next = try log.append(rows, lastSequence: SequenceNumber(2), at: WallTime(milliseconds: 1))
            #expect(next.number == writer.position.number + 1)
        }
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.storedNumbers() == [1])
        #expect(ledger.committer.recovery.setAside?.reason.contains("does not follow batch 1") == true)
    }

    @Test("costs a start at most eight reads for each MiB behind its end, not one for each block")
    func calls() throws {
        let last = try #require(try write([1, 1]).last).position
        var chain = try chain()
        let length = try #require(chain.segments.first).length
        let before = try readCalls()
        #expect(try chain.batchBeyond(last) == nil)
        #expect(try readCalls() - before <= 8 * (length >> 20), "a block each were \(length / RowBuffer.alignment)")
    }

    // MARK: What is written and read

    private func logDirectory() throws -> LogDirectory { try LogDirectory(in: directory.path, state: state) }

    private func chain() throws -> LogChain { try LogChain(try logDirectory().segments().0) }

    /// Writes batches with the rows of so many deliveries each, of some 350 bytes.
    ///
    /// - Returns: where each begins in its segment, and the place behind it.
    private func write(_ deliveries: [Int]) throws -> [(start: Int, position: LogPosition)] {
        let limits = CommitLog.Limits(length: 64 << 20)
        let log = try CommitLog(try logDirectory(), limits: limits, segments: [], after: .start, released: 0)
        return try deliveries.map { count in
            let rows = RowBuffer()
            for seq in 1...Int64(count) { Fixture.delivery(seq).forEach { rows.append($0) } }
            let length = BatchHeader.blocksLength(rows: rows.byteCount)
            let position = try log.append(
                rows, lastSequence: SequenceNumber(1), at: WallTime(milliseconds: 1_760_000_000_000))
            return (position.end - length, position)
        }
    }

    private func readThrough(_ chain: inout LogChain) throws -> [LogPosition] {
        var positions: [LogPosition] = []
        while let batch = try chain.next(after: positions.last ?? .start) { positions.append(batch.position) }
        return positions
    }

    /// The number of read calls of this thread, from /proc/thread-self/io.
    private func readCalls() throws -> Int {
        let text = String(decoding: try #require(readFile("/proc/thread-self/io")), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("syscr: ") })
        return try #require(Int(line.dropFirst("syscr: ".count)))
    }
}
