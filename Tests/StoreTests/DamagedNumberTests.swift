import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

/// A number outside the range of its column must give an error that names it: a trap would end the program at each
/// start.
@Suite("A number of a damaged ledger", .timeLimit(.minutes(30)))
final class DamagedNumberTests {
    private let directory = TemporaryDirectory()
    private var source: String { directory.path + "/source" }
    private var state: String { directory.path + "/state" }
    private var ledger: String { state + "/ledger.db" }

    private static let extremes: [Int64] = [.min, -1, FigureTable.place(FigureMinute.limit), .max]

    /// A ledger with a row in each table.
    private func makeSource() async throws {
        let ledger = try TestLedger(source)
        try await ledger.commit(Whole.records)
        _ = try Backup.write(ledger.reader(), to: directory.path + "/whole.db")
    }

    /// The columns with numbers, each as its table and its name.
    private func columns(of tables: [String]? = nil) throws -> [(table: String, column: String)] {
        let database = try Database(path: directory.path + "/whole.db", access: .readOnly)
        let list = try database.prepare(
            """
            SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' AND columns.type = 'INTEGER'
            """)
        var columns: [(String, String)] = []
        while try list.step() {
            guard let table = list.text(0), let column = list.text(1), tables?.contains(table) ?? true else { continue }
            columns.append((table, column))
        }
        return columns
    }

    /// Makes a state directory whose ledger has this number in a column of a row.
    ///
    /// - Returns: whether the table takes it.
    private func damage(_ table: String, _ column: String, _ number: Int64) throws -> Bool {
        for end in ["", "-wal", "-shm"] { unlink(ledger + end) }
        mkdir(state, 0o700)
        try FileCopy.make(of: directory.path + "/whole.db", at: ledger)
        let database = try Database(path: ledger, access: .readWrite)
        let change = "UPDATE \(table) SET \(column) = \(number)"
        for statement in [change + " WHERE rowid = (SELECT max(rowid) FROM \(table))", change] {
            if (try? database.execute(statement)) != nil { return true }
        }
        return false
    }

    /// Runs a body that may throw a `StoreError` about the damage.
    private func attempt(_ body: () throws -> Void) throws { do { try body() } catch is StoreError {} }

    @Test("is refused or read by every reader, and traps none", arguments: extremes)
    func readers(number: Int64) async throws {
        try await makeSource()
        for (table, column) in try columns() where try damage(table, column, number) {
            guard let reader = try? LedgerReader(directory: state) else { continue }
            try attempt { _ = (try reader.highestSequenceNumber(), try reader.highestEntryNumber()) }
            try attempt { _ = (try reader.knownDevices(), try reader.recentDeliveries()) }
            try attempt { try reader.pendingInvocations { _, _, _ in } }
            try attempt { _ = try reader.pendingAttempts() }
            try attempt { try reader.rows { _ in } }
            try attempt { _ = try reader.story(of: Whole.number(101)) }
            try attempt { _ = try reader.story(of: Whole.number(102)) }
            try attempt { _ = (try reader.gaps(), try reader.lastAlive(), try reader.lastBelieved()) }
            try attempt { _ = (try reader.events(after: 0, limit: 9), try reader.lastCursor()) }
            try attempt { try reader.interactions { _ in } }
            try attempt { _ = (try reader.heldInteractions(), try reader.pendingStarts()) }
            try attempt { try reader.sessions { _ in } }
            try attempt { try reader.sessionStarts { _ in } }
            try attempt { try reader.trackedDeliveries(newest: 9) { _, _ in } }
            try attempt { try reader.unfinishedEntries { _ in } }
            try attempt { try reader.entries(EntryFilter(states: Set(EntryState.allCases))) { _ in } }
            try attempt { _ = try reader.entryCounts(EntryFilter(states: Set(EntryState.allCases))) }
            try attempt { try reader.customEventDelays { _ in } }
            try attempt { _ = try reader.sendingState() }
            try attempt { for row in Whole.attributes { _ = try reader.attributes(of: row.owner) } }
            try attempt { _ = (try reader.deadLetters(DeadLetterFilter(), limit: 9), try reader.deadLetterTotals()) }
            try readFigures(reader)
            try follow(reader)
        }
    }

