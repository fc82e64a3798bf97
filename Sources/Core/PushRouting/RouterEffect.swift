public import PushCustomData
public import PushModel

/// What the router wants done. The shell carries the effects of one turn out in their order.
///
/// An effect is carried out once all that was recorded before it is on disk, so nothing is seen outside that a crash could
/// take back. Only `terminate` and `stop` need no disk and are carried out at once.
public enum RouterEffect: Sendable {
    /// Run a handler and report `started`, then `finished`; or `failedToStart`.
    indirect case start(HandlerRun)
    /// The same of a run whose payload is not in memory any more: what its request asks for is read from the ledger first
    /// (``HandlerRun/complete(with:past:)``). `failedToStart` says that it could not be read.
    indirect case load(HandlerRun)
    /// Send the handler SIGTERM: its grace begins.
    case terminate(InvocationID)
    /// End the handler and whatever it started, now; nothing it says counts any more.
    case stop(InvocationID)
    /// An invocation ended: tell the journal and whoever waits.
    case decided(InvocationEnd)
    /// The breaker of a handler opened or closed: tell the journal.
    indirect case breaker(BreakerChange)
}

/// What the router wants written, or done, in the order in which it was decided.
public enum RouterOutput: Sendable {
    indirect case record(LedgerRecord)
    case effect(RouterEffect)
}

/// Where the router puts what it wants written, and what it wants done.
public struct Effects {
    /// What is to be done, in order.
    public private(set) var list: [RouterEffect] = []
    /// Where a daemon's records go, as rows for its log; `nil`: they are kept in ``records``.
    public var rows: RowBuffer?
    /// What is to be written, each with how many effects come before it; none where it is in ``rows``.
    public private(set) var records: [(record: LedgerRecord, place: Int)] = []
    /// Whether the outcomes that are known on acceptance are told too, when they are no failures. Those of invocations
    /// that were in flight always are.
    public var tellsEveryOutcome = true
    /// How many outcomes were not told.
    private var untold = 0
    /// The entries of custom data that were rejected.
    private var rejections: [Rejection] = []

    /// - Parameter rows: where records go; `nil`: they are kept.
    public init(rows: RowBuffer? = nil) { self.rows = rows }

    /// Takes out what is to be done.
    public mutating func takeList() -> [RouterEffect] { exchange(&list, with: []) }

    /// Takes out what is to be done and the records that are kept, in the order in which all of it was decided.
    public mutating func takeOutput() -> [RouterOutput] {
        var output: [RouterOutput] = []
        var records = exchange(&records, with: [])[...]
        for (place, effect) in takeList().enumerated() {
            while let first = records.first, first.place <= place {
                output.append(.record(first.record))
                records.removeFirst()
            }
            output.append(.effect(effect))
        }
        return output + records.map { .record($0.record) }
    }

    /// Adds what others are, with the records that they keep.
    public mutating func append(_ others: Effects) {
        for (record, _) in others.records { self.record(record) }
        list += others.list
    }

    /// How many outcomes were not told since this was asked last.
    public mutating func takeUntold() -> Int { exchange(&untold, with: 0) }

    /// Takes out the entries of custom data that were rejected since this was asked last. What a request rejects is taken
    /// out when it is accepted (``Acceptance/rejections``).
    public mutating func takeRejections() -> [Rejection] {
        rejections.isEmpty ? [] : exchange(&rejections, with: [])
    }

    /// Adds entries of custom data that were rejected.
    mutating func append(_ rejections: [Rejection]) { self.rejections += rejections }

    /// Adds the end of an invocation that was known on acceptance.
    mutating func tell(_ end: @autoclosure () -> InvocationEnd, _ outcome: Outcome) {
        if tellsEveryOutcome || outcome.isFailure || outcome.isMissed { append(.decided(end())) } else { untold += 1 }
    }

    /// Adds what is to be done.
    mutating func append(_ effect: RouterEffect) { list.append(effect) }

    /// Adds something to write.
    public mutating func record(_ record: LedgerRecord) { if let rows { rows.append(record) } else { keep(record) } }

    private mutating func keep(_ record: LedgerRecord) { records.append((record, list.count)) }

    // The same for what each delivery writes, without a record between the values and the row.

    mutating func record(_ request: AcceptedRequest) {
        if let rows { rows.append(request) } else { keep(.request(request)) }
    }

    mutating func record(_ invocation: InvocationRecord, isNew: Bool) {
        if let rows {
            rows.append(invocation, isNew: isNew)
        } else {
            keep(isNew ? .invocation(invocation) : .update(invocation))
        }
    }

    mutating func record(_ event: AnalyticsEvent) {
        if let rows { rows.append(event) } else { keep(.event(event)) }
    }

    mutating func record(_ record: TrackerRecord) {
        if let rows { rows.append(record) } else { keep(.tracker(record)) }
    }
}

/// One run of a handler.
public struct HandlerRun: Sendable {
    /// The invocation it is for.
    public var invocation: InvocationRecord
    /// The request that led to it.
    public var request: AcceptedRequest
    /// What the request asks for, and its payload; empty where that is yet to be read.
    public var subject: InvocationSubject
    /// The handler.
    public var handler: Handler
    /// When its time is up.
    public var deadline: Instant
    /// Which attempt at the invocation it is, counted from 1; after a restart of the daemon from 1 again.
    public var attempt = 1
    /// The term of the leader that runs it; `nil` on one machine.
    public var epoch: Int64?

    /// Fills in what a request asks for.
    ///
    /// - Parameters:
    ///   - request: the request line, read again.
    ///   - past: the delivery that an interaction names, where the ledger knows it.
    public mutating func complete(with request: Request, past: PastDelivery?) {
        subject = InvocationSubject(request, past: past)
    }
}

/// The end of an invocation, with what a report of it needs. A reference: it is large, and goes from the router over
/// the commit to the journal's thread.
public final class InvocationEnd: Sendable {
    /// The request that led to it.
    public var request: AcceptedRequest { _read { yield sharedRequest.value } }
    private let sharedRequest: Indirect<AcceptedRequest>
    /// The invocation; its `result` is set.
    public let invocation: InvocationRecord
    /// The result.
    public var result: InvocationResult { _read { yield sharedResult.value } }
    private let sharedResult: Indirect<InvocationResult>

    init(request: Indirect<AcceptedRequest>, invocation: InvocationRecord, result: Indirect<InvocationResult>) {
        sharedRequest = request
        self.invocation = invocation
        sharedResult = result
    }
}

extension HandlerRun {
    /// The first run of an invocation that is past, for people: what its handler got.
    ///
    /// - Parameters:
    ///   - invocation: the invocation.
    ///   - request: its request, as the ledger has it.
    ///   - line: the request's line, read again.
    ///   - handler: the handler, as it is configured now.
    public init(past invocation: InvocationRecord, of request: AcceptedRequest, line: Request, handler: Handler) {
        self.init(
            invocation: invocation, request: request, subject: InvocationSubject(line, past: nil), handler: handler,
            deadline: request.acceptedAt.monotonic + invocation.budget)
    }
}
