import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// A test bench for a router: virtual time, requests and answers from the test, and the effects of every turn as text.
///
///     var bench = Bench()
///     try bench.submit(.deliver()) == ["request 1", "row 1.0 started", "start 1.0 crm"]
///     bench.started(1)
///     bench.at(.seconds(9))
///     bench.clock() == ["stop 1.0", "update 1.0 timed_out", "end 1.0 timed_out"]
struct Bench {
    var router: Router
    private(set) var ledger = MemoryLedger()
    private(set) var ends: [InvocationID: InvocationEnd] = [:]
    private(set) var runs: [InvocationID: HandlerRun] = [:]
    /// The number of runs whose payload had to be read from the ledger.
    private(set) var loads = 0
    /// The deliveries named by interactions.
    private var pasts: [SequenceNumber: PastDelivery] = [:]
    /// The custom data of the last request or event that was rejected.
    private(set) var rejections: [Rejection] = []
    private let state = UUID128(high: 1, low: 2)
    private(set) var boot = UUID128(high: 3, low: 4)
    /// The term of the leader after a crash; `nil`: there is one machine.
    var term: Int64?
    /// Time since the bench was set up.
    private var time = Duration.zero
    /// The monotonic clock at the time zero of the bench.
    private var epoch = Instant(nanoseconds: 5_000_000_000_000)

    /// A router with one route, to the handler `crm`, unless the table says otherwise.
    ///
    /// - Parameter devicesMax: the number of devices with short names that the router remembers.
    init(_ table: RoutingTable = .testing(), devicesMax: Int = 1_000_000) {
        var table = table
        table.limits.deviceMemory = devicesMax * KnownDevices.fixedByteCount + KnownDevices.fixedByteCount - 1
        router = Router(boot: boot, table: table, tracker: Tracker(stateID: state, rules: table.tracking))
    }

    var now: Moment {
        Moment(monotonic: epoch + time, wall: WallTime(milliseconds: 1_700_000_000_000 + time.milliseconds))
    }

    // MARK: Events

    /// Sets the time since the bench's beginning, without an event.
    mutating func at(_ time: Duration) { self.time = time }

    @discardableResult
    mutating func submit(
        _ request: Request, uid: UInt32 = 1000, past: PastDelivery? = nil
    ) throws(Refusal) -> [String] {
        try submitRaw(request, uid: uid, past: past).compactMap(\.text)
    }

    @discardableResult
    mutating func handle(_ event: RouterEvent) -> [String] { handleRaw(event).compactMap(\.text) }

    @discardableResult
    mutating func started(_ seq: Int64, _ n: Int = 0) -> [String] { handle(.started(.init(seq, n))) }

    @discardableResult
    mutating func finished(_ seq: Int64, _ n: Int = 0, _ answer: HandlerAnswer = .handled(.init())) -> [String] {
        handle(.finished(.init(seq, n), answer))
    }

    /// Lets the router carry out an order about custom data, from a person or the forwarder.
    mutating func order<Result>(_ act: (inout Router, Moment, inout Effects) -> Result) -> Result {
        var effects = Effects()
        let result = act(&router, now, &effects)
        take(&effects)
        return result
    }

    @discardableResult
    mutating func clock() -> [String] { handle(.clock) }

    /// Kills and restarts the daemon: only the ledger survives.
    @discardableResult
    mutating func crash(sameBoot: Bool = true) -> [String] {
        crashRaw(sameBoot: sameBoot, table: router.table).compactMap(\.text)
    }

    // MARK: The same, with effects as they are

    mutating func submitRaw(_ request: Request, uid: UInt32, past: PastDelivery? = nil) throws(Refusal)
        -> [RouterOutput]
    {
        let peer = Peer(uid: uid, gid: 100, pid: 1)
        let now = now
        var setAside: [Rejection] = []
        var effects = try decide { (router, effects) throws(Refusal) in
            setAside = try router.submit(request, from: peer, past: past, at: now, effects: &effects).rejections
        }
        rejections = setAside
        pasts[router.lastNumber] = past
        return take(&effects, of: request)
    }

