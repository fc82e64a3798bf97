public import PushFigures
public import PushModel

/// The deadline compliance report: what became of every invocation of a window, and how the deadline was kept.
///
/// Rows are added one by one and forgotten, so its size depends on how many names there are, never on how many rows.
public struct ComplianceReport: Sendable {
    /// In whose place the router stood.
    public enum Mode: Hashable, Sendable {
        /// Every row says the same.
        case one(DispatchMode)
        /// The mode was changed within the window, and so what a deadline counts from.
        case mixed
    }

    /// The time it covers.
    public let window: ReportWindow
    /// The configured time of an invocation; a route may give less.
    public let budget: Duration
    /// Where the rows come from.
    public var source: ReportSource
    /// The mode of the rows; without any, the configured one.
    public private(set) var mode: Mode

    /// When the first and the last request of the window were accepted; `nil` without any.
    public private(set) var covered: ClosedRange<WallTime>?
    /// Requests, those without an invocation among them.
    public private(set) var requests = 0
    /// Requests that by their nature led to no invocation, such as sessions.
    public private(set) var requestsWithoutInvocation = 0
    /// The owners' invocations: all but observers.
    private(set) var owners = OutcomeTally()
    /// Observers, apart: they are in no other figure but `requests`.
    public private(set) var observers = ObserverFigures()
    /// The shortest time that an invocation had; `nil` without rows.
    public private(set) var shortestBudget: Duration?

    /// Figures by handler, of the rows that have one: neither the tracker's nor what no route picked.
    public private(set) var byHandler: [String: FigureGroup] = [:]
    /// Figures by route, of the rows that have one.
    public private(set) var byRoute: [String: FigureGroup] = [:]
    /// Figures by provider; the name `none` stands for payloads of no known provider, as in a route's `Provider=`.
    public private(set) var byProvider: [String: FigureGroup] = [:]
    /// Figures by platform.
    public private(set) var byPlatform: [Platform: FigureGroup] = [:]
    /// Figures by callback.
    public private(set) var byCallback: [Callback: FigureGroup] = [:]
    /// Figures by the priority with which FCM delivered a message, of the rows that have one.
    public private(set) var byPriority: [MessagePriority: FigureGroup] = [:]
    /// Rows of messages that were sent with high priority and delivered with normal priority.
    public private(set) var loweredPriority = 0
    /// How the limits of the platforms were kept, all of `PlatformLimit.all` in that order.
    public private(set) var limits = PlatformLimit.all.map(LimitTally.init)
    /// The slowest of what owed an answer or went to the tracker.
    public private(set) var slowest = Slowest()
    /// The slowest of what missed the deadline.
    public private(set) var slowestMisses = Slowest()
    /// Of what waited for another in its lane, what waited longest.
    public private(set) var longestWaits = Slowest(by: .queue)

    private var outOfSequence = 0
    private var decidedAfterDowntime = 0
    private var cutByCrash = 0
    private var cutByLoss = 0
    private var last: InvocationID?

    /// A report without rows.
    /// - Parameters:
    ///   - window: the time it covers; the caller adds the rows of requests accepted in it.
    ///   - mode: the configured mode, for a report without rows.
    ///   - budget: the configured time of an invocation.
    ///   - source: where the rows come from.
    public init(
        window: ReportWindow = ReportWindow(), mode: DispatchMode, budget: Duration, source: ReportSource = .ledger
    ) {
        self.window = window
        self.source = source
        self.mode = .one(mode)
        self.budget = budget
    }

    /// Counts one row. Rows come in the order of their ids and requests are whole: what does not is counted, and
    /// said in `gaps`.
    public mutating func add(_ row: ReportRow) {
        follow(row.invocation.id)
        count(row)
    }

    /// Counts one row of the journal, which come in the order of their ends, if at all.
    public mutating func add(unordered row: ReportRow) { count(row) }

