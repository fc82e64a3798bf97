public import PushModel

/// The requests in flight, in all and of each account, for comparison with the limits.
struct Usage: Sendable {
    private(set) var requests = 0
    /// The size of the lines of requests in flight, in bytes.
    private(set) var bytes = 0
    /// The part of `bytes` in memory for waiting invocations; a request counts once for each of them.
    private(set) var payloadBytes = 0
    /// The approximate memory of invocations in flight without payloads, in bytes.
    private(set) var invocationBytes = 0
    private var byAccount: [Account: Share] = [:]
    /// For each request in flight: the number of invocations without an outcome, the size of its line, and the counted
    /// memory of all its invocations.
    private var open = ShardedDictionary<SequenceNumber, (invocations: Int32, bytes: Int32, memory: Int)>()

    /// The requests in flight of one account.
    private struct Share {
        var requests = 0
        var bytes = 0
        var memory = 0
    }

    /// Returns the reason, for people, why a request of so many bytes exceeds a limit; `nil`: it exceeds none.
    func refusal(of account: Account, adding bytes: Int, _ limits: RoutingLimits) -> String? {
        let own = byAccount[account] ?? Share()
        let (size, ownSize) = (self.bytes + bytes, own.bytes + bytes)
        if requests >= limits.inFlight {
            return "\(counted(requests, "request is", "requests are")) in flight, the limit"
        } else if own.requests >= limits.inFlightPerPeer {
            let requests = "\(counted(own.requests, "request")) of \(account)"
            return "\(requests) \(own.requests == 1 ? "is" : "are") in flight, the limit"
        } else if size > limits.unfinishedBytes {
            return "the requests in flight would have \(size) bytes, more than the limit"
        } else if ownSize > limits.unfinishedBytesPerPeer {
            return "the requests of \(account) in flight would have \(ownSize) bytes, more than the limit"
        } else if invocationBytes >= limits.invocationMemory {
            return "the requests in flight take \(invocationBytes) bytes of memory, the limit"
        } else if own.memory >= limits.invocationMemoryPerPeer {
            return "the requests of \(account) in flight take \(own.memory) bytes of memory, the limit"
        }
        return nil
    }

    /// Whether no request is in flight.
    var isEmpty: Bool { requests == 0 && byAccount.isEmpty }

    func invocations(of seq: SequenceNumber) -> Int { open[seq].map { Int($0.invocations) } ?? 0 }

    mutating func reserve(_ count: Int) { open.reserveCapacity(count) }

    mutating func keeps(payloadOf bytes: Int) { payloadBytes += bytes }

    mutating func letsGo(payloadOf bytes: Int) { payloadBytes -= bytes }

    /// - Parameters:
    ///   - length: the size of the request's line in bytes.
    ///   - memory: the approximate memory of the invocation without line and payload.
    mutating func began(_ id: InvocationID, of account: Account, bytes length: Int, memory: Int) {
        var request = open[id.seq] ?? (0, Int32(length), 0)
        request.invocations += 1
        request.memory += memory
        open[id.seq] = request
        invocationBytes += memory
        var share = byAccount[account] ?? Share()
        share.memory += memory
        if request.invocations == 1 {
            requests += 1
            bytes += length
            share.requests += 1
            share.bytes += length
        }
        byAccount[account] = share
    }

    mutating func ended(_ id: InvocationID, of account: Account) {
        guard let request = open[id.seq] else { return }
        guard request.invocations == 1 else {
            open[id.seq]?.invocations -= 1
            return
        }
        open[id.seq] = nil
        requests -= 1
        bytes -= Int(request.bytes)
        invocationBytes -= request.memory
        guard var share = byAccount[account] else { return }
        share.requests -= 1
        share.bytes -= Int(request.bytes)
        share.memory -= request.memory
        byAccount[account] = share.requests == 0 ? nil : share
    }
}

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
        /// The numbers of attempts that did not end with `handled`, by answer.
        public fileprivate(set) var unhandled: [AttemptRecord.Answer: UInt64] = [:]
        /// The number of attempts that could not start or reach the handler.
        public var startFailures: UInt64 { unhandled[.notStarted] ?? 0 }
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

    /// Counts an attempt that did not end with `handled`.
    mutating func count(_ answer: AttemptRecord.Answer, of handler: String) {
        handlers[handler].unhandled[answer, default: 0] &+= 1
    }
}
