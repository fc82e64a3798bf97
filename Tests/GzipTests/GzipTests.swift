import Testing

@testable import Gzip

@Suite("Compressed bodies")
struct GzipTests {
    /// `printf '{"message":{"token":"tok1"}}' | gzip -n`
    private static let compressed: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xAB, 0x56, 0xCA, 0x4D, 0x2D, 0x2E,
        0x4E, 0x4C, 0x4F, 0x55, 0xB2, 0xAA, 0x56, 0x2A, 0xC9, 0xCF, 0x4E, 0xCD, 0x53, 0xB2, 0x02, 0xD1,
        0x86, 0x4A, 0xB5, 0xB5, 0x00, 0xD2, 0x0D, 0x82, 0x00, 0x1C, 0x00, 0x00, 0x00,
    ]
    private static let text = #"{"message":{"token":"tok1"}}"#

    @Test("gzip bodies are decompressed")
    func reads() throws {
        #expect(try Gzip.inflate(Self.compressed, limit: 100) == Array(Self.text.utf8))
        #expect(try Gzip.inflate(Self.compressed, limit: Self.text.utf8.count) == Array(Self.text.utf8))
    }

    @Test("are refused above the limit, whatever their decompressed length")
    func bounded() {
        #expect(throws: Gzip.Fault.tooLong) { try Gzip.inflate(Self.compressed, limit: Self.text.utf8.count - 1) }
    }

    @Test("are refused if they are damaged, truncated, followed by other bytes, or no gzip")
    func malformed() {
        var damaged = Self.compressed
        damaged[damaged.count - 6] ^= 1
        let faults: [([UInt8], Gzip.Fault)] = [
            (damaged, .malformed), (Array(Self.compressed.dropLast()), .cutOff),
            (Self.compressed + [0], .trailingBytes),
            (Array(Self.text.utf8), .malformed), ([], .cutOff),
        ]
        for (bytes, fault) in faults { #expect(throws: fault) { try Gzip.inflate(bytes, limit: 100) } }
    }
}
