import TestSupport
import Testing

@testable import LedgerReports
@testable import PushModel
@testable import PushViews
@testable import Store

@Suite("A report from figures equals the report from rows", .timeLimit(.minutes(30)))
struct ReportReadingTests {
    /// The report in all formats with figures, from the ledger's figures.
    private func fromFigures(_ reader: LedgerReader, _ window: ReportWindow, end: WallTime) throws -> [String] {
        var reading = reading(window, end)
        try reader.snapshot { () throws(StoreError) in try reading.read(reader) }
        return try formats(reading)
    }

    /// The same reports from rows alone.
    private func fromRows(_ reader: LedgerReader, _ window: ReportWindow, end: WallTime) throws -> [String] {
        var reading = reading(window, end)
        try reader.rows(from: window.since, to: window.until) { row in
            reading.add(row)
            reading.report.cover(row.acceptedAt...row.acceptedAt)
        }
        try reader.answers(from: window.since, to: window.until) { reading.report.add($1, of: $0, count: $2) }
        reading.detail.clockSetBack = try reader.clockSteps(from: window.since, to: window.until)
        try reader.rows { row in if let row = ReportRow(row) { reading.rates?.add(row) } }
        return try formats(reading)
    }

    private func reading(_ window: ReportWindow, _ end: WallTime) -> ReportReading {
        var reading = ReportReading(
            report: ComplianceReport(window: window, mode: .device, budget: .seconds(9)),
            detail: ReportDetail(crossed: [[.handler, .app], [.priority], [.outcome, .callback]]))
        reading.rates = BurnRates(end: end)
        return reading
    }

    private func formats(_ reading: ReportReading) throws -> [String] {
        let objective = try #require(Percent("99.9"))
        let document = ReportDocument(
            report: reading.report, detail: reading.detail,
            serviceLevel: ServiceLevel(
                objective: objective, compliance: reading.report.compliance, rates: reading.rates))
        return [String(decoding: document.json, as: UTF8.self), document.markdown]
    }

    /// Compares both over everything, over windows that begin and end within minutes, and over short ones.
    private func compare(_ ledger: RandomLedger, _ comment: Comment? = nil) throws {
        let reader = try ledger.reader
        let (begin, end) = (RandomLedger.begin, ledger.now)
        let third = (end - begin) / 3
        let windows: [(Int64?, Int64?)] = [
            (nil, nil), (begin + third, nil), (nil, end - third), (begin + third, end - third),
            ((begin + third) / 60_000 * 60_000, (end - third) / 60_000 * 60_000), (begin + third, begin + third + 500),
            (end - 60_000, end), (end - 3_600_000, nil), (end, begin),
        ]
        for (since, until) in windows {
            let window = ReportWindow(
                since: since.map(WallTime.init(milliseconds:)), until: until.map(WallTime.init(milliseconds:)))
            let last = min(window.until ?? WallTime(milliseconds: end), WallTime(milliseconds: end))
            let (figures, rows) = try (fromFigures(reader, window, end: last), fromRows(reader, window, end: last))
            for (left, right) in zip(figures, rows) where left != right {
                let place = max(300, zip(left.utf8, right.utf8).prefix { $0 == $1 }.count)
                let (left, right) = (Array(left.utf8.dropFirst(place - 300)), Array(right.utf8.dropFirst(place - 300)))
                Issue.record(
                    """
                    \(comment?.rawValue ?? "") window \(since.map { $0 - begin } ?? -1), \(until.map { $0 - begin } ?? -1):
                    \(String(decoding: left.prefix(400), as: UTF8.self))
                    rows: \(String(decoding: right.prefix(400), as: UTF8.self))
                    """)
                return
            }
        }
    }

    @Test("after any mix of stores, later ends, rollbacks and roll-ups", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        let ledger = try RandomLedger(seed: seed)
        for round in 0..<6 {
            try ledger.store(60, pause: [2000, 60_000, 600][round % 3])
            if round % 4 == 1 { try ledger.fail() }
            if round % 5 == 2 { try ledger.reopen() }
            if round % 3 == 2 { try ledger.rollUp() }
            if round % 2 == 1 { try compare(ledger, "round \(round)") }
        }
    }