    /// Says that requests were accepted at these times, whether rows or figures of them come or neither.
    public mutating func cover(_ times: ClosedRange<WallTime>) {
        guard let covered else { return self.covered = times }
        self.covered = min(covered.lowerBound, times.lowerBound)...max(covered.upperBound, times.upperBound)
    }

    private mutating func count(_ row: ReportRow) {
        cover(row.acceptedAt...row.acceptedAt)
        guard !row.invocation.isObserver else { return observers.add(row.invocation) }
        mode = accepted == 0 || mode == .one(row.mode) ? .one(row.mode) : .mixed
        owners.add(row.invocation.result)
        shortestBudget = min(shortestBudget ?? row.invocation.budget, row.invocation.budget)
        addToGroups(row)
        for index in limits.indices { limits[index].add(row) }

        guard let result = row.invocation.result else { return }
        if result.outcome.isTimed { slowest.add(row.invocation) }
        if result.outcome.isMissed { slowestMisses.add(row.invocation) }
        if result.waitedFor != nil { longestWaits.add(row.invocation) }
        if result.reasonCode == .daemonDown { decidedAfterDowntime += 1 }
        if result.reasonCode == .daemonCrashed { cutByCrash += 1 }
        if result.reasonCode == .leaderLost { cutByLoss += 1 }
    }

