import Glibc
import TestSupport
import Testing

@testable import pushrouter_metrics

@Suite("The text file of pushrouter-metrics")
struct TextFileTests: ~Copyable {
    private let directory = TemporaryDirectory()

    @Test("is replaced atomically, readable for all, without a temporary file left")
    func replaces() throws {
        let file = TextFile(path: directory.path + "/a.prom")
        try file.replace(with: String(repeating: "a 1\n", count: 100_000))
        let reader = open(file.path, O_RDONLY)
        defer { close(reader) }
        try file.replace(with: "b 2\n")
        #expect(readFile(file.path) == Array("b 2\n".utf8))
        // A reader with the old file open still sees all of it.
        #expect(lseek(reader, 0, Int32(SEEK_END)) == 400_000)
        var facts = stat()
        #expect(stat(file.path, &facts) == 0 && facts.st_mode & 0o777 == 0o644)
        #expect(Program(path: "/bin/ls").run(["-A", directory.path]).lines == ["a.prom"])
    }

    @Test("reports the system's error, and keeps the old file")
    func refuses() {
        let nowhere = TextFile(path: directory.path + "/none/a.prom")
        #expect(throws: (any Error).self) { try nowhere.replace(with: "a 1\n") }
        mkdir(directory.path + "/b.prom", 0o755)
        #expect(throws: (any Error).self) { try TextFile(path: directory.path + "/b.prom").replace(with: "a 1\n") }
        #expect(Program(path: "/bin/ls").run(["-A", directory.path]).lines == ["b.prom"])
    }
}
