public import PushModel

/// The deadline compliance report: the outcome of every invocation in a window, and how the deadline was kept.
///
/// The caller adds rows one by one and the report keeps only sums: its size depends on the number of names, not of
/// rows.
public struct ComplianceReport: Sendable {
    /// The dispatch mode of the rows.
    public enum Mode: Hashable, Sendable {
        /// All rows have this mode.
        case one(DispatchMode)
        /// The mode, and so the start of the deadline, changed within the window.
        case mixed
    }

    /// The time that the report covers.
    public let window: ReportWindow
    /// The configured time of an invocation; a route may give less.
    public let budget: Duration
    /// The source of the rows.
    public var source: ReportSource
    /// The mode of the rows; without rows, the configured one.
    public private(set) var mode: Mode

    /// The times of acceptance of the window's first and last request; `nil` without a request.
    private(set) var covered: ClosedRange<WallTime>?
    /// All requests, including those without an invocation.
    public private(set) var requests = 0
    /// Requests of kinds that lead to no invocation, such as sessions.
    private(set) var requestsWithoutInvocation = 0
    /// The tally of owners' invocations, without observers.
    private(set) var owners = OutcomeTally()
    /// The figures of observers, which are in no other figure but `requests`.
    public private(set) var observers = ObserverFigures()
    /// The shortest budget of an invocation; `nil` without rows.
    private(set) var shortestBudget: Duration?

    /// Figures by handler, of the rows that have one: not of the tracker's, and not of those without a route.
    private(set) var byHandler: [String: FigureGroup] = [:]
    /// Figures by route, of the rows that have one.
    private(set) var byRoute: [String: FigureGroup] = [:]
    /// Figures by provider; the name `none` stands for payloads of no known provider, as in a route's `Provider=`.
    private(set) var byProvider: [String: FigureGroup] = [:]
    /// Figures by platform.
    private(set) var byPlatform: [Platform: FigureGroup] = [:]
    /// Figures by callback.
    private(set) var byCallback: [Callback: FigureGroup] = [:]
    /// Figures by the priority with which FCM delivered a message, of the rows that have one.
    private(set) var byPriority: [MessagePriority: FigureGroup] = [:]
    /// Rows of messages that were sent with high priority and delivered with normal priority.
    private(set) var loweredPriority = 0
    /// The tallies of the platform limits, in the order of `PlatformLimit.all`.
    public private(set) var limits = PlatformLimit.all.map(LimitTally.init)
    /// The slowest invocations that were due or went to the tracker.
    public private(set) var slowest = Slowest()
    /// The slowest invocations that missed the deadline.
    private(set) var slowestMisses = Slowest()
    /// The invocations that waited longest behind another one in their lane.
    public private(set) var longestWaits = Slowest(by: .queue)

    private var outOfSequence = 0
    private var decidedAfterDowntime = 0
    private var cutByCrash = 0
    private var cutByLoss = 0
    private var last: InvocationID?

    /// A report without rows.
    /// - Parameters:
    ///   - window: the time that the report covers; the caller adds the rows of requests accepted in it.
    ///   - mode: the configured mode, for a report without rows.
    ///   - budget: the configured time of an invocation.
    ///   - source: the source of the rows.
    public init(
        window: ReportWindow = ReportWindow(), mode: DispatchMode, budget: Duration, source: ReportSource = .ledger
    ) {
        self.window = window
        self.source = source
        self.mode = .one(mode)
        self.budget = budget
    }

    /// Counts one row. Rows come in the order of their ids, each request with all its rows; `gaps` reports the number
    /// of rows that break this order.
    public mutating func add(_ row: ReportRow) {
        follow(row.invocation.id)
        count(row)
    }

    /// Counts one row of the journal. These rows come in any order.
    public mutating func add(unordered row: ReportRow) { count(row) }

    /// Extends `covered` by the times of accepted requests, with or without rows and figures.
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

    /// Counts the ledger's figures of a key.
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

