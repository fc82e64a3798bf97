import Testing

@testable import PushModel
@testable import PushRouter

/// A test bench for a pool: virtual time, and effects as text.
///
///     var pool = PoolBench(pipeline: 2)
///     pool.start(1) == ["open 1"]
///     pool.opened(1) == ["send 1 as 1 to 1", "started 1"]
///     pool.answers(1, to: 1) == ["finished 1 handled"]
struct PoolBench {
    private(set) var pool: InstancePool
    private var time = Duration.zero
    /// The last reported fact about each invocation's instance in place of an answer; `""`: none.
    private(set) var seen: [Int64: String] = [:]
    /// The number of such reports.
    private(set) var sightings = 0

    init(
        instances: Int = 1, pipeline: Int = 1, idleTimeout: Duration? = .seconds(300), idempotent: Bool = false,
        socket: Bool = false, singleUse: Bool = false, supportsCancellation: Bool = false, bridge: Bridge? = nil
    ) {
        let rules = InstanceRules(
            instances: instances, pipeline: pipeline, idleTimeout: idleTimeout, isSingleUse: singleUse,
            supportsCancellation: supportsCancellation)
        let command = Handler.Command(arguments: ["/usr/bin/crm"])
        let kind: Handler.Kind =
            if let bridge { .bridge(bridge, rules) } else if socket { .socket(path: "/run/crm", rules) } else {
                .worker(command, rules)
            }
        pool = InstancePool(Handler(name: "crm", kind: kind, idempotent: idempotent))
    }

    private func instant(_ time: Duration) -> Instant { Instant(nanoseconds: 1_000_000_000) + time }

    mutating func at(_ time: Duration) { self.time = time }

    /// The time of the pool's next clock event, counted from the bench's beginning.
    var nextDue: Duration? { pool.nextDue.map { $0 - instant(.zero) } }

    private mutating func act(
        _ act: (inout InstancePool, Instant, inout [InstancePool.Effect]) -> Void
    ) -> [String] {
        var effects: [InstancePool.Effect] = []
        act(&pool, instant(time), &effects)
        for case .report(.observed(let id, let facts)) in effects {
            seen[id.seq.value] = facts.insteadOfAnswer ?? ""
            sightings += 1
        }
        return effects.compactMap(\.text)
    }

    mutating func start(_ seq: Int64, within budget: Duration = .seconds(9)) -> [String] {
        let run = PoolBench.run(seq, of: pool.handler, deadline: instant(time) + budget)
        return act { $0.start(run, at: $1, &$2) }
    }

    mutating func stop(_ seq: Int64) -> [String] { act { $0.stop(InvocationID(seq), at: $1, &$2) } }

    mutating func opened(_ id: Int64) -> [String] { act { $0.opened(InstanceID(id), at: $1, &$2) } }

    mutating func failsToOpen(_ id: Int64, _ reason: String = "cannot start") -> [String] {
        act { $0.failedToOpen(InstanceID(id), reason: reason, at: $1, &$2) }
    }

    mutating func writes(_ line: String, _ id: Int64) -> [String] {
        act { $0.wrote(Array(line.utf8), by: InstanceID(id), at: $1, &$2) }
    }

    mutating func answers(_ line: Int64, by id: Int64 = 1, _ status: String = "handled") -> [String] {
        writes(#"{"id":\#(line),"status":"\#(status)"}"#, id)
    }

    mutating func acceptsNoLines(_ id: Int64, leavesLast: Bool) -> [String] {
        act { $0.acceptsNoLines(InstanceID(id), leavesLast: leavesLast, at: $1, &$2) }
    }

    mutating func closed(_ id: Int64, _ reason: String = "ended by signal 9") -> [String] {
        act { $0.closed(InstanceID(id), reason: reason, at: $1, &$2) }
    }

    mutating func lose(_ id: Int64) -> [String] {
        act { $0.lose(InstanceID(id), "wrote nonsense", at: $1, &$2) }
    }

    mutating func clock() -> [String] { act { $0.clock(at: $1, &$2) } }

    mutating func retire() -> [String] { act { $0.retire(at: $1, &$2) } }

    static func run(_ seq: Int64, of handler: Handler, deadline: Instant) -> HandlerRun {
        let start = Moment(monotonic: Instant(nanoseconds: 0), wall: WallTime(milliseconds: 0))
        let request = AcceptedRequest(
            seq: SequenceNumber(seq), operation: .deliver, id: nil, peer: Peer(uid: 1, gid: 1, pid: 1),
            acceptedAt: start, boot: UUID128(high: 0, low: 0), mode: .device, platform: .android, app: nil,
            device: nil, externalID: nil, messageID: nil, body: [])
        let record = InvocationRecord(
            id: InvocationID(seq), callback: .onMessageReceived, provider: nil, route: "all", handler: handler.name,
            budget: .seconds(9), deadline: deadline, started: true, result: nil)
        return HandlerRun(
            invocation: record, request: request, subject: InvocationSubject(), handler: handler, deadline: deadline)
    }
}

extension InstancePool.Effect {
    /// The effect as a short text; without notes for the journal.
    var text: String? {
        switch self {
        case .open(let id): "open \(id)"
        case .send(let run, let line, let id): "send \(run.invocation.id.seq) as \(line) to \(id)"
        case .reassign(let invocation, let id): "pass on \(invocation.seq) from \(id)"
        case .cancel(let line, let id): "take back \(line) from \(id)"
        case .finishInput(let id): "finish \(id)"
        case .close(let id): "close \(id)"
        case .note: nil
        case .request(let line): "request \(String(decoding: line, as: UTF8.self))"
        case .report(.started(let id, _)): "started \(id.seq)"
        case .report(.finished(let id, let answer)): "finished \(id.seq) \(answer.text)"
        case .report(.failedToStart(let id, let reason)): "failed \(id.seq): \(reason)"
        case .report(.observed): nil
        case .report: "unexpected"
        }
    }
}

extension HandlerAnswer {
    fileprivate var text: String {
        switch self {
        case .handled: "handled"
        case .retry(let after, _): "retry \(after.map { String($0.milliseconds) } ?? "later")"
        case .declined: "declined"
        case .unavailable(let reason, _): "unavailable: \(reason)"
        case .rejected(let reason): "rejected: \(reason)"
        case .lost(let reason): "lost: \(reason)"
        case .signaled(let signal): "signal \(signal)"
        }
    }
}
