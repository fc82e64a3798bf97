import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import PushRouter
@testable import Store

/// Upper bounds of the bytes on disk for a delivery with a payload of 1331 bytes, 15 % above the measured values.
@Suite("The bytes that one delivery writes", .timeLimit(.minutes(30)))
final class BytesWrittenTests {
    private let directory = TemporaryDirectory()

    /// Writes batches of deliveries, and waits after each until the ledger has it: how many the ledger applies at once
    /// depends on the machine.
    ///
    /// - Returns: how many bytes a delivery wrote to the log, and to the ledger with its WAL.
    private func write(batches: Int, of size: Int) throws -> (log: Int, ledger: Int) {
        let watch = DiskWatch(directory.path)
        let applied = Monitor<UInt64>(0)
        let committer = try Committer(directory: StateDirectory(path: directory.path)) {
            if case .applied(let number) = $0 { applied.update { $0 = number } }
        }
        let before = watch.written("ledger.db")
        var deliveries = try Deliveries()
        for number in 1...UInt64(batches) {
            var effects = Effects(rows: committer.takeBuffer())
            for _ in 0..<size {
                let line = deliveries.line()
                try deliveries.submit(line, into: &effects)
            }
            let rows = try #require(effects.rows)
            let batch = CommitBatch(number: number, rows: rows, lastSequence: deliveries.lastNumber)
            try #require(try committer.commit(batch) != nil)
            committer.expedite(through: number)
            try #require(applied.wait(atMost: .seconds(60), { $0 >= number ? true : nil }) == true)
        }
        committer.stop()
        // The log fills new segments with long writes of zeros.
        let writes = watch.events.filter { $0.hasPrefix("write segment-") }.compactMap {
            Int($0.split(separator: " ")[2])
        }
        let log = writes.filter { $0 < 512 << 10 }.reduce(0, +)
        return (log / (batches * size), (watch.written("ledger.db") - before) / (batches * size))
    }

    // Of the ledger's, 2 % are the pages that say which page is used by what: with them it can give back space (Decisions/ledger).
    @Test(
        "are bounded, for one at a time and for 64 at a time",
        arguments: [(256, 1, 4784, 192_500), (16, 64, 2065, 7846)])
    func bytes(batches: Int, size: Int, logMax: Int, ledgerMax: Int) throws {
        let (log, ledger) = try write(batches: batches, of: size)
        #expect(log <= logMax, "\(log) bytes to the log")
        #expect(ledger <= ledgerMax, "\(ledger) bytes to the ledger and its WAL")
        #expect(log > 1331 && ledger > 2 * 1331, "or not all was counted")
    }
}
