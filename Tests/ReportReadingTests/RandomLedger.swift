import TestSupport

@testable import PushModel
@testable import Store

/// A ledger with random requests, as the daemon stores them: invocations in flight end later or never, the clock is set
/// back now and then, and a batch with an error is rolled back.
final class RandomLedger {
    /// The time of the first acceptance; it is no whole minute.
    static let begin: Int64 = 1_795_230_507_123

    let directory = TemporaryDirectory()
    private(set) var writer: LedgerWriter
    private(set) var now = RandomLedger.begin
    private var seq: Int64 = 0
    private var random: SeededGenerator
    private var inFlight: [InvocationRecord] = []
    /// Invocations that stay in flight until `endHeld` ends them.
    private(set) var held: [InvocationRecord] = []
    private let apps: Int
    private let stepsBack: Double

    /// - Parameters:
    /// - apps: the number of apps.
    /// - stepsBack: the share of requests before which the clock is set back.
    init(seed: UInt64, apps: Int = 4, stepsBack: Double = 0.01) throws {
        self.stepsBack = stepsBack
        random = SeededGenerator(seed: seed)
        self.apps = apps
        writer = try LedgerWriter(directory: directory.path)
    }

    var reader: LedgerReader { get throws { try LedgerReader(directory: directory.path) } }

    /// Ends the writer as the daemon's death would, and opens another.
    func reopen() throws { writer = try LedgerWriter(directory: directory.path) }

    /// Stores a batch of requests.
    /// - Parameter pause: the most milliseconds that pass before each.
    func store(_ count: Int, pause: Int64) throws {
        let rows = RowBuffer()
        for _ in 0..<count { append(to: rows, pause: pause) }
        try writer.apply([rows], through: .start)
    }

    /// Stores a batch whose last row has an error: none of it is stored.
    func fail() throws {
        let (before, flying) = (seq, inFlight)
        let rows = RowBuffer()
        for _ in 0..<20 { append(to: rows, pause: 1000) }
        var unknown = invocation(InvocationID(seq: SequenceNumber(1 << 40), n: 0), isObserver: false)
        unknown.result = nil
        rows.append(unknown, isNew: false)
        do throws(StoreError) {
            try writer.apply([rows], through: .start)
            fatalError("an invocation was changed that is not there")
        } catch {}
        (seq, inFlight) = (before, flying)
    }

    /// Rolls all due figures up.
    func rollUp() throws { while writer.isRollUpDue { try writer.rollUp() } }

    /// Keeps the invocations in flight from ending by themselves.
    func hold() {
        held += inFlight
        inFlight = []
    }

    /// Ends the held invocations.
    func endHeld() throws {
        let rows = RowBuffer()
        for record in held { rows.append(invocation(record.id, isObserver: record.isObserver), isNew: false) }
        held = []
        try writer.apply([rows], through: .start)
    }

    private func append(to rows: RowBuffer, pause: Int64) {
        now += chance(stepsBack) ? -.random(in: 0...400_000, using: &random) : .random(in: 0...pause, using: &random)
        seq += 1
        let number = SequenceNumber(seq)
        let hasInvocations = !chance(0.05)
        rows.append(request(number, hasInvocations ? .deliver : .session))
        if hasInvocations, !chance(0.002) {
            for n in 0..<(chance(0.2) ? 2 : 1) {
                var record = invocation(InvocationID(seq: number, n: n), isObserver: n == 1)
                if chance(0.3) {
                    record.result = nil
                    inFlight.append(record)
                }
                rows.append(record, isNew: true)
            }
        }
        while inFlight.count > 6 || !inFlight.isEmpty && chance(0.3) {
            let ended = inFlight.remove(at: .random(in: inFlight.indices, using: &random))
            if chance(0.3) { rows.append(.attempt(attempt(ended.id))) }
            rows.append(invocation(ended.id, isObserver: ended.isObserver), isNew: false)
        }
    }

    private func request(_ seq: SequenceNumber, _ operation: Operation) -> AcceptedRequest {
        let platform = pick(Platform.allCases)
        return AcceptedRequest(
            seq: seq, operation: operation, id: nil, peer: Peer(uid: 0, gid: 0, pid: 1),
            acceptedAt: Moment(monotonic: Instant(nanoseconds: seq.value), wall: WallTime(milliseconds: now)),
            boot: UUID128(high: 1, low: 2), mode: chance(0.1) ? .relay : .device, platform: platform,
            app: chance(0.1) ? nil : "com.example.app\(Int.random(in: 0..<apps, using: &random))", device: "d1",
            externalID: nil, messageID: nil, transport: chance(0.2) ? nil : platform.usualTransport,
            originalPriority: pick([.high, .normal, nil]), deliveredPriority: pick([.high, .normal, nil]),
            body: Array("{}".utf8))
    }

    private func invocation(_ id: InvocationID, isObserver: Bool) -> InvocationRecord {
        let outcome = pick(Outcome.allCases)
        let handler: String? = pick(["crm", "orders", nil])
        let (queue, exec) = (duration(), duration())
        return InvocationRecord(
            id: id, callback: pick([.onMessageReceived, .didReceiveRemoteNotification, .push]),
            isObserver: isObserver, provider: pick(["onesignal", "braze", nil]),
            route: handler.map { "20-" + $0 }, handler: handler, budget: .seconds(pick([9, 9, 3])), deadline: nil,
            started: false,
            result: InvocationResult(
                outcome: outcome, reason: nil,
                reasonCode: pick([
                    nil, .daemonDown, .daemonCrashed, .queueFull, .notFinishedAtDeadline, .brazeMarkerIsNotTrue,
                ]),
                queue: .microseconds(queue), exec: .microseconds(exec), total: .microseconds(queue + exec),
                completion: nil,
                waitedFor: chance(0.2) ? Predecessor(id: InvocationID(seq: id.seq, n: 9), handler: "crm") : nil,
                decidedAt: WallTime(milliseconds: now)))
    }

    private func attempt(_ id: InvocationID) -> AttemptRecord {
        AttemptRecord(
            id: id, route: nil, handler: pick(["crm", "audit"]), asked: .zero, started: nil, ended: .zero,
            answer: pick([.declined, .retry, .rejected]), status: nil, signal: nil, retryAfter: nil, reason: nil,
            output: nil)
    }

    /// A duration of any size, sometimes exactly a limit.
    private func duration() -> Int64 {
        if chance(0.05) { return pick([9_000_000, 10_000_000, 30_000_000, 0]) }
        return .random(in: 0...(70_000_000 >> Int64.random(in: 0...20, using: &random)), using: &random)
    }

    private func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    private func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }
}
