public import PushFigures
public import PushModel

/// The figures of the rows that share a name: a handler, a route, a provider, a platform or a callback.
public struct FigureGroup: Hashable, Sendable {
    /// Rows, in flight or decided.
    public private(set) var count = 0
    /// How many owed an answer within the deadline, and how many missed it.
    public var compliance: Compliance { Compliance(due: due, missed: missed) }
    /// How many missed the deadline for each reason; `nil` for a miss without a reason by which reports count.
    public private(set) var missReasons: [ReasonCode?: Int] = [:]
    /// From acceptance to the start of the handler, of what was due. The tracker takes no time that says something.
    public private(set) var queue = Histogram()
    /// From the start of the handler to its end, of what was due and started.
    public private(set) var exec = Histogram()
    /// From acceptance to the end, of what was due.
    public private(set) var total = Histogram()

    /// Rows that were handled.
    public private(set) var handled = 0
    /// Rows that failed within the deadline.
    public private(set) var failed = 0

    /// Of a handler: how many attempts it declined, whoever had the invocation in the end.
    public internal(set) var declined = 0
    /// Of a handler: how many attempts it answered with a wish to be tried again.
    public internal(set) var retries = 0

    private var due = 0
    private var missed = 0

    mutating func add(_ result: InvocationResult?) {
        count += 1
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

    /// Counts what the ledger has counted of a key.
    mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        let outcome = key.outcome
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

    /// Whether it was due and nothing was handled: it keeps every deadline, and still does nothing.
    var alwaysFails: Bool { failed > 0 && handled == 0 }
}
