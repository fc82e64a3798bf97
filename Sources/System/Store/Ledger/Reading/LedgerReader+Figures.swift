public import PushModel

/// The figures of a window of time, and the parts of it that must be read as rows.
public struct LedgerFigures: Sendable {
    /// The minutes that are counted; empty if the window has no whole minute.
    public let minutes: Range<Int64>
    /// The parts of the window that are not counted, in order: parts of the minutes at its edges.
    public let rest: [AcceptanceWindow]
    /// The time before which rows of the window were pruned, so that only figures count there; `nil` if the window has
    /// all its rows.
    public var rowsBegin: WallTime?
    /// The figures of invocations by key, in the order of the names of the keys.
    public internal(set) var keys: [(key: FigureKey, figures: KeyFigures)] = []
    /// The figures that belong to no key.
    public internal(set) var whole = SpanFigures()
}

/// A half-open window of the time of acceptance; `nil` means no bound.
public struct AcceptanceWindow: Hashable, Sendable {
    /// The first instant in it.
    public var from: WallTime?
    /// The first instant after it.
    public var to: WallTime?
}

// The caller reads all of these in one snapshot.
extension LedgerReader {
    /// Returns the time from which a window has all its rows; `nil` if none were pruned.
    public func rowsBegin(from start: WallTime?, to end: WallTime?) throws(StoreError) -> WallTime? {
        try countedPart(from: start, to: end).rowsBegin
    }

    /// Returns the figures of the requests accepted at or after `start` and before `end`; `nil` means no bound.
    public func figures(from start: WallTime?, to end: WallTime?) throws(StoreError) -> LedgerFigures {
        var figures = try countedPart(from: start, to: end)
        var numbers: [Int64: KeyFigures] = [:]
        var rows: [SpanLength: StatementBox] = [:]
        for length in SpanLength.allCases {
            rows[length] = StatementBox(
                try database.prepare(
                    """
                    SELECT place, figures FROM \(FigureTable.name(length)) WHERE place >= ?1 AND place < ?2
                    """))
        }
        try forEachSpan(in: figures.minutes, longest: .days) { (length, span) throws(StoreError) in
            guard let box = rows[length] else { return }
            box.statement.bind(FigureTable.place(span), at: 1)
            box.statement.bind(FigureTable.place(span + 1), at: 2)
            defer { box.statement.reset() }
            while try box.statement.step() {
                let number = box.statement.integer(0) & FigureTable.keyMask
                do throws(FigureError) {
                    if number == 0 {
                        try figures.whole.add(box.statement.lentBytes(1))
                    } else {
                        try numbers[number, default: KeyFigures()].add(box.statement.lentBytes(1))
                    }
                } catch {
                    throw unreadable(error)
                }
            }
        }
        var names = try database.prepare("SELECT name FROM figure_keys WHERE number = ?1")
        var named: [(name: String, figures: KeyFigures)] = []
        for (number, counted) in numbers {
            names.bind(number, at: 1)
            defer { names.reset() }
            guard try names.step() else {
                throw StoreError(.corrupt, message: "figures name key \(number), which the ledger lacks", context: path)
            }
            named.append((names.text(0) ?? "", counted))
        }
        for (name, counted) in named.sorted(by: { $0.name < $1.name }) {
            do throws(FigureError) {
                figures.keys.append((try FigureKey(named: name), counted))
            } catch {
                throw unreadable(error)
            }
        }
        return figures
    }

    /// Returns the first and the last of some minutes with an accepted invocation that has ended, observers aside.
    public func boundsOfDecided(in minutes: Range<Int64>) throws(StoreError) -> ClosedRange<Int64>? {
        let table = FigureTable.name(.minute)
        func find(_ sql: String, _ bound: Int64, next: (Int64) -> Int64) throws(StoreError) -> Int64? {
            var statement = try database.prepare(sql)
            var bound = bound
            while true {
                statement.bind(bound, at: 1)
                guard try statement.step() else { return nil }
                let minute = try statement.minuteOfPlace(0)
                statement.reset()
                guard minutes.contains(minute) else { return nil }
                if try spanFigures(.minute, minute)?.decided ?? 0 > 0 { return minute }
                bound = FigureTable.place(next(minute))
            }
        }
        let first = try find(
            "SELECT place FROM \(table) WHERE place >= ?1 ORDER BY place LIMIT 1",
            FigureTable.place(minutes.lowerBound)
        ) { $0 + 1 }
        let last = try find(
            "SELECT place FROM \(table) WHERE place < ?1 ORDER BY place DESC LIMIT 1",
            FigureTable.place(minutes.upperBound)
        ) { $0 }
        guard let first, let last else { return nil }
        return first...last
    }

