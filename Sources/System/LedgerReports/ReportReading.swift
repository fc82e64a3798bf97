public import PushModel
public import PushRouter
public import PushViews
public import Store

/// The content of a report, read from the ledger's figures, and from rows where there are no figures.
public struct ReportReading {
    /// The compliance with deadlines.
    public var report: ComplianceReport
    /// The figures by key, and over time.
    public var detail: ReportDetail
    /// The rates at which the budget of misses is used up, if they were requested.
    public var rates: BurnRates?

    /// Creates an empty reading.
    ///
    /// - Parameters:
    ///   - report: the report, with the window to read.
    ///   - detail: the details of the report.
    public init(report: ComplianceReport, detail: ReportDetail) {
        self.report = report
        self.detail = detail
    }

    /// Reads the report's window, in one snapshot.
    public mutating func read(_ ledger: LedgerReader) throws(StoreError) {
        let window = report.window
        let figures = try ledger.figures(from: window.since, to: window.until)
        detail.rowsBegin = figures.rowsBegin
        try add(figures, ledger)
        for window in figures.rest {
            report.beginRows()
            try ledger.rows(from: window.from, to: window.to) { add($0) }
            try ledger.answers(from: window.from, to: window.to) { report.add($1, of: $0, count: $2) }
        }
        if let times = try ledger.acceptedTimes(from: window.since, to: window.until) { report.cover(times) }
        detail.clockSetBack = try ledger.clockSteps(from: window.since, to: window.until)
        detail.daemonGaps = try ledger.gaps(from: window.since, to: window.until)
        try readRates(ledger)
    }

    /// Counts one row. Rows must come in the order of their ids.
    public mutating func add(_ row: LedgerRow) {
        guard let row = ReportRow(row) else { return report.add(requestWithoutInvocation: row.operation) }
        report.add(row)
        detail.add(row)
    }

    private mutating func add(_ figures: LedgerFigures, _ ledger: LedgerReader) throws(StoreError) {
        guard !figures.minutes.isEmpty else { return }
        for (key, counted) in figures.keys {
            report.add(counted, of: key)
            detail.add(counted, of: key)
        }
        try addInFlight(figures, ledger)
        try addLists(figures.whole, ledger)
        guard let decided = try ledger.boundsOfDecided(in: figures.minutes) else { return }
        // Widens the timeline first, so that no span of the ledger is longer than one of its spans.
        detail.timeline.makeRoom(forMinute: decided.lowerBound)
        detail.timeline.makeRoom(forMinute: decided.upperBound)
        try ledger.spans(in: figures.minutes, longest: detail.timeline.width / 60_000) { minute, minutes, figures in
            detail.timeline.add(figures, minute: minute, minutes: minutes)
        }
        guard figures.whole.due > 0 else { return }
        try addCalls(figures, decided, ledger)
        let longest = detail.timeline.width / 60_000
        try ledger.failures(in: figures.minutes, longest: longest) { minute, count in
            detail.timeline.add(failed: count, minute: minute)
        }
    }

    /// The most requests that are read for a picture.
    private static let calledMax = 100_000

    /// Adds the rows of due calls, if there are few, or if all lie close together.
    private mutating func addCalls(
        _ figures: LedgerFigures, _ decided: ClosedRange<Int64>, _ ledger: LedgerReader
    ) throws(StoreError) {
        let isShort = (decided.upperBound - decided.lowerBound) * 60 < CallTimes.secondsMax
        var parts = [decided.lowerBound..<decided.upperBound + 1]
        if figures.whole.due <= CallTimes.fewMax {
            parts = try ledger.minutesWithDue(in: figures.minutes)
        } else if !isShort {
            return
        }
        // Counts the requests first: no index finds due calls, so the query reads all requests of these minutes.
        var requests = 0
        for part in parts {
            try ledger.spans(in: part, longest: SpanLength.days.minutes) { requests += $2.requests }
        }
        guard requests <= Self.calledMax else { return }
        for part in parts {
            try ledger.dueRows(in: part) { row in
                if let row = ReportRow(row) { detail.calls.add(row) }
            }
        }
    }

