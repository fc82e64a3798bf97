import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// A disk that loses all unsynced writes at any time keeps every acknowledged request.
///
/// The log is opened with O_DSYNC, so its writes survive; each of the ledger's files has its contents of its last sync.
@Suite("A power cut", .timeLimit(.minutes(30)))
struct PowerCutTests {
    @Test("loses no acknowledged request, at any time", arguments: 0..<3 as Range<UInt64>)
    func cut(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let disk = ForgetfulDisk()
        let ledger = try TestLedger(disk.path, limits: Self.limits)
        var seq: Int64 = 0
        // Writes twice the log's capacity: segments are reused, and the WAL is copied.
        for _ in 1...4 {
            for _ in 0..<16 {
                seq += 1
                let bytes = Int.random(in: 1000...900_000, using: &random)
                let number = try ledger.write(Fixture.delivery(seq, bytes: bytes))
                if Bool.random(using: &random) { try await ledger.applied(number) }
            }
            try disk.expect(Array(1...seq))
        }
        #expect(disk.watch.events.contains { $0.hasPrefix("sync ledger.db ") }, "the WAL was copied")
        #expect(ledger.committer.status.logLength <= 16 << 20)
    }

    @Test("loses nothing while a reader holds up the checkpoint: the WAL is synced before a segment is reused")
    func heldReader() async throws {
        let disk = ForgetfulDisk()
        let ledger = try TestLedger(disk.path, limits: Self.limits)
        try await ledger.commit(Fixture.delivery(1))
        let reader = try ledger.secondConnection()
        try reader.execute("BEGIN; SELECT count(*) FROM requests")
        for seq in 2...60 { try await ledger.commit(Fixture.delivery(Int64(seq), bytes: 500_000)) }
        try disk.expect(Array(1...60))
        try reader.execute("COMMIT")
    }

    @Test("loses nothing that a start has just applied from the log before it reuses the log")
    func afterStart() async throws {
        let disk = ForgetfulDisk()
        do {
            let ledger = try TestLedger(disk.path, limits: Self.limits)
            let rawConnection = try ledger.secondConnection()
            try rawConnection.execute("BEGIN IMMEDIATE")
            for seq in 1...20 { try ledger.write(Fixture.delivery(Int64(seq), bytes: 500_000)) }
            guard case .ledgerStalled = try await ledger.report() else {
                Issue.record("the ledger did not stall")
                return
            }
            ledger.committer.stop()
            try rawConnection.execute("ROLLBACK")
        }
        let ledger = try TestLedger(disk.path, limits: Self.limits)
        #expect(ledger.committer.recovery.batches == 20)
        for seq in 21...23 {
            try ledger.write(Fixture.delivery(Int64(seq), bytes: 500_000))
            try disk.expect(Array(1...Int64(seq)))
        }
    }

    private static let limits = Committer.Limits(logLength: 16 << 20, walLength: 256 << 20)
}

/// A state directory on a disk that loses unsynced writes.
private struct ForgetfulDisk: ~Copyable {
    private let directory = TemporaryDirectory()
    private let synced = TemporaryDirectory()
    let watch: DiskWatch

    init() {
        watch = DiskWatch(directory.path)
        watch.keepSynced(in: synced.path)
    }

    var path: String { directory.path }

    /// Expects that a start after a power cut now finds these requests.
    func expect(_ numbers: [Int64], _ location: SourceLocation = #_sourceLocation) throws {
        let disk = TemporaryDirectory()
        try Self.copy(synced.path, log: path + "/log", to: disk.path)
        let next = try TestLedger(disk.path)
        #expect(next.committer.recovery.setAside == nil, sourceLocation: location)
        #expect(try next.storedNumbers() == numbers, sourceLocation: location)
    }

    /// Copies the files that a start after the cut finds.
    private static func copy(_ ledger: String, log: String, to directory: String) throws {
        mkdir(directory + "/log", 0o700)
        for name in ["ledger.db", "ledger.db-wal"] {
            // A file that was never synced does not exist.
            if let bytes = readFile("\(ledger)/\(name)") { try write(bytes, "\(directory)/\(name)") }
        }
        for id in 1...99 {
            let name = "segment-00\(id < 10 ? "0" : "")\(id)"
            if let bytes = readFile("\(log)/\(name)") { try write(bytes, "\(directory)/log/\(name)") }
        }
    }

    private static func write(_ bytes: [UInt8], _ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(file, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            try #require(count > 0)
            written += count
        }
    }
}