    /// Streams the figures that belong to no key, span by span, in order.
    ///
    /// - Parameters:
    ///   - minutes: the minutes to cover.
    ///   - longest: the longest span, in minutes.
    ///   - body: gets the first minute of a span, its length in minutes, and its figures.
    public func spans(
        in minutes: Range<Int64>, longest: Int64,
        _ body: (_ minute: Int64, _ minutes: Int64, _ figures: SpanFigures) -> Void
    ) throws(StoreError) {
        let longest = SpanLength.allCases.last { $0.minutes <= longest } ?? .minute
        try forEachSpan(in: minutes, longest: longest) { (length, span) throws(StoreError) in
            guard let figures = try spanFigures(length, span) else { return }
            body(length.firstMinute(of: span), length.minutes, figures)
        }
    }

    /// Returns the minutes with due invocations, observers aside, those side by side together.
    public func minutesWithDue(in minutes: Range<Int64>) throws(StoreError) -> [Range<Int64>] {
        var found = [minutes]
        for length in SpanLength.allCases.reversed() {
            var shorter: [Range<Int64>] = []
            for part in found {
                try spans(in: part, longest: length.minutes) { minute, minutes, figures in
                    guard figures.due > 0 else { return }
                    if let last = shorter.last, last.upperBound == minute {
                        shorter[shorter.count - 1] = last.lowerBound..<minute + minutes
                    } else {
                        shorter.append(minute..<minute + minutes)
                    }
                }
            }
            found = shorter
        }
        return found
    }

    /// Streams the rows of invocations that were due, observers aside.
    public func dueRows(in minutes: Range<Int64>, _ body: (LedgerRow) -> Void) throws(StoreError) {
        let due = LedgerTable.invocations.has("outcome", anyOf: Outcome.allCases.filter(\.isDue))
        let statement = try database.prepare(
            """
            SELECT \(Self.rowColumns)
            FROM \(LedgerTable.requests.source) INDEXED BY requests_by_time
                CROSS JOIN \(LedgerTable.invocations.source) USING (seq)
            WHERE accepted_at >= ?1 AND accepted_at < ?2 AND observer = 0 AND \(due)
            """)
        statement.bind(FigureMinute.begin(minutes.lowerBound), before: FigureMinute.begin(minutes.upperBound))
        while try statement.step() { body(try statement.ledgerRow()) }
    }

    /// Streams how many invocations failed within their deadline, observers aside, span by span, in order.
    ///
    /// - Parameters:
    ///   - longest: the longest span, in minutes.
    ///   - body: gets the first minute of a span, and the number.
    public func failures(
        in minutes: Range<Int64>, longest: Int64, _ body: (_ minute: Int64, _ count: Int) -> Void
    ) throws(StoreError) {
        var failing: [Int64] = []
        let names = try database.prepare("SELECT number, name FROM figure_keys")
        while try names.step() {
            do throws(FigureError) {
                let key = try FigureKey(named: names.text(1) ?? "")
                if key.outcome == .failed, !key.isObserver { failing.append(names.integer(0)) }
            } catch {
                throw unreadable(error)
            }
        }
        guard !failing.isEmpty else { return }
        let longest = SpanLength.allCases.last { $0.minutes <= longest } ?? .minute
        try forEachSpan(in: minutes, longest: longest) { (length, span) throws(StoreError) in
            var count = 0
            var statement = try database.prepare(
                "SELECT figures FROM \(FigureTable.name(length)) WHERE place = ?1")
            for key in failing {
                statement.bind(FigureTable.place(span) + key, at: 1)
                defer { statement.reset() }
                guard try statement.step() else { continue }
                do throws(FigureError) { count += try KeyFigures(statement.lentBytes(0)).count } catch {
                    throw unreadable(error)
                }
            }
            if count > 0 { body(length.firstMinute(of: span), count) }
        }
    }