    /// Adds invocations in flight, which no figure counts.
    private mutating func addInFlight(_ figures: LedgerFigures, _ ledger: LedgerReader) throws(StoreError) {
        let last = figures.minutes.upperBound
        let rows = try ledger.pendingRows(
            from: figures.minutes.lowerBound == 0 ? nil : FigureMinute.begin(figures.minutes.lowerBound),
            to: last == FigureMinute.limit ? nil : FigureMinute.begin(last)
        ).compactMap(ReportRow.init)
        for row in rows {
            report.add(inFlight: row)
            detail.add(row)
        }
        report.add(figures.whole, inFlight: rows.count { $0.invocation.id.n == 0 })
    }

    private mutating func addLists(_ whole: SpanFigures, _ ledger: LedgerReader) throws(StoreError) {
        func rows(_ list: LongestInvocations) throws(StoreError) -> [ReportRow] {
            try ledger.rows(of: list.entries.map(\.id)).compactMap(ReportRow.init)
        }
        let misses = try rows(whole.misses)
        report.list(
            slowest: try rows(whole.slowest), misses: Array(misses.prefix(Slowest.capacity)),
            waits: try rows(whole.longestWaits))
        detail.add(misses: misses, of: whole.missed)
    }

    private mutating func readRates(_ ledger: LedgerReader) throws(StoreError) {
        guard var rates else { return }
        let begins = rates.begins
        for (begin, end) in zip(begins, begins.dropFirst() + [rates.end]) {
            let (due, missed) = try ledger.deadlines(from: begin, to: end)
            rates.add(Compliance(due: due, missed: missed), from: begin)
        }
        self.rates = rates
    }
}

extension CampaignReport {
    /// The most taps on unknown pushes whose campaigns are looked up; later ones have none.
    private static let unknownMost = 100_000

    /// Reads the report's window, in one snapshot.
    ///
    /// - Parameter table: the rules for the campaign of a push that never reached the tracker.
    public mutating func read(_ ledger: LedgerReader, _ table: RoutingTable) throws(StoreError) {
        let (since, until) = (window.since, window.until)
        rowsBegin = try ledger.rowsBegin(from: since, to: until)
        try ledger.events(from: since, to: until) { event in add(event) }
        var unknown: [(row: InteractionRow, delivery: DeliveryReference)] = []
        try ledger.interactions(from: since, to: until) { found in
            let isDismissal = found.unmatched?.kind == .dismissed
            if !isDismissal, unknown.count < Self.unknownMost, let request = found.unmatched,
                let delivery = DeliveryReference(request, interaction: found.row.cause)
            {
                unknown.append((found.row, delivery))
            } else {
                add(found.row, campaign: found.campaignID, isLostOpen: !isDismissal)
            }
        }
        // The tracker does not know a push that the system showed; the ledger does.
        for (row, delivery) in unknown {
            let request = try ledger.delivery(delivery)?.request
            add(row, campaign: request.flatMap { table.detection.campaign(ofLine: $0.body, $0.platform) })
        }
        try ledger.rows(endedAs: [.shownBySystem, .sdkNotReady], from: since, to: until) { stored, line in
            guard let row = ReportRow(stored) else { return }
            guard row.invocation.result?.outcome == .shownBySystem else {
                let request = try? Request(acceptedLine: line)
                if case .interact(let interact)? = request?.action, interact.kind != .dismissed {
                    add(tapWithoutInstance: row)
                }
                return
            }
            add(row, campaign: table.detection.campaign(ofLine: line, row.platform))
        }
    }
}

