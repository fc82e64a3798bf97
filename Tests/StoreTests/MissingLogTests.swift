import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A log that is missing")
struct MissingLogTests: ~Copyable {
    private let directory = TemporaryDirectory()
    /// The state directory as a kill leaves it.
    private let killed = TemporaryDirectory()

    @Test("after a kill is a loss that the start tells, once; no number is given twice", arguments: [0, 1, 3])
    func afterKill(requests: Int64) async throws {
        try await kill(after: requests, keepsLog: false)
        let reason = try await start(after: requests)
        #expect(reason == "segment 1 is missing: the batches after batch \(requests) are lost")
        #expect(try await start(after: requests) == nil)
    }

    @Test("after a clean stop is no loss: the ledger has everything, and the numbers go on")
    func afterStop() async throws {
        for seq in 1...2 { try await TestLedger(directory.path).commit(Fixture.delivery(Int64(seq))) }
        let log = directory.path + "/log"
        for name in names(in: log) { unlink("\(log)/\(name)") }
        #expect(rmdir(log) == 0)
        #expect(try LedgerReader.complete(directory: directory.path).highestSequenceNumber().value == 2)
        let ledger = try TestLedger(directory.path)
        #expect(ledger.committer.recovery.setAside == nil)
        try await ledger.commit(Fixture.delivery(3))
        #expect(try ledger.storedNumbers() == [1, 2, 3] && ledger.reader().highestSequenceNumber().value == 3)
    }

    @Test("but for other segments is a loss, too, and what is left of it is kept")
    func otherSegments() async throws {
        try await kill(after: 2, keepsLog: true)
        let log = killed.path + "/log"
        #expect(rename("\(log)/segment-0001", "\(killed.path)/elsewhere") == 0)
        let left = names(in: log)
        let ledger = try TestLedger(killed.path)
        let aside = try #require(ledger.committer.recovery.setAside)
        #expect(aside.reason == "segment 1 is missing: the batches after batch 2 are lost")
        // A segment that was made ahead, without batches, need not be kept.
        let kept = names(in: aside.path)
        #expect(!kept.isEmpty && kept.sorted() == Array(left.sorted().prefix(kept.count)))
    }

    @Test("is told without a daemon: by every reader and by a salvage, and a restore skips numbers")
    func withoutDaemon() async throws {
        try await kill(after: 2, keepsLog: false)
        for _ in 1...2 {
            let error = #expect(throws: StoreError.self) { _ = try LedgerReader.complete(directory: killed.path) }
            #expect(error?.kind == .logDamaged)
        }
        let salvage = try Salvage.write(from: killed.path, to: directory.path + "/salvaged")
        #expect(salvage.logDamage == "segment 1 is missing: the batches after batch 2 are lost")
        _ = try Restoration.restore(nil, into: killed.path, at: WallTime(milliseconds: 1))
        #expect(try LedgerReader(directory: killed.path).highestSequenceNumber().value > 1_000_000)
    }

    /// Starts in the killed directory.
    ///
    /// - Returns: the reason for which the start set a log aside.
    private func start(after requests: Int64) async throws -> String? {
        let ledger = try TestLedger(killed.path)
        let next = try ledger.reader().highestSequenceNumber().value + 1
        #expect(next > requests + 100_000)
        try await ledger.commit(Fixture.delivery(next))
        return ledger.committer.recovery.setAside?.reason
    }

    /// Copies the state directory of a running daemon that was stopped once before.
    private func kill(after requests: Int64, keepsLog: Bool) async throws {
        _ = try TestLedger(directory.path)
        let ledger = try TestLedger(directory.path)
        for seq in 0..<requests { try await ledger.commit(Fixture.delivery(seq + 1)) }
        for name in ["ledger.db", "ledger.db-wal"] { try copy(name) }
        guard keepsLog else { return }
        #expect(mkdir(killed.path + "/log", 0o750) == 0)
        for name in names(in: directory.path + "/log") { try copy("log/\(name)") }
    }

    private func copy(_ name: String) throws {
        let bytes = try #require(readFile("\(directory.path)/\(name)"))
        let file = open("\(killed.path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
        defer { close(file) }
        #expect(write(file, bytes, bytes.count) == bytes.count)
    }
}
