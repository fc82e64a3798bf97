public import PushModel

/// The parts of a compliance report beside its own figures: times of all rows, both clocks, time series, breakdowns.
///
/// The caller adds rows one by one. The size is bounded.
public struct ReportDetail: Sendable {
    /// The figures of all rows, without observers.
    public private(set) var all = FigureGroup()
    /// The figures by the dimensions that the report itself lacks, and by the requested ones.
    private(set) var breakdowns: [Breakdown]
    /// The figures over time.
    public var timeline = Timeline()
    /// The due rows over time, for a picture.
    public var calls = CallTimes()
    /// The rows that missed the deadline.
    public private(set) var misses = MissList()
    /// The due rows, and those of them that took their budget or more from acceptance.
    var fromAcceptance: Compliance { late(lateFromAcceptance) }
    /// The due rows, and those of them that took their budget or more from the call of the callback.
    var fromInvocation: Compliance { late(lateFromInvocation) }
    /// The number of requests with an earlier wall-clock time than the request before: the clock was set back.
    public var clockSetBack = 0
    /// The start of the rows. Rows of the window before it were deleted, and figures of whole minutes replace them;
    /// `nil`: the rows are complete.
    public var rowsBegin: WallTime?
    /// The daemon's gaps in the ledger that overlap the window.
    public var daemonGaps: [DaemonGap] = []

    /// Caps the count at the number of due rows: a damaged ledger may have more late rows than due ones.
    private func late(_ count: Int) -> Compliance {
        let due = all.compliance.due
        return Compliance(due: due, missed: min(count, due))
    }

    private var lateFromAcceptance = 0
    private var lateFromInvocation = 0

    /// A detail without rows.
    /// - Parameter crossed: the requested breakdowns, beside those of every report.
    public init(crossed: [[Dimension]] = []) {
        breakdowns = (Self.always + crossed).map(Breakdown.init)
    }

    /// The breakdowns of every report, before the requested ones.
    static let always: [[Dimension]] = [[.app], [.outcome], [.transport]]

    /// Counts one row; ignores observers.
    public mutating func add(_ row: ReportRow) {
        guard !row.invocation.isObserver else { return }
        all.add(row.invocation.result)
        for index in breakdowns.indices { breakdowns[index].add(row) }
        timeline.add(row)
        calls.add(row)
        misses.add(row)
        guard let result = row.invocation.result, result.outcome.isDue else { return }
        lateFromAcceptance += result.total >= row.invocation.budget ? 1 : 0
        lateFromInvocation += PlatformLimit.sinceInvocation(row, result) >= row.invocation.budget ? 1 : 0
    }

    /// Counts the ledger's figures of a key; the caller adds the timeline and the misses separately.
    public mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        guard !key.isObserver else { return }
        all.add(figures, of: key)
        for index in breakdowns.indices { breakdowns[index].add(figures, of: key) }
        lateFromAcceptance += figures.lateFromAcceptance
        lateFromInvocation += figures.lateFromInvocation
    }

    /// Adds misses from the ledger.
    /// - Parameters:
    ///   - misses: the slowest of them.
    ///   - total: the number of all of them.
    public mutating func add(misses: [ReportRow], of total: Int) { self.misses.add(misses, of: total) }
}