    /// Replays the dead letters of a request, as they are in the ledger.
    @discardableResult
    mutating func replay(_ seq: Int64, uid: UInt32 = 0) throws(Refusal) -> [String] {
        guard let (accepted, request) = ledger.requests[SequenceNumber(seq)] else { return [] }
        let rows = ledger.deadLetters.filter { $0.seq.value == seq }.sorted().compactMap { ledger.rows[$0] }
        let dead = UnfinishedRequest(
            accepted: accepted, invocations: rows, request: request, past: pasts[accepted.seq])
        let (peer, now) = (Peer(uid: uid, gid: 100, pid: 1), now)
        var effects = try decide { (router, effects) throws(Refusal) in
            _ = try router.replay(dead, from: peer, at: now, effects: &effects)
        }
        pasts[router.lastNumber] = pasts[accepted.seq]
        return take(&effects, of: request).compactMap(\.text)
    }

    mutating func handleRaw(_ event: RouterEvent) -> [RouterOutput] {
        let now = now
        var effects = decide { router, effects in router.handle(event, at: now, effects: &effects) }
        rejections = effects.takeRejections()
        return take(&effects)
    }

    mutating func crashRaw(sameBoot: Bool, table: RoutingTable) -> [RouterOutput] {
        if !sameBoot {
            boot = UUID128(high: boot.high, low: boot.low + 1)
            // The monotonic clock restarts with the new boot.
            epoch = Instant(nanoseconds: 7_000_000_000 - time.nanoseconds)
        }
        let tracker = ledger.tracker.restored(stateID: state, rules: table.tracking, now: now.wall)
        router = Router(
            boot: boot, epoch: term, table: table, tracker: tracker, customData: restoredCustomData(),
            devices: ledger.devices.values.sorted { $0.number < $1.number },
            lastNumber: ledger.requests.keys.max() ?? SequenceNumber(0))
        var effects = Effects()
        for var unfinished in ledger.unfinished {
            let (accepted, invocations, attempts) = (unfinished.accepted, unfinished.invocations, unfinished.attempts)
            unfinished.past = pasts[accepted.seq]
            if !invocations.contains(where: { router.recoveryNeeds.wantsLine(of: accepted, $0, at: now) }) {
                var bodiless = accepted
                bodiless.body = []
                unfinished = UnfinishedRequest(
                    leaving: bodiless, byteCount: accepted.body.count, invocations: invocations)
                unfinished.attempts = attempts
            }
            router.recover([unfinished], at: now, effects: &effects)
        }
        router.adopt(
            ledger.fanOuts.values.filter { $0.toCome > 0 }.sorted { $0.seq < $1.seq }.compactMap { fanOut in
                ledger.requests[fanOut.seq].map { UnfinishedFanOut(fanOut, of: $0.accepted, $0.request) }
            }, at: now)
        router.endRecovery(at: now, effects: &effects)
        return take(&effects)
    }

    /// The custom data as the daemon reads it from its ledger.
    private func restoredCustomData() -> CustomData {
        var data = ledger.customData.restored(stateID: state)
        for cause in data.interruptedFlushes {
            guard let event = ledger.events.first(where: { $0.seq == cause && $0.kind == .sessionStart }),
                let (accepted, request) = ledger.requests[cause]
            else { continue }
            let clock = accepted.acceptedAt.wall
            data.resumeFlush(
                SessionStart(
                    cause: cause, platform: event.platform, app: event.appID, device: event.deviceID,
                    externalID: event.externalUserID, at: min(request.at ?? clock, clock)))
        }
        return data
    }

    /// Lets the router decide twice, once listing the records and once writing rows: both must be equal.
    private mutating func decide<Failure: Error>(
        _ act: (inout Router, inout Effects) throws(Failure) -> Void
    ) throws(Failure) -> Effects {
        var (effects, rows) = (Effects(), Effects(rows: RowBuffer()))
        var other = router
        // A refusal adds to a counter and changes nothing else.
        try act(&router, &effects)
        try act(&other, &rows)
        let expected = RowBuffer()
        for (record, _) in effects.records { expected.append(record) }
        #expect(rows.rows?.rows.elementsEqual(expected.rows) == true, "the rows are not those of the records")
        #expect(rows.list.map(\.text) == effects.list.map(\.text))
        router = other
        return effects
    }