    @Test("over weeks, most of which is rolled up to hours and days")
    func weeks() throws {
        let ledger = try RandomLedger(seed: 4)
        for _ in 0..<8 { try ledger.store(70, pause: 4_000_000) }
        try ledger.rollUp()
        let database = try Database(path: ledger.directory.path + "/ledger.db", access: .readOnly)
        #expect(try database.integer("SELECT count(*) FROM figures_by_days WHERE place & 4294967295 = 0") > 3)
        try compare(ledger)
        // Later ends, and requests at earlier times, change figures that were rolled up.
        try ledger.store(100, pause: 100)
        try compare(ledger, "after more")
    }

    @Test("after ends that come long after their hours and days were rolled up")
    func late() throws {
        let ledger = try RandomLedger(seed: 7)
        for _ in 0..<8 {
            try ledger.store(70, pause: 4_000_000)
            ledger.hold()
        }
        try ledger.store(70, pause: 4_000_000)
        try ledger.rollUp()
        #expect(ledger.held.count >= 8)
        try compare(ledger, "in flight")
        try ledger.endHeld()
        try compare(ledger, "ended")
        try ledger.store(70, pause: 60_000)
        try ledger.rollUp()
        try compare(ledger, "added up again")
    }

    @Test("when rows are pruned, by age and by slices, with invocations in flight left")
    func pruned() throws {
        let ledger = try RandomLedger(seed: 5)
        for _ in 0..<4 { try ledger.store(100, pause: 20_000) }
        try ledger.rollUp()
        let (begin, end) = (RandomLedger.begin, ledger.now)
        let middle = WallTime(milliseconds: (begin + end) / 2 + 1234)
        let minute = { (time: Int64) in WallTime(milliseconds: time / 60_000 * 60_000) }
        let windows = [
            ReportWindow(), ReportWindow(since: minute(begin), until: minute(end)),
            ReportWindow(since: minute(begin + (end - begin) / 3), until: nil),
            ReportWindow(since: minute(begin), until: minute(begin + (end - begin) / 4)),
        ]
        func counts(_ reader: LedgerReader? = nil) throws -> [[Int]] {
            let reader = try reader ?? ledger.reader
            return try windows.map { window in
                var reading = self.reading(window, WallTime(milliseconds: end))
                try reader.snapshot { () throws(StoreError) in try reading.read(reader) }
                let report = reading.report
                return [report.accepted, report.compliance.due, report.compliance.missed]
                    + Outcome.allCases.map { report.outcomes[$0] ?? 0 }
            }
        }
        let before = try counts()
        #expect(before.allSatisfy { $0[0] > 20 })
        repeat {
            #expect(try counts() == before)
        } while try ledger.writer.prune(PruningSlice(olderThan: middle, limit: 64)).isPartial
        #expect(try counts() == before)
        try ledger.reopen()
        #expect(try counts() == before, "opened again")
        let state = try Database(path: ledger.directory.path + "/ledger.db", access: .readWrite)
        #expect(try state.integer("SELECT min(place) >> 32 FROM figures_by_minute") < middle.milliseconds / 60_000)
        #expect(try state.integer("SELECT pruned_minute FROM figure_state") > middle.milliseconds / 60_000)
        // An erasure recounts the minutes with rows, and keeps the figures of the others.
        try ledger.writer.database.execute("BEGIN")
        try ledger.writer.recountFigures()
        try ledger.writer.database.execute("COMMIT")
        #expect(try counts() == before, "counted anew")
        var reading = self.reading(ReportWindow(), WallTime(milliseconds: end))
        let reader = try ledger.reader
        try reader.snapshot { () throws(StoreError) in try reading.read(reader) }
        #expect(reading.detail.rowsBegin.map { $0 > middle } == true)
        #expect(try reader.rowsBegin(from: nil, to: nil) == reading.detail.rowsBegin, "as the campaigns have it")
        #expect(try reader.rowsBegin(from: WallTime(milliseconds: end), to: nil) == nil)
        // A salvage keeps them as well.
        let salvaged = TemporaryDirectory()
        func countsOfSalvage() throws -> [[Int]] {
            _ = try Salvage.write(from: ledger.directory.path, to: salvaged.path + "/ledger.db")
            return try counts(LedgerReader(directory: salvaged.path))
        }
        #expect(try countsOfSalvage() == before, "salvaged")
        // Figures of another version cannot be recounted with rows missing: no figures are better than biased ones.
        try state.execute("UPDATE figure_state SET version = 0")
        try ledger.reopen()
        #expect(try state.integer("SELECT first_minute = pruned_minute FROM figure_state") == 1)
    }