    /// Counts the ledger's figures of a span that have no key: requests, and handlers' answers.
    /// - Parameter inFlight: the number of these requests whose first invocation is in flight.
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

    /// Counts an invocation in flight whose request is already in the figures.
    public mutating func add(inFlight row: ReportRow) {
        guard !row.invocation.isObserver else { return observers.add(row.invocation) }
        mode = accepted == 0 || mode == .one(row.mode) ? .one(row.mode) : .mixed
        owners.add(row.invocation.result)
        shortestBudget = min(shortestBudget ?? row.invocation.budget, row.invocation.budget)
        addToGroups(row)
    }

    /// Lists invocations that are already in the figures.
    public mutating func list(slowest: [ReportRow], misses: [ReportRow], waits: [ReportRow]) {
        for row in slowest { self.slowest.add(row.invocation) }
        for row in misses { slowestMisses.add(row.invocation) }
        for row in waits { longestWaits.add(row.invocation) }
    }

    /// Whether all deadlines count from acceptance.
    var countsFromAcceptance: Bool { mode == .one(.relay) }

    /// Starts a new sequence of rows: figures stand for the requests between it and the last row.
    public mutating func beginRows() { last = nil }

    /// Counts a request without a row, in its place among the rows.
    /// - Parameter operation: the request's operation. If its requests lead to invocations, the rows are lost: that is
    ///   a gap.
    public mutating func add(requestWithoutInvocation operation: Operation) {
        requests += 1
        if operation.hasInvocations { outOfSequence += 1 } else { requestsWithoutInvocation += 1 }
    }

    /// The number of accepted invocations. Like all figures below, it leaves out observers.
    public var accepted: Int { owners.accepted }

    /// The number of rows without an outcome.
    public var inFlight: Int { owners.inFlight }

    /// The number of rows by outcome; a missing outcome means 0.
    public var outcomes: [Outcome: Int] { owners.outcomes }

    /// The number of rows with an outcome.
    public var decided: Int { owners.decided }

    /// Whether every accepted invocation, observers' included, is here exactly once, decided or in flight.
    var balanced: Bool { owners.balanced && observers.tally.balanced && outOfSequence == 0 }

    /// The numbers of due and missed invocations.
    public var compliance: Compliance { owners.compliance }

    /// The gaps that make the figures incomplete.
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

    /// Checks the order: requests have rising numbers, and their rows the numbers 0, 1, 2, ... It counts each missing
    /// or repeated row.
    private mutating func follow(_ id: InvocationID) {
        let isFirst = id.n == 0 && last.map { $0.seq < id.seq } ?? true
        let isNext = last.map { id == InvocationID(seq: $0.seq, n: $0.n + 1) } ?? false
        if !isFirst && !isNext { outOfSequence += 1 }
        if id.seq != last?.seq { requests += 1 }
        last = id
    }

    /// Counts a handler's answers to attempts that the ledger has rows of. A handler that declines or asks for a retry
    /// may end up without an invocation, and these figures still name it.
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
        if let handler = invocation.handler {
            byHandler[handler, default: FigureGroup()].add(invocation.result, budget: invocation.budget)
        }
        if let route = invocation.route { byRoute[route, default: FigureGroup()].add(invocation.result) }
        byProvider[invocation.provider ?? "none", default: FigureGroup()].add(invocation.result)
        byPlatform[row.platform, default: FigureGroup()].add(invocation.result)
        byCallback[invocation.callback, default: FigureGroup()].add(invocation.result)
        guard let priority = row.deliveredPriority else { return }
        byPriority[priority, default: FigureGroup()].add(invocation.result)
        if row.originalPriority == .high, priority == .normal { loweredPriority += 1 }
    }
}