    // MARK: Results

    func end(_ seq: Int64, _ n: Int = 0) -> InvocationResult? { ends[.init(seq, n)]?.result }

    func outcome(_ seq: Int64, _ n: Int = 0) -> Outcome? { end(seq, n)?.outcome }

    func row(_ seq: Int64, _ n: Int = 0) -> InvocationRecord? { ledger.rows[.init(seq, n)] }

    /// The time of the next clock event that the router wants, counted from the bench's beginning.
    var nextDue: Duration? { router.nextDue.map { $0 - epoch } }

    @discardableResult
    private mutating func take(_ effects: inout Effects, of request: Request? = nil) -> [RouterOutput] {
        let output = effects.takeOutput()
        for item in output {
            switch item {
            case .record(let record): ledger.write(record, of: request)
            case .effect(.decided(let end)): ends[end.invocation.id] = end
            case .effect(.start(let run)): runs[run.invocation.id] = run
            case .effect(.load(var run)):
                loads += 1
                let seq = run.request.seq
                if let (_, request) = ledger.requests[seq] { run.complete(with: request, past: pasts[seq]) }
                runs[run.invocation.id] = run
            case .effect: break
            }
        }
        ledger.endTurn()
        return output
    }
}

extension InvocationID {
    init(_ seq: Int64, _ n: Int = 0) { self.init(seq: SequenceNumber(seq), n: n) }
}

extension RouterOutput {
    /// The output as a short text.
    var text: String? {
        switch self {
        case .effect(let effect): effect.text
        case .record(.attempt), .record(.output), .record(.deadLetter), .record(.noDeadLetters): nil
        case .record(.gap), .record(.lifeSign), .record(.producer), .record(.configuration), .record(.audit),
            .record(.order):
            nil
        case .record(.tracker), .record(.customData(.attribute)), .record(.customData(.sending)): nil
        case .record(.customData(.entry(let entry, let state, _))): "entry \(entry.number) \(state.rawValue)"
        case .record(.customData(.moved(let move))): "entry \(move.number) \(move.state.rawValue)"
        case .record(.request(let accepted)): "request \(accepted.seq)"
        case .record(.invocation(let row)): "row \(row.text)"
        case .record(.update(let row)): "update \(row.text)"
        case .record(.event(let event)):
            switch event.kind {
            case .received: "received \(event.delivery)"
            case .open: "open \(event.delivery)"
            default: "\(event.kind.rawValue.split(separator: ".").last ?? "") \(event.delivery)"
            }
        case .record(.device(let device)): "device \(device.key.device) \(device.externalID ?? "anonymous")"
        case .record(.subscriptions(let change)):
            "\(change.since == nil ? "end" : "begin") \(change.topic.topic) of \(change.devices.count)"
        case .record(.forgottenDevice(let number)): "forget device \(number)"
        case .record(.fanOut(let fanOut)): "fan-out \(fanOut.seq) to \(fanOut.members)"
        case .record(.fanOutProgress(let seq, let progress)): "fan-out \(seq) \(progress.made) made"
        }
    }
}

extension RouterEffect {
    /// The effect as a short text.
    var text: String {
        switch self {
        case .start(let run), .load(let run): "start \(run.invocation.id.name) \(run.handler.name)"
        case .terminate(let id): "terminate \(id.name)"
        case .stop(let id): "stop \(id.name)"
        case .publishEnded(let end): "publish \(end.seq) ended without \(end.overdue)"
        case .breaker(let change): "breaker \(change.handler) \(change.isOpen ? "open" : "closed")"
        case .decided(let end): "end \(end.invocation.id.name) \(end.result.outcome.rawValue)"
        }
    }
}

extension InvocationRecord {
    fileprivate var text: String {
        if let result { return "\(id.name) \(result.outcome.rawValue)" }
        return started ? "\(id.name) started" : id.name
    }
}
