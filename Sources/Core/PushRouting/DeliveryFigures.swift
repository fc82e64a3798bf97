public import PushModel

/// The counts of invocations by outcome, and histograms of their durations, since the router began: the source of the
/// metrics. They are neither stored nor recovered; the ledger has each invocation.
///
/// Bounded: handlers and providers beyond a limit share one entry. An invocation costs a few dozen instructions.
public struct DeliveryFigures: Sendable {
    /// The number of invocations with each outcome.
    public struct Outcomes: Sendable {
        private var counts = [UInt64](repeating: 0, count: Outcome.allCases.count)

        /// The number of invocations with this outcome.
        public subscript(outcome: Outcome) -> UInt64 { counts[outcome.place] }

        mutating func add(_ outcome: Outcome) { counts[outcome.place] &+= 1 }
    }

    /// The counts of one handler.
    public struct Handler: Sendable {
        /// The outcomes of the invocations whose last handler it was.
        public fileprivate(set) var outcomes = Outcomes()
        /// The number of attempts for which the daemon could not start or reach it.
        public fileprivate(set) var startFailures: UInt64 = 0
        /// The time from acceptance to the first start, or to the end without a start; of due invocations.
        public fileprivate(set) var queue = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
        /// The time from the first start to the end; of due invocations that started.
        public fileprivate(set) var exec = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
        /// The time from acceptance to the end; of due invocations.
        public fileprivate(set) var total = DurationHistogram(bounds: DurationHistogram.deliveryBounds)
    }

    /// The number of handlers with their own entry.
    public static let handlersMax = 64
    /// The number of providers with their own entry.
    public static let providersMax = 64
    /// The label for no provider.
    public static let noProvider = "(none)"

    /// The outcomes of owners' invocations.
    public private(set) var outcomes = Outcomes()
    /// The outcomes of observers' copies.
    public private(set) var observed = Outcomes()
    /// The counts by handler, observers' copies included.
    public private(set) var handlers = LabelTable(limit: Self.handlersMax, empty: Handler())
    /// The outcomes by provider, without observers' copies.
    public private(set) var providers = LabelTable(limit: Self.providersMax, empty: Outcomes())

    /// Makes an entry for the handler of each route, so that a reader of the counts sees the first one rise from zero.
    mutating func expect(_ routes: [Route]) { for route in routes { _ = handlers[route.handler] } }

    /// Counts the end of an invocation.
    ///
    /// - Parameters:
    ///   - row: the row of the invocation.
    ///   - result: its outcome and durations.
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

    /// Counts an attempt for which the daemon could not start or reach a handler.
    mutating func countStartFailure(of handler: String) { handlers[handler].startFailures &+= 1 }
}

extension Outcome {
    /// The index in ``DeliveryFigures/Outcomes``. This switch over cases without values compiles to their number.
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
