import Testing

@testable import HandlerRuns

@Suite("The standard error of handlers in the journal")
struct LoggedLinesTests {
    @Test("is split into lines, in whatever pieces it came, and long lines are shortened")
    func lines() {
        var lines = LoggedLines()
        #expect(lines.take(Array("one\ntw".utf8), at: 0) == ["one"])
        #expect(lines.take(Array("o\n".utf8), at: 0) == ["two"])
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: LoggedLines.lengthMax + 5)
        let text = String(repeating: "x", count: LoggedLines.lengthMax)
        #expect(lines.take(long + Array("\nrest".utf8), at: 0) == ["\(text) (5 bytes more)"])
        #expect(lines.end(at: 0) == ["rest"])
    }

    @Test("has a hundred lines in ten seconds; further ones are counted")
    func flood() {
        var lines = LoggedLines()
        let flood = Array(String(repeating: "x\n", count: 250).utf8)
        #expect(lines.take(flood, at: 0).count == LoggedLines.countMax)
        #expect(lines.take(Array("y\n".utf8), at: LoggedLines.interval - 1) == [])
        let note = "151 lines of standard error are left out: at most 100 are logged in 10 s"
        #expect(lines.take(Array("z\n".utf8), at: LoggedLines.interval) == [note, "z"])
        #expect(lines.end(at: LoggedLines.interval) == [])
    }
}