extension ComplianceReport {
    /// Returns the time that the figures cover, for people. Without a requested bound the source's own begin or end
    /// stands there: `2026-11-23 05:03:32 to 05:04:11 +01:00 (all that the ledger holds)`.
    func windowText(_ zone: LocalZone) -> String {
        let asked = zone.text(window)
        guard let covered else {
            return window == ReportWindow() ? "the \(source.word) is empty" : asked
        }
        return switch (window.since, window.until) {
        case (nil, nil): "\(zone.text(covered)) (all that the \(source.word) holds)"
        case (_?, nil): "\(asked); the last accepted at \(zone.text(covered.upperBound))"
        case (nil, _?): "\(asked); the first accepted at \(zone.text(covered.lowerBound))"
        case (_?, _?): asked
        }
    }
}

extension LocalZone {
    /// Returns the text of a closed range of times, with a common day and a common offset written once.
    func text(_ times: ClosedRange<WallTime>) -> String {
        let (first, last) = (text(times.lowerBound), text(times.upperBound))
        guard first != last else { return first }
        let (begin, end) = (first.split(separator: " "), last.split(separator: " "))
        guard begin[0] == end[0], begin[2] == end[2] else { return "\(first) to \(last)" }
        return "\(begin[0]) \(begin[1]) to \(end[1]) \(end[2])"
    }
}

/// The numbers of invocations in flight and by outcome.
struct OutcomeTally: Hashable, Sendable {
    /// The number of accepted invocations, which is the number of rows.
    public private(set) var accepted = 0
    /// The number of rows without an outcome.
    public private(set) var inFlight = 0
    /// The number of rows by outcome; a missing outcome means 0.
    public private(set) var outcomes: [Outcome: Int] = [:]

    mutating func add(_ result: InvocationResult?) {
        accepted += 1
        if let result { outcomes[result.outcome, default: 0] += 1 } else { inFlight += 1 }
    }

    mutating func add(_ outcome: Outcome, count: Int) {
        accepted += count
        outcomes[outcome, default: 0] += count
    }

    /// The number of rows with an outcome.
    public var decided: Int { outcomes.values.reduce(0, +) }

    /// Whether every row is counted once, decided or in flight.
    var balanced: Bool { decided + inFlight == accepted }

    /// The numbers of due and missed rows.
    public var compliance: Compliance {
        Compliance(
            due: outcomes.reduce(0) { $0 + ($1.key.isDue ? $1.value : 0) },
            missed: outcomes.reduce(0) { $0 + ($1.key.isMissed ? $1.value : 0) })
    }
}

/// The figures of observers, separate from all others: a copy changes nothing for the owner.
public struct ObserverFigures: Hashable, Sendable {
    /// The numbers of copies by outcome.
    private(set) var tally = OutcomeTally()
    /// Figures by route, of the rows that have one.
    private(set) var byRoute: [String: FigureGroup] = [:]

    mutating func add(_ invocation: InvocationRecord) {
        tally.add(invocation.result)
        if let route = invocation.route { byRoute[route, default: FigureGroup()].add(invocation.result) }
    }

    mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        tally.add(key.outcome, count: figures.count)
        if let route = key.route { byRoute[route, default: FigureGroup()].add(figures, of: key) }
    }
}

/// The slowest decided rows, the longest first; of equal times the lower id first.
public struct Slowest: Hashable, Sendable {
    /// The time to compare.
    enum Measure {
        case total, queue
    }

    /// The most rows to keep.
    public static let capacity = 10

    /// The rows; each has a result.
    public private(set) var rows: [InvocationRecord] = []
    private let measure: Measure

    init(by measure: Measure = .total) { self.measure = measure }

    mutating func add(_ row: InvocationRecord) {
        let place = rows.firstIndex { isSlower(row, $0) } ?? rows.count
        guard place < Self.capacity else { return }
        if rows.count == Self.capacity { rows.removeLast() }
        rows.insert(row, at: place)
    }

    private func isSlower(_ left: InvocationRecord, _ right: InvocationRecord) -> Bool {
        let times = (time(of: left), time(of: right))
        return times.0 == times.1 ? left.id < right.id : times.0 > times.1
    }

    private func time(of row: InvocationRecord) -> Duration {
        guard let result = row.result else { return .zero }
        return switch measure {
        case .total: result.total
        case .queue: result.queue
        }
    }
}
