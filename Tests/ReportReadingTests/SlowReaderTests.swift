import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Reports that are read slowly", .timeLimit(.minutes(30)))
struct SlowReaderTests {
    /// The length of the WAL in bytes.
    private func walLength(_ ledger: RandomLedger) -> Int {
        var facts = stat()
        return stat(ledger.directory.path + "/ledger.db-wal", &facts) == 0 ? Int(facts.st_size) : -1
    }

    @Test(
        "hold up no checkpoint: no transaction is open while a report waits for its reader",
        arguments: ["csv", "json"])
    func stoppedReader(format: String) throws {
        let ledger = try RandomLedger(seed: 11, apps: 300)
        for _ in 0..<8 { try ledger.store(300, pause: 1000) }
        let path = ledger.directory.path
        // A reader that opens the pipe and reads nothing: the report fills it, and then waits.
        let script = """
            mkfifo \(path)/fifo
            "$0" report --format \(format) --state \(path) --config \(path) --runtime \(path) >\(path)/fifo 2>/dev/null &
            writer=$!
            sleep 600 <\(path)/fifo >/dev/null 2>&1 &
            reader=$!
            for look in $(seq 3000); do
                grep -q pipe /proc/$writer/wchan && break
                sleep 0.02
            done
            echo $(cat /proc/$writer/wchan) $writer $reader
            """
        let result = Program(path: "/bin/sh").run(["-c", script, Program(product: "pushctl").path])
        let words = result.output.split(whereSeparator: \.isWhitespace)
        try #require(words.count == 3 && words[0].contains("pipe"), "\(result.output)\(result.errors)")
        let processes = words.dropFirst().compactMap { Int32($0) }
        defer { for process in processes { kill(process, SIGKILL) } }

        for _ in 0..<3 {
            try ledger.store(100, pause: 1000)
            #expect(try ledger.writer.checkpointWhole() && walLength(ledger) == 0)
        }
        // Counter-check: an open snapshot makes `checkpointWhole` return false.
        let reader = try ledger.reader
        try ledger.store(10, pause: 1000)
        try reader.snapshot { () throws(StoreError) in
            _ = try reader.highestSequenceNumber()
            #expect(try !ledger.writer.checkpointWhole())
        }
    }
}