    private func readFigures(_ reader: LedgerReader) throws {
        let (early, late) = (WallTime(milliseconds: 1), WallTime(milliseconds: 1 << 48))
        for (start, end) in [(nil, nil), (early, late), (late, nil), (nil, early)] as [(WallTime?, WallTime?)] {
            try attempt {
                let figures = try reader.figures(from: start, to: end)
                if let bounds = try reader.boundsOfDecided(in: figures.minutes) {
                    try reader.spans(in: bounds.lowerBound..<bounds.upperBound + 1, longest: 1 << 20) { _, _, _ in }
                }
            }
            try attempt { _ = try reader.acceptedTimes(from: start, to: end) }
            try attempt { _ = try reader.pendingRows(from: start, to: end) }
            try attempt { _ = try reader.clockSteps(from: start, to: end) }
        }
        try attempt { _ = try reader.deadlines(from: early, to: late) }
    }

    private func follow(_ reader: LedgerReader) throws {
        for start in [nil, WallTime(milliseconds: -(1 << 48)), WallTime(milliseconds: 1 << 48)] as [WallTime?] {
            try attempt {
                var cursor = try reader.outcomeCursor(from: start, limit: 9)
                _ = try reader.outcomes(after: &cursor, limit: 9)
            }
            if let start { try attempt { _ = try reader.eventCursor(from: start) } }
        }
    }

    @Test(
        "is refused or accepted by a start, a pruning and a count of all figures, and traps none of them",
        arguments: extremes)
    func writer(number: Int64) async throws {
        try await makeSource()
        let tables = ["meta", "log_position", "figure_state", "figures_by_minute", "figure_keys", "texts", "life"]
        for (table, column) in try columns(of: tables) where try damage(table, column, number) {
            try attempt {
                let writer = try LedgerWriter(directory: state)
                try attempt {
                    let time = WallTime(milliseconds: 1 << 48)
                    _ = try writer.prune(
                        PruningSlice(
                            olderThan: time, limit: 9, deadLetters: DeadLetterLimits(cutoff: time, byteCountMax: 0),
                            figures: time))
                }
                try attempt { try writer.transaction { () throws(StoreError) in try writer.recountFigures() } }
                try attempt { while writer.isRollUpDue { try writer.rollUp() } }
            }
        }
    }

    @Test("in the figures gives an error that names the column")
    func figures() async throws {
        try await makeSource()
        for (table, column, number) in [
            ("figure_state", "pruned_minute", Int64.max), ("figures_by_minute", "place", Int64.max - 7),
        ] {
            #expect(try damage(table, column, number))
            let error = #expect(throws: StoreError.self) {
                try LedgerWriter(directory: state).transaction { () throws(StoreError) in }
            }
            let text = error?.description ?? ""
            #expect(error?.kind == .corrupt && text.contains("a row has"), "\(text)")
        }
    }

    @Test(
        "in the figures does not stop a salvage, which recounts them",
        arguments: ["figure_state", "figures_by_minute"])
    func salvage(table: String) async throws {
        try await makeSource()
        #expect(try damage(table, table == "figure_state" ? "pruned_minute" : "place", .max))
        let path = directory.path + "/salvaged.db"
        let salvage = try Salvage.write(from: state, to: path)
        #expect(salvage.tables.contains { $0.damage != nil }, "\(salvage.tables)")
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let restored = directory.path + "/restored"
        mkdir(restored, 0o700)
        _ = try Restoration.restore(file, into: restored, at: WallTime(milliseconds: 1))
        try LedgerWriter(directory: restored).transaction { () throws(StoreError) in }
    }

    @Test("in the list of a user's session starts gives an error")
    func starts() async throws {
        try await makeSource()
        #expect(try damage("session_starts", "since_at", 1))
        try Database(path: ledger, access: .readWrite).execute(
            "UPDATE session_starts SET starts = x'7fffffffffffffff8000000000000000'")
        #expect(throws: StoreError.self) { try LedgerReader(directory: state).sessionStarts { _ in } }
    }

    @Test("in the count of failures, or in the state of an entry without a claimant, gives an error")
    func customData() async throws {
        try await makeSource()
        #expect(try damage("sending", "failures", .max))
        #expect(throws: StoreError.self) { _ = try LedgerReader(directory: state).sendingState() }
        #expect(try damage("sending", "failures", 1))
        try Database(path: ledger, access: .readWrite).execute(
            "UPDATE entries SET state = 'claimed', claimant = NULL")
        #expect(throws: StoreError.self) { try LedgerReader(directory: state).unfinishedEntries { _ in } }
    }
}