    @Test("except that a salvage leaves out unreadable figures without rows, and reports it")
    func unreadable() throws {
        let ledger = try RandomLedger(seed: 6)
        for _ in 0..<2 { try ledger.store(100, pause: 20_000) }
        let middle = WallTime(milliseconds: (RandomLedger.begin + ledger.now) / 2)
        while try ledger.writer.prune(PruningSlice(olderThan: middle, limit: 64)).isPartial {}
        let state = try Database(path: ledger.directory.path + "/ledger.db", access: .readWrite)
        try state.execute(
            "UPDATE figures_by_minute SET figures = x'ff' WHERE place >> 32 < (SELECT pruned_minute FROM figure_state)")
        let salvaged = TemporaryDirectory()
        let salvage = try Salvage.write(from: ledger.directory.path, to: salvaged.path + "/ledger.db")
        #expect(salvage.tables.contains { $0.name == "figures" && $0.damage != nil } && !salvage.isWhole)
        let reader = try LedgerReader(directory: salvaged.path)
        let pruned = try #require(try reader.rowsBegin(from: nil, to: nil) ?? middle)
        let kept = try state.integer("SELECT count(*) FROM request_rows WHERE accepted_at >= \(pruned.milliseconds)")
        let counted = try reader.figures(from: nil, to: nil).whole.requests
        #expect(counted > 0 && counted <= kept, "nothing of what has no rows")
    }

    @Test("after an erasure of a person whose requests had attempts or were in flight", arguments: [8, 9] as [UInt64])
    func erased(seed: UInt64) throws {
        let ledger = try RandomLedger(seed: seed)
        for _ in 0..<3 { try ledger.store(80, pause: 60_000) }
        let order = ErasureOrder(
            person: Person(externalID: nil, devices: ["d1"]),
            bound: ErasureBound(request: SequenceNumber(120), entry: EntryNumber(0)), takesUndecided: true)
        let receipt = try ledger.writer.erase(order)
        #expect(receipt?.requests == 120)
        try compare(ledger, "erased")
        try ledger.reopen()
        try compare(ledger, "opened again")
    }

    @Test("a report from recounted figures equals the report from rows")
    func recount() throws {
        let ledger = try RandomLedger(seed: 6)
        for _ in 0..<3 { try ledger.store(80, pause: 60_000) }
        let database = try Database(path: ledger.directory.path + "/ledger.db", access: .readWrite)
        let keys = "SELECT group_concat(name, '') FROM (SELECT name FROM figure_keys ORDER BY name)"
        let before = try text(database, keys)
        try database.execute("UPDATE figure_state SET version = 0")
        try compare(ledger, "without figures")
        try ledger.reopen()
        #expect(try database.integer("SELECT version FROM figure_state") == FigureTable.version)
        try compare(ledger, "counted anew")
        #expect(try text(database, keys) == before)
        try ledger.store(100, pause: 60_000)
        try compare(ledger, "after more")
    }

    private func text(_ database: borrowing Database, _ sql: String) throws -> String? {
        let statement = try database.prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    @Test("with many apps in a minute, some counted separately and the others together")
    func manyApps() throws {
        let ledger = try RandomLedger(seed: 7, apps: 100_000, stepsBack: 0)
        try ledger.store(700, pause: 1)
        let reader = try ledger.reader
        let figures = try reader.figures(from: nil, to: nil)
        let apps = Set(figures.keys.compactMap(\.key.app))
        #expect(apps.count == FigureRows.appsOfMinute)
        var rows = 0
        try reader.rows { rows += $0.invocation?.result == nil ? 0 : 1 }
        #expect(figures.keys.reduce(0) { $0 + $1.figures.count } == rows)
        #expect(figures.keys.contains { $0.key.isOtherApp && $0.figures.count > 0 })
    }
}
