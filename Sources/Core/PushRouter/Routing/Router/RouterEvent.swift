public import PushModel

/// An input event of the router.
public enum RouterEvent: Sendable {
    /// The handler of this invocation began to run at this time; `nil`: now. The event may come later than the start.
    case started(InvocationID, at: Instant? = nil)
    /// Facts about the run of this invocation, which is about to end.
    case observed(InvocationID, RunFacts)
    /// The handler of this invocation answered or ended.
    case finished(InvocationID, HandlerAnswer)
    /// The handler of this invocation could not be started, even if `started` came before; the reason is for people.
    case failedToStart(InvocationID, reason: String)
    /// Time has passed: due timers fire.
    case clock
    /// The configuration was replaced. Invocations in flight keep their handlers.
    case reconfigured(RoutingTable)
    /// Another machine takes over: this machine starts no handler for later requests, built-in handlers apart.
    case handingOver
    /// The daemon is to end: nothing new is accepted or started.
    case draining
}

/// The result of accepting a request.
public struct Acceptance: Sendable {
    /// The request's number. The request counts as accepted once the records among the effects are on disk.
    public var seq: SequenceNumber
    /// The number of its invocations.
    public var invocations: Int
    /// The rejected entries of custom data, from a log request or from tracks.
    public var rejections: [Rejection]
    /// The number of entries that it flushed but could not send despite `SendFlushed=yes`, because their session has no
    /// user.
    public var flushedUnsent = 0
    /// The number of devices that a publish reaches; `nil` for other requests.
    public var members: Int?
    /// The result of each token of `op: topic`; `nil` for other requests.
    public var topicResults: [TopicRequest.Result]?
}

extension Acceptance {
    /// The acceptance of a request in the ledger, for the reply to a repetition. Every fact that a reply has is in the
    /// ledger, except the results of `op: topic`, which has no `id`.
    public init(_ story: RequestStory) {
        // The entries of a handler's answer came after the first reply.
        let rejected = story.entries.filter { entry in
            entry.wasRejectedOnArrival && entry.entry.savedAt == story.request.acceptedAt.wall
        }
        self.init(
            seq: story.request.seq, invocations: story.invocations.count,
            rejections: rejected.map { Rejection(of: $0) }, members: story.fanOut?.members)
    }
}

/// The reason why a request is not accepted.
public enum Refusal: Error, Hashable, Sendable {
    /// The platform would not accept the payload: the field, and the fault.
    case invalidPayload(field: String, message: String)
    /// An interaction names a delivery by a number that no request has yet.
    case unknownNumber(SequenceNumber, last: SequenceNumber)
    /// Too many requests are in flight, in all or of this peer.
    case overloaded(message: String, retryAfter: Duration)
    /// The rows of the request would be longer than a batch of the log may be.
    case tooLong(message: String)
    /// The daemon is about to end.
    case draining
    /// A key of the request has an invalid value.
    case invalidValue(field: String, message: String)
    /// A request cannot be replayed; the reason is for people.
    case notReplayable(String)
}

/// An action for the daemon. The daemon carries out the effects of a turn in order.
///
/// It carries out an effect only after all records before it are on disk, so that a crash takes back nothing visible.
/// Only `terminate`, `stop`, and a start that may be early (``HandlerRun/mayStartEarly``) do not wait for the disk.
public enum RouterEffect: Sendable {
    /// Start a handler and report `started`, then `finished`; or `failedToStart`.
    indirect case start(HandlerRun)
    /// Start a handler whose payload is no longer in memory: read the request from the ledger first
    /// (``HandlerRun/complete(with:past:)``). Report `failedToStart` if that fails.
    indirect case load(HandlerRun)
    /// Send SIGTERM to the handler: its grace period begins.
    case terminate(InvocationID)
    /// Kill the handler and all its processes now; the router ignores any later answer.
    case stop(InvocationID)
    /// Report the end of an invocation to the journal and to waiting clients.
    case decided(InvocationEnd)
    /// Report to the journal that a handler's breaker opened or closed.
    indirect case breaker(BreakerChange)
    /// Report to the journal that the time of a publish was over before all its deliveries were made.
    case publishEnded(PublishEnd)
}

/// The end of a publish whose time was over.
public struct PublishEnd: Hashable, Sendable {
    /// The number of the publish.
    public var seq: SequenceNumber
    /// The number of devices that were left out, because the time was over.
    public var overdue: Int
    /// The number of deliveries made, and of all devices left out.
    public var progress: FanOut.Progress
}

/// A record or an effect, in the order of the decisions.
public enum RouterOutput: Sendable {
    indirect case record(LedgerRecord)
    case effect(RouterEffect)
}