    /// Returns how many invocations were due and how many missed their deadline, observers aside, of the requests
    /// accepted at or after `start` and before `end`.
    public func deadlines(from start: WallTime, to end: WallTime) throws(StoreError) -> (due: Int, missed: Int) {
        let part = try countedPart(from: start, to: end)
        var (due, missed) = (0, 0)
        try spans(in: part.minutes, longest: SpanLength.days.minutes) { _, _, figures in
            due += figures.due
            missed += figures.missed
        }
        func ended(_ isMeant: (Outcome) -> Bool) -> String {
            LedgerTable.invocations.has("outcome", anyOf: Outcome.allCases.filter(isMeant))
        }
        var rows = try database.prepare(
            """
            SELECT count(*), count(*) FILTER (WHERE \(ended(\.isMissed)))
            FROM \(LedgerTable.requests.source) INDEXED BY requests_by_time
                CROSS JOIN \(LedgerTable.invocations.source) USING (seq)
            WHERE accepted_at >= ?1 AND accepted_at < ?2 AND observer = 0 AND \(ended(\.isDue))
            """)
        for window in part.rest {
            rows.bind(window.from, before: window.to)
            if try rows.step() {
                due += try rows.value(0)
                missed += try rows.value(1)
            }
            rows.reset()
        }
        return (due, missed)
    }

    /// Returns the rows of invocations in flight, of the requests accepted at or after `start` and before `end`.
    public func pendingRows(from start: WallTime?, to end: WallTime?) throws(StoreError) -> [LedgerRow] {
        let statement = try database.prepare(
            """
            SELECT \(Self.rowColumns)
            FROM \(LedgerTable.invocations.source) INDEXED BY invocations_pending CROSS JOIN \(LedgerTable.requests.source) USING (seq)
            WHERE outcome IS NULL AND accepted_at >= ?1 AND accepted_at < ?2 ORDER BY seq, n
            """)
        statement.bind(start, before: end)
        var rows: [LedgerRow] = []
        while try statement.step() { rows.append(try statement.ledgerRow()) }
        return rows
    }

    /// Returns the rows of some invocations, without those that the ledger no longer has.
    public func rows(of ids: [InvocationID]) throws(StoreError) -> [LedgerRow] {
        var statement = try database.prepare(
            """
            SELECT \(Self.rowColumns) FROM \(LedgerTable.requests.source) CROSS JOIN \(LedgerTable.invocations.source) USING (seq)
            WHERE requests.seq = ?1 AND n = ?2
            """)
        var rows: [LedgerRow] = []
        for id in ids {
            statement.bind(id.seq.value, at: 1)
            statement.bind(Int64(id.n), at: 2)
            if try statement.step() { rows.append(try statement.ledgerRow()) }
            statement.reset()
        }
        return rows
    }

    /// Returns the times of the first and the last request accepted at or after `start` and before `end`; `nil` if
    /// there is none. Both come from the index by time; for requests whose rows were pruned, the minute is known.
    public func acceptedTimes(from start: WallTime?, to end: WallTime?) throws(StoreError) -> ClosedRange<WallTime>? {
        func find(_ order: String) throws(StoreError) -> WallTime? {
            let statement = try database.prepare(
                """
                SELECT accepted_at FROM request_rows WHERE accepted_at >= ?1 AND accepted_at < ?2
                ORDER BY accepted_at \(order) LIMIT 1
                """)
            statement.bind(start, before: end)
            return try statement.step() ? try statement.value(0) : nil
        }
        var times: ClosedRange<WallTime>?
        if let first = try find("ASC"), let last = try find("DESC") { times = first...last }
        let counted = try countedPart(from: start, to: end)
        guard let rowsBegin = counted.rowsBegin else { return times }
        let statement = try database.prepare(
            """
            SELECT min(place), max(place) FROM \(FigureTable.name(.minute)) WHERE place >= ?1 AND place < ?2
            """)
        statement.bind(FigureTable.place(counted.minutes.lowerBound), at: 1)
        statement.bind(FigureTable.place(FigureMinute.of(milliseconds: rowsBegin.milliseconds)), at: 2)
        guard try statement.step(), !statement.isNull(0) else { return times }
        let first = FigureMinute.begin(try statement.minuteOfPlace(0))
        return min(
            first, times?.lowerBound ?? first)...max(
                times?.upperBound ?? first, FigureMinute.begin(try statement.minuteOfPlace(1)))
    }

    /// Returns how many of the requests accepted at or after `start` and before `end` have an earlier time than the
    /// request before them.
    public func clockSteps(from start: WallTime? = nil, to end: WallTime? = nil) throws(StoreError) -> Int {
        let statement = try database.prepare(
            "SELECT count(*) FROM clock_steps WHERE accepted_at >= ?1 AND accepted_at < ?2")
        statement.bind(start, before: end)
        return try statement.step() ? try statement.value(0) : 0
    }