    /// Counts what the ledger has counted of a key.
    public mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        guard figures.count > 0 else { return }
        guard !key.isObserver else { return observers.add(figures, of: key) }
        mode = accepted == 0 || mode == .one(key.mode) ? .one(key.mode) : .mixed
        owners.add(key.outcome, count: figures.count)
        if let budget = figures.shortestBudget {
            shortestBudget = min(shortestBudget ?? .microseconds(budget), .microseconds(budget))
        }
        addToGroups(figures, key)
        for index in limits.indices { limits[index].add(figures, of: key) }
        if key.reasonCode == .daemonDown { decidedAfterDowntime += figures.count }
        if key.reasonCode == .daemonCrashed { cutByCrash += figures.count }
        if key.reasonCode == .leaderLost { cutByLoss += figures.count }
    }

    /// Counts what the ledger has counted beside the keys: requests, and handlers' answers.
    /// - Parameter inFlight: how many of the requests have a first invocation in flight.
    public mutating func add(_ span: SpanFigures, inFlight: Int) {
        requests += span.requests
        requestsWithoutInvocation += span.requestsWithoutInvocation
        outOfSequence += max(
            0, span.requests - span.requestsWithoutInvocation - span.firstInvocations - inFlight)
        for (handler, answers) in span.answers {
            add(.declined, of: handler, count: answers.declined)
            add(.retry, of: handler, count: answers.retries)
        }
    }

    /// Counts an invocation in flight of a request that figures have counted.
    public mutating func add(inFlight row: ReportRow) {
        guard !row.invocation.isObserver else { return observers.add(row.invocation) }
        mode = accepted == 0 || mode == .one(row.mode) ? .one(row.mode) : .mixed
        owners.add(row.invocation.result)
        shortestBudget = min(shortestBudget ?? row.invocation.budget, row.invocation.budget)
        addToGroups(row)
    }

    /// Lists invocations that figures have counted.
    public mutating func list(slowest: [ReportRow], misses: [ReportRow], waits: [ReportRow]) {
        for row in slowest { self.slowest.add(row.invocation) }
        for row in misses { slowestMisses.add(row.invocation) }
        for row in waits { longestWaits.add(row.invocation) }
    }

    /// Says that the next row does not follow the one before: what is between is in figures.
    public mutating func beginRows() { last = nil }

    /// Counts a request without a row, in its place among the rows.
    /// - Parameter operation: what was asked. One that leads to invocations has lost them: that is a gap.
    public mutating func add(requestWithoutInvocation operation: Operation) {
        requests += 1
        if operation.hasInvocations { outOfSequence += 1 } else { requestsWithoutInvocation += 1 }
    }

    /// Invocations accepted: rows, but not those of observers, as in all that follows.
    public var accepted: Int { owners.accepted }

    /// Rows that have no outcome yet.
    public var inFlight: Int { owners.inFlight }

    /// Rows by outcome; what is not there is 0.
    public var outcomes: [Outcome: Int] { owners.outcomes }

    /// Rows that have an outcome.
    public var decided: Int { owners.decided }

    /// Whether every accepted invocation is here once, either decided or in flight; of observers, too.
    public var balanced: Bool { owners.balanced && observers.tally.balanced && outOfSequence == 0 }

    /// How many owed an answer within the deadline, and how many missed it.
    public var compliance: Compliance { owners.compliance }

    /// What makes the figures less than the whole story; empty when nothing does.
    public var gaps: [ReportGap] {
        let modes = mode == .mixed ? accepted : 0
        return [
            ReportGap(kind: .outOfSequence, count: outOfSequence),
            ReportGap(kind: .inFlight, count: inFlight),
            ReportGap(kind: .daemonDown, count: decidedAfterDowntime),
            ReportGap(kind: .daemonCrashed, count: cutByCrash),
            ReportGap(kind: .leaderLost, count: cutByLoss),
            ReportGap(kind: .mixedModes, count: modes),
        ].filter { $0.count > 0 } + (source.journal?.gaps ?? [])
    }

    /// Within a request the rows are 0, 1, 2, ...; requests only go up. So a row that is missing or comes twice shows.
    private mutating func follow(_ id: InvocationID) {
        let isFirst = id.n == 0 && last.map { $0.seq < id.seq } ?? true
        let isNext = last.map { id == InvocationID(seq: $0.seq, n: $0.n + 1) } ?? false
        if !isFirst && !isNext { outOfSequence += 1 }
        if id.seq != last?.seq { requests += 1 }
        last = id
    }

    /// Counts how a handler answered attempts, of those that the ledger has rows of. A handler that declines or wants to be
    /// tried again may have no invocation in the end, and is in the figures all the same.
    public mutating func add(_ answer: AttemptRecord.Answer, of handler: String, count: Int) {
        guard count > 0 else { return }
        switch answer {
        case .declined: byHandler[handler, default: FigureGroup()].declined += count
        case .retry: byHandler[handler, default: FigureGroup()].retries += count
        case .handled, .rejected, .timedOut, .killed, .notStarted: break
        }
    }

    private mutating func addToGroups(_ figures: KeyFigures, _ key: FigureKey) {
        if let handler = key.handler { byHandler[handler, default: FigureGroup()].add(figures, of: key) }
        if let route = key.route { byRoute[route, default: FigureGroup()].add(figures, of: key) }
        byProvider[key.provider ?? "none", default: FigureGroup()].add(figures, of: key)
        byPlatform[key.platform, default: FigureGroup()].add(figures, of: key)
        byCallback[key.callback, default: FigureGroup()].add(figures, of: key)
        guard let priority = key.deliveredPriority else { return }
        byPriority[priority, default: FigureGroup()].add(figures, of: key)
        if key.originalPriority == .high, priority == .normal { loweredPriority += figures.count }
    }

    private mutating func addToGroups(_ row: ReportRow) {
        let invocation = row.invocation
        if let handler = invocation.handler { byHandler[handler, default: FigureGroup()].add(invocation.result) }
        if let route = invocation.route { byRoute[route, default: FigureGroup()].add(invocation.result) }
        byProvider[invocation.provider ?? "none", default: FigureGroup()].add(invocation.result)
        byPlatform[row.platform, default: FigureGroup()].add(invocation.result)
        byCallback[invocation.callback, default: FigureGroup()].add(invocation.result)
        guard let priority = row.deliveredPriority else { return }
        byPriority[priority, default: FigureGroup()].add(invocation.result)
        if row.originalPriority == .high, priority == .normal { loweredPriority += 1 }
    }
}