/// A buffer for the records and the effects of a turn.
public struct Effects {
    /// The effects, in order.
    public private(set) var list: [RouterEffect] = []
    /// The log rows that receive the records in the daemon; `nil`: ``records`` receives them.
    public var rows: RowBuffer?
    /// The records, each with the number of effects before it; empty if ``rows`` receives them.
    public private(set) var records: [(record: LedgerRecord, place: Int)] = []
    /// Whether outcomes known on acceptance become effects even if they are neither failures nor missed deadlines.
    /// Outcomes of invocations that were in flight always do.
    public var reportsEveryOutcome = true
    /// The number of outcomes that did not become effects.
    private var unreported = 0
    /// The rejected entries of custom data.
    private var rejections: [Rejection] = []

    /// - Parameter rows: receives the records; `nil`: ``records`` does.
    public init(rows: RowBuffer? = nil) { self.rows = rows }

    /// Whether the records may have changes of subscriptions. Otherwise each record of a device has all its topics.
    var takesSubscriptions: Bool { rows?.takesSubscriptions ?? true }

    /// Removes and returns the effects.
    public mutating func takeList() -> [RouterEffect] { exchange(&list, with: []) }

    /// Removes and returns effects and kept records, in the order of the decisions.
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

    /// Appends the effects and the kept records of another buffer.
    public mutating func append(_ others: Effects) {
        for (record, _) in others.records { self.record(record) }
        list += others.list
    }

    /// Returns the number of outcomes since the last call that did not become effects.
    public mutating func takeUnreported() -> Int { exchange(&unreported, with: 0) }

    /// Returns the entries of custom data rejected since the last call. The rejections of a request are returned with
    /// its acceptance instead (``Acceptance/rejections``).
    public mutating func takeRejections() -> [Rejection] {
        rejections.isEmpty ? [] : exchange(&rejections, with: [])
    }

    /// Appends rejected entries of custom data.
    mutating func append(_ rejections: [Rejection]) { self.rejections += rejections }

    /// Appends the end of an invocation that was known on acceptance, or counts it as unreported.
    mutating func appendEnd(_ end: @autoclosure () -> InvocationEnd, _ outcome: Outcome) {
        if reportsEveryOutcome || outcome.isFailure || outcome.isMissed {
            append(.decided(end()))
        } else {
            unreported += 1
        }
    }

    /// Appends an effect.
    mutating func append(_ effect: RouterEffect) { list.append(effect) }

    /// Appends a record.
    public mutating func record(_ record: LedgerRecord) { if let rows { rows.append(record) } else { keep(record) } }

    /// The end of the records, for ``rowBytes(since:)``.
    var end: Int { rows?.byteCount ?? records.count }

    /// Returns the length of the rows of the records since an earlier ``end``, in bytes.
    func rowBytes(since end: Int) -> Int {
        if let rows { return rows.byteCount - end }
        let buffer = RowBuffer(capacity: 0)
        for (record, _) in records[end...] { buffer.append(record) }
        return buffer.byteCount
    }

    private mutating func keep(_ record: LedgerRecord) { records.append((record, list.count)) }

    // Variants for the rows of each delivery, which build no record between the values and the row.

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
    /// The invocation of the run.
    public var invocation: InvocationRecord
    /// The request of the invocation.
    public var request: AcceptedRequest
    /// The content of the request and the payload; empty until ``complete(with:past:)`` if it is not in memory.
    public var subject: InvocationSubject
    /// The handler.
    public var handler: Handler
    /// The deadline of the invocation.
    public var deadline: Instant
    /// The number of the attempt, from 1; after a restart of the daemon it counts from 1 again.
    public var attempt = 1
    /// The term of the node that runs it; `nil` on one machine.
    public var epoch: Int64?
    /// Whether the handler may start before the rows of its invocation are on disk: it is a program with `Idempotent=yes`, and
    /// no handler had the invocation before. A crash may take back the request; its sender has no reply then.
    public var mayStartEarly = false

    /// Sets the content of the request.
    ///
    /// - Parameters:
    ///   - request: the parsed request line.
    ///   - past: the delivery that an interaction names, if the ledger has it.
    public mutating func complete(with request: Request, past: PastDelivery?) {
        subject = InvocationSubject(request, past: past)
    }
}

/// The end of an invocation, with the facts for a report. A class, because it is large and moves from the router
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
    /// Makes the first run of a past invocation, to show people the handler's input.
    ///
    /// - Parameters:
    ///   - invocation: the invocation.
    ///   - request: its request in the ledger.
    ///   - line: the parsed request line.
    ///   - handler: the handler in the current configuration.
    public init(past invocation: InvocationRecord, of request: AcceptedRequest, line: Request, handler: Handler) {
        self.init(
            invocation: invocation, request: request, subject: InvocationSubject(line, past: nil), handler: handler,
            deadline: request.acceptedAt.monotonic + invocation.budget)
    }
}
