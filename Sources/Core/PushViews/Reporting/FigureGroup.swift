public import PushModel

/// The figures of the rows that share a name: a handler, a route, a provider, a platform or a callback.
public struct FigureGroup: Hashable, Sendable {
    /// The number of rows, in flight or decided.
    public private(set) var count = 0
    /// The numbers of due and missed rows.
    public var compliance: Compliance { Compliance(due: due, missed: missed) }
    /// The numbers of misses by reason; `nil` for misses without a reason that reports count by.
    private(set) var missReasons: [ReasonCode?: Int] = [:]
    /// The times from acceptance to the start of the handler, of due rows. It leaves out the tracker, whose times say
    /// nothing.
    public private(set) var queue = Histogram()
    /// The times from the start of the handler to its end, of due rows that started.
    public private(set) var exec = Histogram()
    /// The times from acceptance to the end, of due rows.
    public private(set) var total = Histogram()

    /// Rows that were handled.
    public private(set) var handled = 0
    /// Rows that failed within the deadline.
    public private(set) var failed = 0

    /// For a handler: the number of attempts that it declined, regardless of the invocation's final handler.
    public internal(set) var declined = 0
    /// For a handler: the number of attempts that it answered with a wish to be tried again.
    public internal(set) var retries = 0

    /// The shortest budget of its rows.
    private(set) var shortestBudget: Duration?

    private var due = 0
    private var missed = 0

    /// Counts a row.
    ///
    /// - Parameter budget: its budget, where groups are compared with it.
    mutating func add(_ result: InvocationResult?, budget: Duration? = nil) {
        count += 1
        note(budget)
        guard let result else { return }
        handled += result.outcome == .handled ? 1 : 0
        failed += result.outcome == .failed ? 1 : 0
        due += result.outcome.isDue ? 1 : 0
        if result.outcome.isMissed { addMisses(1, result.reasonCode) }
        guard result.outcome.isDue else { return }
        queue.add(microseconds: result.queue.microseconds)
        total.add(microseconds: result.total.microseconds)
        if result.outcome != .expired { exec.add(microseconds: result.exec.microseconds) }
    }

    private mutating func note(_ budget: Duration?) {
        guard let budget else { return }
        shortestBudget = min(shortestBudget ?? budget, budget)
    }

    /// Counts the ledger's figures of a key.
    mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        let outcome = key.outcome
        note(figures.shortestBudget.map { .microseconds($0) })
        count += figures.count
        handled += outcome == .handled ? figures.count : 0
        failed += outcome == .failed ? figures.count : 0
        due += outcome.isDue ? figures.count : 0
        if outcome.isMissed { addMisses(figures.count, key.reasonCode) }
        guard outcome.isDue else { return }
        queue.merge(figures.queue)
        exec.merge(figures.exec)
        total.merge(figures.total)
    }

    private mutating func addMisses(_ count: Int, _ code: ReasonCode?) {
        missed += count
        missReasons[FigureKey.counted(code), default: 0] += count
    }

    /// Whether rows failed in time and none was handled: such a handler keeps every deadline and does no work.
    var alwaysFails: Bool { failed > 0 && handled == 0 }
}
