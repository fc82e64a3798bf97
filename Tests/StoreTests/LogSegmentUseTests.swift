import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// A disk may report a block as written and still hold the old one: a whole one, of an earlier batch.
@Suite("A segment of the log that is reused")
struct LogSegmentUseTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private let state = UUID128(high: 1, low: 2)
    private static let block = RowBuffer.alignment

    @Test(
        "is damaged where its first blocks are old and newer batches follow them", arguments: [1, 2])
    func lostWrites(lost: Int) throws {
        let batches = try writeTwice(old: 3, new: 3, lost: lost)
        var chain = try chain()
        let last = batches[2]
        #expect(try chain.next(after: last) == nil)
        #expect(
            try chain.damage(behind: last)
                == "batch \(4 + lost) follows batch 3, and the batches between them cannot be read")
    }

    @Test("is whole after a power cut between its header and its first batch: the log ends before it")
    func cutBehindHeader() throws {
        let batches = try writeTwice(old: 3, new: 1, lost: 1)
        var chain = try chain()
        #expect(try chain.next(after: batches[2]) == nil)
        #expect(try chain.damage(behind: batches[2]) == nil)
    }

    @Test("whose header does not note the first batch, or has a torn note, is read as before")
    func withoutNote() throws {
        let batches = try writeTwice(old: 3, new: 3, lost: 0)
        for bytes in [[UInt8](repeating: 0, count: 512), [UInt8](repeating: 0x5A, count: 4)] {
            try overwrite(at: 512, bytes)
            var chain = try chain()
            var position = batches[2]
            while let batch = try chain.next(after: position) { position = batch.position }
            #expect(position == batches[5])
            #expect(try chain.damage(behind: position) == nil)
        }
    }

    @Test(
        "and that is closed is searched only at its beginning, however many older batches it has",
        arguments: [true, false])
    func closedIsNotRead(isClosed: Bool) throws {
        // The batch lies far behind the end, where no write was since: only a search of the whole segment finds it.
        let batches = try writeTwice(old: 40, new: 2, lost: 0, isClosed: isClosed)
        try overwrite(at: 512 << 10, wholeBatch(43))
        var chain = try chain()
        #expect(try chain.next(after: batches[41]) == nil)
        #expect(try (chain.batchBeyond(batches[41]) == nil) == isClosed)
    }

    @Test("and that was never used is searched only at its beginning", arguments: [60 << 10, 512 << 10])
    func neverUsedIsNotRead(offset: Int) throws {
        let batches = try writeTwice(old: 1, new: 1, lost: 0)
        let path = try logDirectory().create(9, length: 1 << 20).path
        try overwrite(path, at: offset, wholeBatch(3))
        var chain = try chain()
        #expect(try chain.batchBeyond(batches[1]) == (offset < 64 << 10 ? 3 : nil))
    }

    @Test(
        "and was closed with a later batch than the ledger and the log have is damaged: a clean stop came after that"
    )
    func lostBeforeStop() throws {
        let batches = try writeTwice(old: 3, new: 3, lost: 3, isClosed: true)
        var chain = try chain()
        #expect(try chain.next(after: batches[2]) == nil)
        #expect(
            try chain.damage(behind: batches[2])
                == "batch 6 follows batch 3, and the batches between them cannot be read")
    }

    @Test("is marked at each stop as closed with the last batch")
    func stops() async throws {
        for number in UInt64(1)...3 {
            try await TestLedger(directory.path).commit(Fixture.delivery(Int64(number)))
            let state = try LedgerReader(directory: directory.path).stateIdentity
            let segments = try #require(try LogDirectory(reading: directory.path, state: state)).segmentsForReading()
            #expect(segments.compactMap(\.closedWith).max() == number)
        }
    }

    @Test("is searched again once it is reused")
    func begunAgain() throws {
        let batches = try writeTwice(old: 3, new: 3, lost: 0, isClosed: true)
        let log = try CommitLog(
            try logDirectory(), limits: .init(length: 64 << 20), segments: try logDirectory().segments().0,
            after: batches[5], released: 6)
        let next = try append(7, to: log)
        try overwrite(at: 512 << 10, wholeBatch(9))
        var chain = try chain()
        #expect(next.segment == 1)
        #expect(try chain.batchBeyond(next) == 9)
    }

    @Test("of a newer format stops the ledger from opening, changes nothing, and the error advises an upgrade")
    func newerFormat() async throws {
        try await TestLedger(directory.path).commit(Fixture.delivery(1))
        let path = try #require(names(in: directory.path + "/log").first.map { directory.path + "/log/" + $0 })
        var header = Array(try #require(readFile(path)).prefix(48))
        header[8] = 2
        let checksum = header[..<44].withUnsafeBytes { CRC.of($0) }
        header[44...] = withUnsafeBytes(of: checksum.littleEndian) { ArraySlice($0) }
        try overwrite(path, at: 0, header)
        let before = try #require(readFile(path))
        let error = #expect(throws: StoreError.self) { _ = try TestLedger(directory.path) }
        #expect(error?.kind == .newerSchema && error?.context == path)
        #expect(error?.message == "this segment of the log has format 2")
        #expect(error?.advice.hasPrefix("upgrade this program to the version that wrote the ledger, or newer") == true)
        #expect(readFile(path) == before && names(in: directory.path).allSatisfy { !$0.contains("set-aside") })
    }

    // MARK: What is written and read

    private func logDirectory() throws -> LogDirectory { try LogDirectory(in: directory.path, state: state) }

    private func chain() throws -> LogChain { try LogChain(try logDirectory().segments().0) }

    /// Fills the first segment twice, a block a batch, and then restores the first blocks of the first round.
    ///
    /// - Returns: the places behind all batches.
    private func writeTwice(old: Int, new: Int, lost: Int, isClosed: Bool = false) throws -> [LogPosition] {
        let limits = CommitLog.Limits(length: 64 << 20)
        let log = try CommitLog(try logDirectory(), limits: limits, segments: [], after: .start, released: 0)
        let path = LogSegment.path(1, in: directory.path + "/log")
        var positions: [LogPosition] = []
        func write(_ count: Int) throws {
            for _ in 0..<count { positions.append(try append(Int64(positions.count + 1), to: log)) }
        }
        try write(old)
        let before = try #require(readFile(path))
        log.release(through: UInt64(old))
        try write(new)
        if isClosed { try log.close() }
        try #require(positions.allSatisfy { $0.segment == 1 } && positions[old].end == positions[0].end)
        try overwrite(path, at: Self.block, Array(before[Self.block..<(1 + lost) * Self.block]))
        return positions
    }

    private func append(_ number: Int64, to log: CommitLog) throws -> LogPosition {
        let rows = RowBuffer()
        Fixture.delivery(number).forEach { rows.append($0) }
        return try log.append(rows, lastSequence: SequenceNumber(1), at: WallTime(milliseconds: 1_760_000_000_000))
    }

    /// A batch as it is on the disk.
    private func wholeBatch(_ number: UInt64) -> [UInt8] {
        let rows = RowBuffer()
        Fixture.delivery(Int64(number)).forEach { rows.append($0) }
        let header = BatchHeader(
            number: number, previousChecksum: 0, rowsLength: rows.byteCount, released: 0,
            lastSequence: SequenceNumber(1), writtenAt: WallTime(milliseconds: 1_760_000_000_000))
        _ = header.write(to: rows)
        return Array(rows.memory[..<rows.padToAlignment()])
    }

    private func overwrite(at offset: Int, _ bytes: [UInt8]) throws {
        try overwrite(LogSegment.path(1, in: directory.path + "/log"), at: offset, bytes)
    }

    private func overwrite(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count)
    }
}

/// CRC-32C, bit by bit.
private enum CRC {
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0x82F6_3B78 : 0) }
        }
        return ~sum
    }
}
