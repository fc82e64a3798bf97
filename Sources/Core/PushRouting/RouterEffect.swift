public import PushCustomData
public import PushModel

/// An effect that the router wants. The shell carries out the effects of a turn in order.
///
/// The shell carries out an effect once all records before it are on disk, so that a crash takes back nothing that was
/// visible outside. `terminate` and `stop` are the exceptions: they wait for no disk.
public enum RouterEffect: Sendable {
    /// Start a handler and report `started`, then `finished`; or `failedToStart`.
    indirect case start(HandlerRun)
    /// Start a handler whose payload is no longer in memory: read the request line from the ledger first
    /// (``HandlerRun/complete(with:past:)``). `failedToStart` reports a failed read.
    indirect case load(HandlerRun)
    /// Send the handler SIGTERM: its grace begins.
    case terminate(InvocationID)
    /// Kill the handler and all processes that it started, at once; the router ignores later answers.
    case stop(InvocationID)
    /// Report the outcome of an invocation to the journal and to waiting clients.
    case decided(InvocationEnd)
    /// Report the change of a breaker to the journal.
    indirect case breaker(BreakerChange)
}

/// A record or an effect, in the order of the router's decisions.
public enum RouterOutput: Sendable {
    indirect case record(LedgerRecord)
    case effect(RouterEffect)
}

/// The records and effects of the router, in order.
public struct Effects {
    /// The effects, in order.
    public private(set) var list: [RouterEffect] = []
    /// The buffer for records as rows of the daemon's log; `nil`: ``records`` keeps them.
    public var rows: RowBuffer?
    /// The records, each with the number of effects before it; empty if ``rows`` has them.
    public private(set) var records: [(record: LedgerRecord, place: Int)] = []
    /// Whether outcomes that are known on acceptance are reported even if they are no failures. Outcomes of invocations
    /// that were in flight always are.
    public var tellsEveryOutcome = true
    /// The number of outcomes that were not reported.
    private var untold = 0
    /// The entries of custom data that were rejected.
    private var rejections: [Rejection] = []

    /// - Parameter rows: the buffer for records; `nil`: ``records`` keeps them.
    public init(rows: RowBuffer? = nil) { self.rows = rows }

    /// Takes the effects out.
    public mutating func takeList() -> [RouterEffect] { exchange(&list, with: []) }

    /// Takes out the effects and the records kept here, in the order of the router's decisions.
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

    /// Adds other effects, with the records that they keep.
    public mutating func append(_ others: Effects) {
        for (record, _) in others.records { self.record(record) }
        list += others.list
    }

    /// Returns the number of unreported outcomes since the last call.
    public mutating func takeUntold() -> Int { exchange(&untold, with: 0) }

    /// Takes out the rejected entries of custom data since the last call; ``Acceptance/rejections`` has a request's.
    public mutating func takeRejections() -> [Rejection] {
        rejections.isEmpty ? [] : exchange(&rejections, with: [])
    }

    /// Adds rejected entries of custom data.
    mutating func append(_ rejections: [Rejection]) { self.rejections += rejections }

    /// Adds an outcome that is known on acceptance.
    mutating func tell(_ end: @autoclosure () -> InvocationEnd, _ outcome: Outcome) {
        if tellsEveryOutcome || outcome.isFailure || outcome.isMissed { append(.decided(end())) } else { untold += 1 }
    }

    /// Adds an effect.
    mutating func append(_ effect: RouterEffect) { list.append(effect) }

    /// Adds a record.
    public mutating func record(_ record: LedgerRecord) { if let rows { rows.append(record) } else { keep(record) } }

    private mutating func keep(_ record: LedgerRecord) { records.append((record, list.count)) }

    // The same for the records of each delivery: these write the row straight from the value, without a `LedgerRecord`.

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
    /// The invocation.
    public var invocation: InvocationRecord
    /// The request of the invocation.
    public var request: AcceptedRequest
    /// The action and payload of the request; empty until they are read.
    public var subject: InvocationSubject
    /// The handler.
    public var handler: Handler
    /// The deadline.
    public var deadline: Instant
    /// The number of the attempt, from 1; it continues after a restart of the daemon (0090).
    public var attempt = 1
    /// The term of the leader that runs it; `nil` on one machine.
    public var epoch: Int64?

    /// Fills in action and payload.
    ///
    /// - Parameters:
    ///   - request: the request line, read again.
    ///   - past: the delivery that an interaction names, if the ledger has it.
    public mutating func complete(with request: Request, past: PastDelivery?) {
        subject = InvocationSubject(request, past: past)
    }
}

/// The end of an invocation, with the facts for a report. A class, because the value is large and goes from the router
/// through the commit to the journal's thread.
public final class InvocationEnd: Sendable {
    /// The request of the invocation.
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
    /// Rebuilds the first run of an ended invocation, to show people the input of its handler.
    ///
    /// - Parameters:
    ///   - invocation: the invocation.
    ///   - request: its request as in the ledger.
    ///   - line: the request's line, read again.
    ///   - handler: the handler as configured now.
    public init(past invocation: InvocationRecord, of request: AcceptedRequest, line: Request, handler: Handler) {
        self.init(
            invocation: invocation, request: request, subject: InvocationSubject(line, past: nil), handler: handler,
            deadline: request.acceptedAt.monotonic + invocation.budget)
    }
}