extension LedgerSide {
    /// Reads its window, in one snapshot.
    ///
    /// - Parameter table: the rules for the campaign of a push that never reached the tracker.
    public mutating func read(_ ledger: LedgerReader, _ table: RoutingTable) throws(StoreError) {
        let (since, until) = (window.since, window.until)
        rowsBegin = try ledger.rowsBegin(from: since, to: until)
        var taps: [Tap] = []
        // A request may name a time long before its acceptance.
        try ledger.rows(endedAs: Self.outcomes, from: since) { row, line in
            guard let reported = ReportRow(row) else { return }
            if let tap = add(reported, row.operation, line: line, table.detection) { taps.append(tap) }
        }
        for start in try ledger.pendingStarts() { add(undecided: start) }
        for tap in taps {
            if let delivery = tap.delivery, let line = try ledger.line(of: delivery) {
                add(tap, ofLine: line, table.detection)
            }
        }
        try ledger.events(from: since, to: until) { event in add(event) }
        try ledger.interactions(from: since, to: until) {
            add($0.row, campaign: $0.campaignID, on: $0.platform)
        }
    }
}

extension ReportRow {
    /// Makes a report's row from one of the ledger; `nil` for a request without an invocation.
    public init?(_ row: LedgerRow) {
        guard let invocation = row.invocation else { return nil }
        self.init(
            invocation: invocation, mode: row.mode, platform: row.platform, app: row.app, device: row.device,
            id: row.id, messageID: row.messageID, acceptedAt: row.acceptedAt, transport: row.transport,
            originalPriority: row.originalPriority, deliveredPriority: row.deliveredPriority,
            replayOf: row.replayOf)
    }
}

extension LedgerReader {
    /// Opens the ledger of a state directory with everything that is acknowledged, with or without a daemon. Batches
    /// that the daemon cannot apply now are read from its log. If the daemon follows another machine, the ledger is its
    /// copy, as far as that has come.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - sync: asks the daemon to bring the ledger up to date; returns `nil` if there is no daemon to ask.
    public static func current(directory: String, sync: () -> Synced?) throws(StoreError) -> LedgerReader {
        let reader = try LedgerReader(directory: directory)
        guard let synced = sync(), synced.state == reader.stateIdentity, synced.isComplete || synced.follower != nil
        else {
            return try complete(directory: directory)
        }
        return reader
    }
}

/// The figures of the last minutes, updated as the ledger grows.
public struct LiveReading {
    private static let pageSize = 4096
    /// The largest number of earlier requests that the start reads.
    private static let pastRequests: Int64 = 100_000

    private let ledger: LedgerReader
    private var cursor: OutcomeCursor
    /// The figures, as far as they were read.
    public var figures: LiveFigures

    /// - Parameters:
    ///   - ledger: the ledger.
    ///   - now: the current time.
    public init(_ ledger: LedgerReader, at now: WallTime) throws(StoreError) {
        let begin = WallTime(milliseconds: now.milliseconds - LiveFigures.reach.milliseconds)
        let all = try ledger.outcomeCursor(from: begin)
        let some = try ledger.outcomeCursor(from: begin, limit: Self.pastRequests)
        self.ledger = ledger
        cursor = some
        figures = LiveFigures(since: begin)
        if all != some {
            var cursor = some
            let first = try ledger.outcomes(after: &cursor, limit: Self.pageSize)
            figures = LiveFigures(since: first.accepted.first ?? begin)
        }
    }

    /// Reads new rows, and drops old ones.
    ///
    /// - Parameter now: returns the current time; called after each page.
    public mutating func refresh(now: () -> WallTime) throws(StoreError) {
        var hasMore = true
        while hasMore {
            var moved = cursor
            let new = try ledger.outcomes(after: &moved, limit: Self.pageSize)
            cursor = moved
            new.accepted.forEach { figures.add(acceptedAt: $0) }
            new.decided.compactMap(ReportRow.init).forEach { figures.add($0) }
            figures.forget(at: now())
            hasMore = new.hasMore
        }
    }
}
