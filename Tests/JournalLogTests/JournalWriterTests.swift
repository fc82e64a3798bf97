import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

/// A pipe that the test reads.
private final class WatchedPipe {
    private(set) var output: Int32
    private var input: Int32

    init() {
        let pipe = Pipe()
        (input, output) = (pipe.reading, pipe.writing)
    }

    deinit {
        closeOutput()
        closeInput()
    }

    func closeOutput() {
        if output >= 0 { close(output) }
        output = -1
    }

    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Waits for so many lines and returns the text of each after `message=`.
    func messages(_ count: Int) -> [String] {
        var bytes: [UInt8] = []
        while bytes.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let received = read(input, &chunk, chunk.count)
            if received <= 0 { break }
            bytes += chunk.prefix(received)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
            line.range(of: "message=").map { String(line[$0.upperBound...]) } ?? String(line)
        }
    }

    /// Fills the pipe, so that the next writer waits, and returns the number of bytes.
    func fill() -> Int {
        let flags = fcntl(output, F_GETFL)
        _ = fcntl(output, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(output, F_SETFL, flags) }
        let page = [UInt8](repeating: UInt8(ascii: "\n"), count: 4096)
        var filled = 0
        while case let count = write(output, page, page.count), count > 0 { filled += count }
        return filled
    }

    func drain(_ count: Int) {
        var rest = count
        var chunk = [UInt8](repeating: 0, count: 4096)
        while rest > 0 { rest -= max(0, read(input, &chunk, min(rest, chunk.count))) }
    }
}

extension StringProtocol {
    fileprivate func range(of text: String) -> Range<Index>? { ranges(of: text).first }
}

@Suite("JournalWriter", .timeLimit(.minutes(30)))
struct JournalWriterTests {
    @Test("writes all entries in order before it stops, and none afterwards")
    func flushesOnStop() throws {
        let pipe = WatchedPipe()
        let writer = try JournalWriter(destination: .logfmt(descriptor: pipe.output))
        for number in 0..<100 { writer.log(JournalEntry(.info, "\(number)")) }
        #expect(writer.stop(timeoutMilliseconds: -1))
        #expect(pipe.messages(100) == (0..<100).map { "\($0)" })
        writer.log(JournalEntry(.info, "lost"))
        #expect(writer.stop(timeoutMilliseconds: -1))
    }

    @Test("an entry is written at once, before the writer is stopped")
    func writesAtOnce() throws {
        let pipe = WatchedPipe()
        let writer = try JournalWriter(destination: .logfmt(descriptor: pipe.output))
        for text in ["one", "two"] {
            writer.log(JournalEntry(.info, text))
            #expect(pipe.messages(1) == [text])
        }
        writer.stop(timeoutMilliseconds: -1)
    }

    @Test("never waits for a stalled destination: counts dropped entries, and reports them")
    func countsWhatItDrops() throws {
        let pipe = WatchedPipe()
        let filled = pipe.fill()
        let writer = try JournalWriter(destination: .logfmt(descriptor: pipe.output), capacity: 4)
        // The thread may hold some of the first entries; 4 fit behind them and most of the rest do not.
        for number in 0..<100 { writer.log(JournalEntry(.info, "\(number)")) }
        #expect(!writer.stop(timeoutMilliseconds: 0))
        pipe.drain(filled)
        #expect(writer.stop(timeoutMilliseconds: -1))

        // The pipe holds whole lines: some of the numbers in order, and the notices of losses.
        pipe.closeOutput()
        let messages = pipe.messages(.max)
        let written = messages.compactMap { Int($0) }
        let notices = messages.filter { $0.contains("dropped") }
        let dropped = notices.compactMap { Int($0.dropFirst().prefix { $0.isNumber }) }.reduce(0, +)
        #expect(written == written.sorted())
        #expect(written.count + dropped == 100)
        #expect(dropped > 0)
        #expect(notices.allSatisfy { $0.contains("message_id=\(MessageID.entriesDropped.rawValue)") })
    }

    @Test("survives an output without a reader")
    func survivesABrokenPipe() throws {
        let pipe = WatchedPipe()
        pipe.closeInput()
        let writer = try JournalWriter(destination: .logfmt(descriptor: pipe.output))
        writer.log(JournalEntry(.info, "to nobody"))
        #expect(writer.stop(timeoutMilliseconds: -1))
    }

    @Test("waits for a nonblocking output without room")
    func waitsForRoom() throws {
        let pipe = WatchedPipe()
        let filled = pipe.fill()
        _ = fcntl(pipe.output, F_SETFL, fcntl(pipe.output, F_GETFL) | O_NONBLOCK)
        let writer = try JournalWriter(destination: .logfmt(descriptor: pipe.output))
        writer.log(JournalEntry(.info, "patient"))
        #expect(!writer.stop(timeoutMilliseconds: 1))
        pipe.drain(filled)
        #expect(writer.stop(timeoutMilliseconds: -1))
        #expect(pipe.messages(1) == ["patient"])
    }
}
