import Glibc
import Testing

@testable import LinuxSystem

@Suite("Lost entries", .timeLimit(.minutes(30)))
struct LostEntryTests {
    private func dropped(by descriptor: Int32, _ count: Int) throws -> UInt64 {
        let writer = try JournalWriter(destination: .logfmt(descriptor: descriptor))
        for number in 0..<count { writer.log(JournalEntry(.info, "\(number)")) }
        #expect(writer.stop(timeoutMilliseconds: -1))
        return writer.dropCount
    }

    @Test("are counted on a full disk")
    func full() throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        #expect(try dropped(by: full, 7) == 7)
    }

    @Test("are counted for a pipe without a reader")
    func closedReader() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        #expect(try dropped(by: ends[1], 5) == 5)
    }

    @Test("are counted for a closed descriptor")
    func closed() throws { #expect(try dropped(by: -1, 3) == 3) }

    @Test("are counted if they were written in part")
    func half() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { close(ends[1]) }
        let writer = try JournalWriter(destination: .logfmt(descriptor: ends[1]))
        // The entry is longer than the pipe's buffer: the writer waits within the line until the reader closes.
        writer.log(JournalEntry(.info, String(repeating: "x", count: 1 << 20)))
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 1)
        close(ends[0])
        #expect(writer.stop(timeoutMilliseconds: -1))
        #expect(writer.dropCount == 1)
    }
}
