import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Damaged rows")
struct RowReaderTests {
    /// One row each, of every kind.
    private static let rows: [[UInt8]] = Whole.records.map { record in
        let buffer = RowBuffer(headroom: 0)
        buffer.append(record)
        return Array(buffer.rows)
    }

    @Test("that are whole are read as they were written")
    func whole() throws {
        for row in Self.rows { #expect(try !Self.read(row).isEmpty) }
        #expect(try Self.read(Self.rows.flatMap(\.self)).count >= Self.rows.count)
    }

    @Test("give an error wherever they are cut, except between two rows")
    func cut() throws {
        for row in Self.rows {
            // A record may be more than one row.
            var ends = [0]
            while let end = ends.last, end < row.count {
                let length = row[(end + 1)...(end + 4)].reversed().reduce(0) { $0 << 8 | Int($1) }
                ends.append(end + 5 + length)
            }
            for length in 0..<row.count {
                if ends.contains(length) {
                    #expect(throws: Never.self) { try Self.read(Array(row[..<length])) }
                } else {
                    #expect(throws: RowError.self) { try Self.read(Array(row[..<length])) }
                }
            }
        }
    }

    @Test("give an error that names an unknown kind of row or value")
    func unknown() throws {
        #expect(throws: RowError(message: "unknown kind of row: 255")) { try Self.read([255, 0, 0, 0, 0]) }
        let kind = try #require(Self.rows.first?.first)
        #expect(throws: RowError(message: "a value has the unknown type 255")) {
            try Self.read([kind, 1, 0, 0, 0, 255])
        }
        #expect(throws: RowError(message: "a row ends within its length")) { try Self.read([kind, 1, 0, 0]) }
        #expect(throws: RowError(message: "a row is longer than its batch")) {
            try Self.read([kind, 255, 255, 255, 255])
        }
    }

    @Test("give rows or an error after any flip, cut and join", arguments: UInt64(1)...8)
    func damaged(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var failed = 0
        for _ in 0..<5000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let row = Self.rows[Int.random(in: Self.rows.indices, using: &random)]
                let start = Bool.random(using: &random) ? 0 : Int.random(in: 0...row.count, using: &random)
                let end = Bool.random(using: &random) ? row.count : Int.random(in: start...row.count, using: &random)
                bytes += row[start..<end]
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            do {
                _ = try Self.read(bytes)
            } catch {
                failed += 1
            }
        }
        #expect((1000..<5000).contains(failed), "or nothing was damaged: \(failed)")
    }

    /// Reads all rows, and all values of each.
    @discardableResult
    private static func read(_ bytes: [UInt8]) throws(RowError) -> [RowKind] {
        // A copy of exactly this length, so that a sanitizer sees a read beyond its end.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        var reader = RowReader(UnsafeRawBufferPointer(copy))
        var kinds: [RowKind] = []
        while let (kind, rest) = try reader.next() {
            var values = rest
            while !values.isAtEnd {
                switch try values.next() {
                case .null, .integer: break
                case .text(let part), .bytes(let part):
                    guard let start = part.baseAddress, let end = copy.baseAddress.map({ $0 + copy.count }) else {
                        continue
                    }
                    #expect(start + part.count <= end, "a value lies beyond the bytes")
                }
            }
            kinds.append(kind)
        }
        return kinds
    }
}
