import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// The log is ahead of the ledger here, as after a power cut that lost the unsynced part of the ledger.
@Suite("A log that is damaged")
struct LogDamageTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private static let block = 4096

    @Test("does not exist while every batch can be read: the ledger applies the missing ones")
    func whole() async throws {
        try await writeAhead()
        let ledger = try TestLedger(directory.path)
        #expect(ledger.committer.recovery.batches == 8 && ledger.committer.recovery.setAside == nil)
        #expect(try ledger.storedNumbers() == Array(1...9))
    }

    @Test(
        "at its end, in a batch that was not acknowledged, ends the log before it", arguments: [0, 70, 300])
    func tornTail(offset: Int) async throws {
        try await writeAhead()
        try damage(batch: 9, at: offset)
        let ledger = try TestLedger(directory.path)
        #expect(ledger.committer.recovery.batches == 7 && ledger.committer.recovery.setAside == nil)
        #expect(try ledger.storedNumbers() == Array(1...8))
        try await ledger.commit(Fixture.delivery(9))
        #expect(try ledger.storedNumbers() == Array(1...9))
    }

    @Test("at its end after a clean stop sets the log aside, as in the middle: that batch was acknowledged")
    func lastBatchOfStop() async throws {
        try await writeAhead(isStopped: true)
        try damage(batch: 9, at: 70)
        try await checkSetAside(
            stored: Array(1...8), reason: "batch 9 was on the disk, and cannot be read or does not follow batch 8",
            kept: try segments())
    }

    @Test(
        "in the middle sets the log aside, and says so: the ledger continues after the last good batch, with new numbers",
        arguments: [0, 70, 300])
    func badBlock(offset: Int) async throws {
        try await writeAhead()
        try damage(batch: 5, at: offset)
        let before = try segments()
        try await checkSetAside(
            stored: Array(1...4), reason: "batch 6 follows batch 4, and the batches between them cannot be read",
            kept: before)
    }

    @Test("is an error for every reader without a daemon, each time")
    func readers() async throws {
        try await writeAhead()
        try damage(batch: 5, at: 70)
        for _ in 1...2 {
            let error = #expect(throws: StoreError.self) { _ = try LedgerReader.complete(directory: directory.path) }
            #expect(error?.kind == .logDamaged)
            #expect(
                error?.message
                    == "the log is damaged: batch 6 follows batch 4, and the batches between them cannot be read")
        }
        // Also when the directory is locked and its holder does not bring the ledger up to date.
        let lock = try StateDirectory(path: directory.path)
        let error = #expect(throws: StoreError.self) { _ = try LedgerReader.complete(directory: directory.path) }
        #expect(error?.kind == .logDamaged)
        lock.unlock()
    }

    @Test("is a segment's name or a batch's number that has no successor")
    func lastNumbers() {
        #expect(LogSegment.id(named: "segment-4294967295") == nil && LogSegment.id(named: "segment-7") == 7)
        let rows = RowBuffer()
        for (number, isRead) in [(UInt64(1), true), (.max, false)] {
            let header = BatchHeader(
                number: number, previousChecksum: 0, rowsLength: 0, released: 0, lastSequence: SequenceNumber(1),
                writtenAt: WallTime(milliseconds: 1))
            _ = header.write(to: rows)
            #expect((BatchHeader(UnsafeRawBufferPointer(rows.memory)) != nil) == isRead)
        }
    }

    @Test("in the header of a segment sets the log aside, and is reported", arguments: ["garbage", "zeros"])
    func badHeader(contents: String) async throws {
        try await writeAhead()
        let (path, _) = try place(ofBatch: 5)
        let byte: UInt8 = contents == "zeros" ? 0 : 0x5A
        try overwrite(path, at: 0, [UInt8](repeating: byte, count: Self.block))
        // A zeroed header looks like that of a segment never used: the batches behind it show the damage.
        if contents == "zeros" { try overwrite(path, at: Self.block, [UInt8](repeating: 0, count: Self.block)) }
        let number = try #require(LogSegment.id(named: String(path.split(separator: "/").last ?? "")))
        let before = try segments()
        try await checkSetAside(
            stored: [1], reason: "the header of segment \(number) of the log is damaged", kept: before)
    }

    @Test("by a kill while a segment is made is none: the start deletes that segment")
    func unfinished() async throws {
        try await writeAhead()
        for length in [0, 100, Self.block, 5 * Self.block] {
            let path = "\(directory.path)/log/segment-\(9000 + length)"
            writeFile(String(repeating: "\0", count: length), to: path)
        }
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.storedNumbers() == Array(1...9) && ledger.committer.recovery.setAside == nil)
        #expect(try segments().keys.allSatisfy { !$0.hasPrefix("segment-9") })
    }

    // MARK: What is done and looked at

    /// Writes nine requests, a batch each; the ledger has the first, and the log the others.
    ///
    /// - Parameter isStopped: whether the log records the stop behind them; otherwise it is as a running daemon has it.
    private func writeAhead(isStopped: Bool = false) async throws {
        try await TestLedger(directory.path).commit(Fixture.delivery(1))
        let database = try #require(readFile(directory.path + "/ledger.db"))
        let inUse: [String: [UInt8]]
        do {
            let ledger = try TestLedger(directory.path)
            for seq in 2...9 { try ledger.write(Fixture.delivery(Int64(seq))) }
            inUse = try segments()
        }
        for (name, bytes) in inUse where !isStopped { try overwrite("\(directory.path)/log/\(name)", at: 0, bytes) }
        try overwrite(directory.path + "/ledger.db", at: 0, database)
        #expect(truncate(directory.path + "/ledger.db", off_t(database.count)) == 0)
        for name in ["ledger.db-wal", "ledger.db-shm"] { unlink(directory.path + "/" + name) }
    }

    private func checkSetAside(stored: [Int64], reason: String, kept: [String: [UInt8]]) async throws {
        do {
            let ledger = try TestLedger(directory.path)
            let aside = try #require(ledger.committer.recovery.setAside)
            #expect(aside.reason == reason)
            #expect(names(in: aside.path).allSatisfy { readFile("\(aside.path)/\($0)") == kept[$0] })
            #expect(names(in: aside.path).sorted() == kept.keys.sorted())
            #expect(try ledger.storedNumbers() == stored)
            // The number 9 was acknowledged, whether or not its batch can be read.
            #expect(try ledger.reader().highestSequenceNumber().value >= 9)
        }
        let ledger = try TestLedger(directory.path)
        #expect(ledger.committer.recovery.setAside == nil)
        let next = try ledger.reader().highestSequenceNumber().value + 1
        #expect(next > 9)
        try await ledger.commit(Fixture.delivery(next))
        #expect(try ledger.storedNumbers() == stored + [next])
    }

    /// The files of the log with their contents.
    private func segments() throws -> [String: [UInt8]] {
        let log = directory.path + "/log"
        return Dictionary(uniqueKeysWithValues: names(in: log).map { ($0, readFile("\(log)/\($0)") ?? []) })
    }

    /// The segment and the offset of a batch; in this test each batch fills one block.
    private func place(ofBatch number: UInt8) throws -> (path: String, offset: Int) {
        for (name, bytes) in try segments() {
            for offset in stride(from: Self.block, to: bytes.count, by: Self.block)
            where bytes[offset..<offset + 4].elementsEqual("PLB1".utf8) && bytes[offset + 8] == number {
                return ("\(directory.path)/log/\(name)", offset)
            }
        }
        throw Absent(number: number)
    }

    private struct Absent: Error {
        var number: UInt8
    }

    private func damage(batch number: UInt8, at offset: Int) throws {
        let place = try place(ofBatch: number)
        try overwrite(place.path, at: place.offset + offset, [0x5A])
    }

    private func overwrite(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count)
    }
}
