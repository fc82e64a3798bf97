public import PushFigures
public import PushModel

/// What a compliance report shows beside its own figures: times of all rows, both clocks, time series, breakdowns.
///
/// Rows are added one by one. Its size is bounded.
public struct ReportDetail: Sendable {
    /// The figures of all rows but observers'.
    public private(set) var all = FigureGroup()
    /// Figures by each dimension that the report itself does not have, and by those that were asked for.
    public private(set) var breakdowns: [Breakdown]
    /// The figures over time.
    public var timeline = Timeline()
    /// The rows that missed the deadline.
    public private(set) var misses = MissList()
    /// Due rows, and how many of them took their budget or more from acceptance.
    public var fromAcceptance: Compliance { late(lateFromAcceptance) }
    /// Due rows, and how many of them took their budget or more from the call of the callback.
    public var fromInvocation: Compliance { late(lateFromInvocation) }
    /// How often a request was accepted at an earlier wall-clock time than the request before it: the clock was set back.
    public var clockSetBack = 0
    /// Rows of the window before this were deleted: figures alone count there, of whole minutes; `nil`: all rows are there.
    public var rowsBegin: WallTime?
    /// The gaps of the daemon that touch the window, as the ledger has them.
    public var daemonGaps: [DaemonGap] = []

    /// Figures of a damaged ledger may have more that were late than were due.
    private func late(_ count: Int) -> Compliance {
        let due = all.compliance.due
        return Compliance(due: due, missed: min(count, due))
    }

    private var lateFromAcceptance = 0
    private var lateFromInvocation = 0

    /// A detail without rows.
    /// - Parameter crossed: what was asked for beside the breakdowns that every report has.
    public init(crossed: [[Dimension]] = []) {
        breakdowns = (Self.always + crossed).map(Breakdown.init)
    }

    /// The breakdowns of every report; those that were asked for follow them.
    static let always: [[Dimension]] = [[.app], [.outcome], [.transport]]

    /// Counts one row. Observers' rows count nowhere.
    public mutating func add(_ row: ReportRow) {
        guard !row.invocation.isObserver else { return }
        all.add(row.invocation.result)
        for index in breakdowns.indices { breakdowns[index].add(row) }
        timeline.add(row)
        misses.add(row)
        guard let result = row.invocation.result, result.outcome.isDue else { return }
        lateFromAcceptance += result.total >= row.invocation.budget ? 1 : 0
        lateFromInvocation += PlatformLimit.sinceInvocation(row, result) >= row.invocation.budget ? 1 : 0
    }

    /// Counts what the ledger has counted of a key; the timeline and the misses come apart.
    public mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        guard !key.isObserver else { return }
        all.add(figures, of: key)
        for index in breakdowns.indices { breakdowns[index].add(figures, of: key) }
        lateFromAcceptance += figures.lateFromAcceptance
        lateFromInvocation += figures.lateFromInvocation
    }

    /// Counts misses that the ledger has counted.
    /// - Parameters:
    ///   - misses: the slowest of them.
    ///   - total: how many there are.
    public mutating func add(misses: [ReportRow], of total: Int) { self.misses.add(misses, of: total) }
}
