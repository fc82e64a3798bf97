public import PushModel

/// How many invocations ended how since the router began, and how long they took: what is counted for metrics. Neither
/// stored nor recovered; the ledger has each invocation.
///
/// Bounded: handlers and providers beyond so many share one entry. An invocation costs some dozens of instructions.
public struct DeliveryFigures: Sendable {
    /// How many invocations ended with each outcome.
    public struct Outcomes: Sendable {
        private var counts = [UInt64](repeating: 0, count: Outcome.allCases.count)

        /// How many ended so.
        public subscript(outcome: Outcome) -> UInt64 { counts[outcome.place] }

        mutating func add(_ outcome: Outcome) { counts[outcome.place] &+= 1 }
    }

    /// What became of the invocations of one handler.
    public struct Handler: Sendable {
        /// How those ended whose last handler it was.
        public fileprivate(set) var outcomes = Outcomes()
        /// How many attempts it could not be started or reached for.
        public fileprivate(set) var startFailures: UInt64 = 0
        /// From acceptance to the first start, or to the end where none started; of those that owed an answer.
        public fileprivate(set) var queue = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
        /// From the first start to the end, of those that started and owed an answer.
        public fileprivate(set) var exec = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
        /// From acceptance to the end, of those that owed an answer.
        public fileprivate(set) var total = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
    }

    /// How many handlers have an entry of their own.
    public static let handlersMax = 64
    /// How many providers have one.
    public static let providersMax = 64
    /// Stands for no provider.
    public static let noProvider = "(none)"

    /// Invocations of owners.
    public private(set) var outcomes = Outcomes()
    /// Copies for observing routes.
    public private(set) var observed = Outcomes()
    /// By handler, observers' among them.
    public private(set) var handlers = LabelTable(limit: Self.handlersMax, empty: Handler())
    /// By provider, without observers.
    public private(set) var providers = LabelTable(limit: Self.providersMax, empty: Outcomes())

    /// Makes an entry for each handler that a route names: who reads the counts sees the first one rise from zero.
    mutating func expect(_ routes: [Route]) { for route in routes { _ = handlers[route.handler] } }

    /// Counts the end of an invocation.
    ///
    /// - Parameters:
    ///   - row: the invocation.
    ///   - result: how it ended.
    ///   - hasRun: whether a handler began to run.
    mutating func count(_ row: InvocationRecord, _ result: InvocationResult, hasRun: Bool) {
        if row.isObserver {
            observed.add(result.outcome)
        } else {
            outcomes.add(result.outcome)
            providers[row.provider ?? Self.noProvider].add(result.outcome)
        }
        guard let handler = row.handler else { return }
        Self.count(result, hasRun: hasRun, in: &handlers[handler])
    }

    private static func count(_ result: InvocationResult, hasRun: Bool, in handler: inout Handler) {
        handler.outcomes.add(result.outcome)
        guard result.outcome.isDue else { return }
        handler.queue.add(result.queue)
        handler.total.add(result.total)
        if hasRun { handler.exec.add(result.exec) }
    }

    /// Counts an attempt for which a handler could not be started or reached.
    mutating func countStartFailure(of handler: String) { handlers[handler].startFailures &+= 1 }
}

extension Outcome {
    /// Its place in ``DeliveryFigures/Outcomes``; a switch over cases without values is their number.
    fileprivate var place: Int {
        switch self {
        case .handedToTracker: 0
        case .handled: 1
        case .failed: 2
        case .timedOut: 3
        case .expired: 4
        case .unrouted: 5
        case .duplicate: 6
        case .shownBySystem: 7
        case .notWoken: 8
        case .swallowed: 9
        case .ownReceiver: 10
        case .sdkNotReady: 11
        }
    }
}