    // MARK: Spans

    /// Returns the whole minutes of a window that have figures, and the rest of the window.
    ///
    /// A minute with pruned rows has figures only. It belongs to the window in which it begins, so adjacent windows
    /// count it once.
    private func countedPart(from start: WallTime?, to end: WallTime?) throws(StoreError) -> LedgerFigures {
        let state = try database.prepare("SELECT version, first_minute, pruned_minute FROM figure_state")
        guard try state.step(), state.integer(0) == FigureTable.version else {
            return LedgerFigures(minutes: 0..<0, rest: [AcceptanceWindow(from: start, to: end)])
        }
        let (counted, pruned) = (
            try state.integer(1, in: StoredRange.minute), try state.integer(2, in: StoredRange.minute)
        )
        let firstWhole = start.map(FigureMinute.first) ?? 0
        let lastMinute = end.map { FigureMinute.of(milliseconds: $0.milliseconds) } ?? FigureMinute.limit
        let endsWithin = end.map { FigureMinute.begin(lastMinute) < $0 } ?? false
        let minutes =
            max(
                firstWhole, counted)..<max(
                firstWhole, counted, endsWithin && lastMinute < pruned ? lastMinute + 1 : lastMinute)
        var rest: [AcceptanceWindow] = []
        if let start, FigureMinute.begin(firstWhole) > start, firstWhole > pruned {
            let begin = FigureMinute.begin(firstWhole)
            rest.append(AcceptanceWindow(from: start, to: end.map { min($0, begin) } ?? begin))
        }
        if let end, endsWithin, lastMinute >= max(pruned, firstWhole) {
            rest.append(AcceptanceWindow(from: FigureMinute.begin(lastMinute), to: end))
        }
        let isCut = minutes.lowerBound < min(pruned, minutes.upperBound)
        return LedgerFigures(
            minutes: minutes, rest: rest,
            rowsBegin: isCut ? FigureMinute.begin(min(pruned, minutes.upperBound)) : nil)
    }

    /// Calls `body` with the longest spans that lie within some minutes and have figures.
    private func forEachSpan(
        in minutes: Range<Int64>, longest: SpanLength,
        _ body: (_ length: SpanLength, _ span: Int64) throws(StoreError) -> Void
    ) throws(StoreError) {
        var next = try database.prepare(
            "SELECT place FROM \(FigureTable.name(.minute)) WHERE place >= ?1 ORDER BY place LIMIT 1")
        var long: [(length: SpanLength, isThere: StatementBox)] = []
        for length in SpanLength.allCases.reversed() where length != .minute && length.minutes <= longest.minutes {
            let sql = "SELECT 1 FROM \(FigureTable.name(length)) WHERE place = ?1"
            long.append((length, StatementBox(try database.prepare(sql))))
        }
        var minute = minutes.lowerBound
        search: while minute < minutes.upperBound {
            next.bind(FigureTable.place(minute), at: 1)
            guard try next.step() else { return }
            minute = try next.minuteOfPlace(0)
            next.reset()
            guard minute < minutes.upperBound else { return }
            for (length, isThere) in long {
                let span = length.span(of: minute)
                let first = length.firstMinute(of: span)
                guard first >= minutes.lowerBound, first + length.minutes <= minutes.upperBound else { continue }
                isThere.statement.bind(FigureTable.place(span), at: 1)
                defer { isThere.statement.reset() }
                guard try isThere.statement.step() else { continue }
                try body(length, span)
                minute = first + length.minutes
                continue search
            }
            try body(.minute, minute)
            minute += 1
        }
    }

    private func spanFigures(_ length: SpanLength, _ span: Int64) throws(StoreError) -> SpanFigures? {
        let statement = try database.prepare("SELECT figures FROM \(FigureTable.name(length)) WHERE place = ?1")
        statement.bind(FigureTable.place(span), at: 1)
        guard try statement.step() else { return nil }
        do throws(FigureError) { return try SpanFigures(statement.lentBytes(0)) } catch { throw unreadable(error) }
    }

    private var path: String { database.path }

    private func unreadable(_ error: FigureError) -> StoreError {
        StoreError(.corrupt, message: error.message, context: path)
    }
}
