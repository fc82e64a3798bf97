public import PushModel

/// Counts of ended invocations by outcome, and histograms of their durations, since the router was created; for
/// metrics. Neither stored nor recovered: the ledger has each invocation.
///
/// The number of entries is bounded: handlers and providers beyond the limits share one entry. Counting an invocation
/// takes some dozens of instructions.
public struct DeliveryFigures: Sendable {
    /// The number of invocations by outcome.
    public struct Outcomes: Sendable {
        private var counts = [UInt64](repeating: 0, count: Outcome.allCases.count)

        /// The number of invocations with this outcome.
        public subscript(outcome: Outcome) -> UInt64 { counts[outcome.place] }

        mutating func add(_ outcome: Outcome) { counts[outcome.place] &+= 1 }
    }

    /// The counts of one handler.
    public struct Handler: Sendable {
        /// The outcomes of the invocations whose last handler this was.
        public fileprivate(set) var outcomes = Outcomes()
        /// The number of attempts that could not start or reach the handler.
        public fileprivate(set) var startFailures: UInt64 = 0
        /// From acceptance to the first start, or to the end if no attempt started; of invocations that owed an answer.
        public fileprivate(set) var queue = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
        /// From the first start to the end; of invocations that started and owed an answer.
        public fileprivate(set) var exec = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
        /// From acceptance to the end; of invocations that owed an answer.
        public fileprivate(set) var total = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
    }

    /// The number of handlers with an entry of their own.
    static let handlersMax = 64
    /// The number of providers with an entry of their own.
    public static let providersMax = 64
    /// The label of payloads without a provider.
    public static let noProvider = "(none)"

    /// The outcomes of owners' invocations.
    public private(set) var outcomes = Outcomes()
    /// The outcomes of copies for observing routes.
    public private(set) var observed = Outcomes()
    /// The counts by handler, those of observers included.
    public private(set) var handlers = LabelTable(limit: Self.handlersMax, empty: Handler())
    /// The outcomes by provider, those of observers excluded.
    public private(set) var providers = LabelTable(limit: Self.providersMax, empty: Outcomes())

    /// Makes an entry for each handler that a route names, so that its metrics exist at zero before its first
    /// invocation.
    mutating func expect(_ routes: [Route]) { for route in routes { _ = handlers[route.handler] } }

    /// Counts the end of an invocation.
    ///
    /// - Parameters:
    ///   - row: the invocation.
    ///   - result: the outcome and the durations.
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

    /// Counts an attempt that could not start or reach a handler.
    mutating func countStartFailure(of handler: String) { handlers[handler].startFailures &+= 1 }
}

extension Outcome {
    /// The index of the outcome in ``DeliveryFigures/Outcomes``. The compiler reduces a switch over cases without
    /// values to their number.
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
