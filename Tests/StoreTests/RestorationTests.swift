import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A restore", .timeLimit(.minutes(30)))
final class RestorationTests {
    private let directory = TemporaryDirectory()
    private var state: String { directory.path + "/state" }
    private var good: String { directory.path + "/good.db" }
    private var bad: String { directory.path + "/bad.db" }

    /// A backup of a ledger with a row in each table that a delivery has.
    private func makeBackups() async throws {
        mkdir(state, 0o700)
        let source = directory.path + "/source"
        let ledger = try TestLedger(source)
        try await ledger.commit(
            Fixture.delivery(1) + [
                .tracker(.delivery(Fixture.tracked(1))), .customData(.entry(Fixture.entry(1), .pending, problem: nil)),
            ])
        for seq in 2...4 { try await ledger.commit(Fixture.delivery(Int64(seq))) }
        _ = try Backup.write(ledger.reader(), to: good)
        try FileCopy.make(of: good, at: bad)
    }

    private func restore(_ path: String?) throws -> Restoration {
        let file = path.map { open($0, O_RDONLY | O_CLOEXEC) }
        defer { if let file { close(file) } }
        return try Restoration.restore(
            file, into: state, at: WallTime(milliseconds: 1_760_000_000_000 + Int64(count)))
    }

    private var count: Int { names(in: state).count }

    @Test(
        "refuses a backup whose schema differs from a ledger's in any object",
        arguments: [
            ("CREATE TRIGGER evil AFTER INSERT ON request_rows BEGIN DELETE FROM request_rows; END", "trigger evil"),
            ("CREATE INDEX more ON request_rows (app)", "index more"), ("CREATE VIEW seen AS SELECT 1", "view seen"),
            ("CREATE TABLE more (a)", "table more"), ("DROP INDEX requests_by_time", "index requests_by_time"),
            ("ALTER TABLE gaps ADD COLUMN more INTEGER", "table gaps"), ("DROP TABLE clock_steps", "table clock_steps"),
        ])
    func schema(statement: String, name: String) async throws {
        try await makeBackups()
        try Database(path: bad, access: .readWrite).execute(statement)
        let error = #expect(throws: StoreError.self) { _ = try restore(bad) }
        #expect(error?.kind == .corrupt && error?.message.contains(name) == true, "\(error?.description ?? "")")
        #expect(names(in: state) == ["lock"], "nothing is left of it")
        #expect(try restore(good).backup.requests == 4)
        #expect(try TestLedger(state).storedNumbers() == [1, 2, 3, 4])
    }

    @Test(
        "refuses rows that this program does not write, and names the column",
        arguments: [
            ("meta SET highest_seq = 9223372036854775806", "meta: highest_seq"),
            ("meta SET highest_cursor = -1", "meta: highest_cursor"),
            ("meta SET highest_entry = 1 << 62", "meta: highest_entry"),
            ("request_rows SET seq = 9223372036854775806 WHERE seq = 4", "request_rows: seq"),
            ("request_rows SET platform = 3", "request_rows: platform"),
            ("request_rows SET accepted_at = 9223372036854775807", "request_rows: accepted_at"),
            ("request_rows SET accepted_ns = -9223372036854775808", "request_rows: accepted_ns"),
            ("request_rows SET uid = 4294967296", "request_rows: uid"),
            ("request_rows SET app = 77", "request_rows: app"),
            ("request_rows SET boot = x'00'", "request_rows: boot"),
            ("invocation_rows SET budget_us = 9223372036854775807", "invocation_rows: budget_us"),
            ("invocation_rows SET outcome = -1", "invocation_rows: outcome"),
            ("event_rows SET cursor = 9223372036854775807 WHERE cursor = 4", "event_rows: cursor"),
            ("event_rows SET id = x'0011'", "event_rows: id"),
            ("tracked_deliveries SET since_at = 9223372036854775807", "tracked_deliveries: since_at"),
            ("entries SET state = 'lost'", "entries: state"),
            ("entries SET state = 'claimed', claimant = NULL", "entries: state"),
            ("log_position SET segment_end = -1", "log_position: segment_end"),
            ("figure_state SET first_minute = -1", "figure_state: first_minute"),
            ("figure_state SET pruned_minute = 1 << 31", "figure_state: pruned_minute"),
            (
                "figures_by_minute SET place = 1 << 62 WHERE place = (SELECT max(place) FROM figures_by_minute)",
                "figures_by_minute: place"
            ),
        ])
    func rows(change: String, place: String) async throws {
        let words = place.replacing(": ", with: " has an invalid value in ")
        try await makeBackups()
        try Database(path: bad, access: .readWrite).execute("UPDATE \(change)")
        let error = #expect(throws: StoreError.self) { _ = try restore(bad) }
        #expect(error?.kind == .corrupt && error?.message.contains(words) == true, "\(error?.description ?? "")")
        #expect(names(in: state) == ["lock"])
    }

    @Test("accepts every row that this program writes")
    func wholeRows() async throws {
        mkdir(state, 0o700)
        let source = directory.path + "/source"
        do {
            let ledger = try TestLedger(source)
            try await ledger.commit(Whole.records)
            _ = try Backup.write(ledger.reader(), to: good)
        }
        #expect(try restore(good).setAside == nil)
    }

    @Test(
        "with a good backup, or without one, repairs a ledger with damaged numbers: new ones do not continue them",
        arguments: [true, false])
    func cures(isEmpty: Bool) async throws {
        try await makeBackups()
        _ = try restore(good)
        try Database(path: state + "/ledger.db", access: .readWrite).execute(
            "UPDATE meta SET highest_seq = 9223372036854775806, highest_cursor = 9223372036854775806")
        let starting = #expect(throws: StoreError.self) {
            let reader = try LedgerReader(directory: state)
            _ = try reader.highestSequenceNumber()
        }
        #expect(starting?.kind == .corrupt)
        let restored = try restore(isEmpty ? nil : good)
        #expect(restored.setAside != nil && !restored.continuesNumbers)
        let ledger = try TestLedger(state)
        #expect(try ledger.reader().highestSequenceNumber() == SequenceNumber(1_000_000_000 + (isEmpty ? 0 : 4)))
        try await ledger.commit(Fixture.delivery(1_000_000_005))
    }

    @Test("from a backup with any bit flipped gives an error or a ledger that can be opened", arguments: UInt64(1)...4)
    func flippedBits(seed: UInt64) async throws {
        try await makeBackups()
        let bytes = try #require(readFile(good))
        var random = SeededGenerator(seed: seed)
        var refused = 0
        for round in 0..<60 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            }
            let state = "\(directory.path)/state-\(round)"
            mkdir(state, 0o700)
            let file = open(state + "/ledger.db", O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
            #expect(write(file, damaged, damaged.count) == damaged.count)
            close(file)
            do {
                // Reads it as a start does: an error, and never a trap.
                let ledger = try TestLedger(state)
                let reader = try ledger.reader()
                _ = (
                    try reader.highestSequenceNumber(), try reader.highestEntryNumber(),
                    try reader.pendingInvocationCount()
                )
                _ = (try reader.knownDevices(), try reader.recentDeliveries(), try reader.heldInteractions())
                try reader.rows { _ in }
                try reader.sessions { _ in }
                try reader.sessionStarts { _ in }
                try reader.trackedDeliveries(newest: 100) { _, _ in }
                try reader.unfinishedEntries { _ in }
                _ = (try reader.gaps(), try reader.lastAlive(), try reader.story(of: SequenceNumber(1)))
            } catch is StoreError { refused += 1 }
        }
        print("flipped bits: \(refused) of 60 refused")
    }
}
