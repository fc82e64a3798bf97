import PushModel
import PushRouter
import PushSettings

// Fuzzes the path of a request: lines that are read, submitted to one router, run, answered, tapped and timed out. Any
// bytes must give a reply of one line of JSON; a handler's input must be one too, with the payload unchanged; every
// invocation must end once; nothing may trap.
//
// A line that begins with "!" is no request but the output of the oldest running handler.

@c(LLVMFuzzerTestOneInput)
public func fuzzRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    var path = RequestPath()
    for line in text.split(separator: UInt8(ascii: "\n")) {
        if line.first == UInt8(ascii: "!") { path.answer(Array(line.dropFirst())) } else { path.take(Array(line)) }
    }
    path.finish()
    return 0
}

/// The shipped providers, and every kind of route.
private let table: RoutingTable = {
    guard var table = Settings.load(.shipped).settings?.routing else {
        preconditionFailure("what is shipped has errors")
    }
    let condition = RouteMatch.KeyCondition(key: "k", pattern: Glob("*a?[!b]"))
    table.routes = [
        Route(name: "data", match: RouteMatch(data: [condition]), handler: "program"),
        Route(name: "pairs", match: RouteMatch(keyValues: [condition]), handler: "log"),
        Route(name: "tokens", match: RouteMatch(callbacks: [.onNewToken, .onRegistered]), handler: "log"),
        Route(name: "taps", match: RouteMatch(callbacks: [.didReceiveResponse]), handler: "program"),
        Route(name: "watch", match: RouteMatch(), handler: "program", budget: .seconds(2), observes: true),
        Route(name: "all", match: RouteMatch(apps: [Glob("*")]), handler: "program", budget: .seconds(5)),
        Route(name: "none", match: RouteMatch(providers: [RouteMatch.noProvider]), handler: "program"),
    ]
    table.handlers = [
        "program": Handler(name: "program", kind: .exec(.init(arguments: ["/bin/true"])), grace: .milliseconds(500)),
        "log": Handler(name: "log", kind: .journal),
    ]
    (table.limits.handlers, table.limits.observers) = (2, 1)
    (table.limits.inFlight, table.limits.inFlightPerPeer) = (8, 8)
    return table
}()

private struct RequestPath {
    private var router: Router
    private var effects = Effects()
    private var time: Int64 = 0
    private var open: Set<InvocationID> = []
    /// Handlers that were started, have not answered and were not stopped, the oldest first.
    private var running: [InvocationID] = []
    /// The deliveries that the ledger would know.
    private var past: [SequenceNumber: PastDelivery] = [:]

    init() {
        let state = UUID128(high: 1, low: 2)
        var rules = TrackerRules()
        rules.rememberMax = 4
        router = Router(boot: state, table: table, tracker: Tracker(stateID: state, rules: rules))
    }

    mutating func take(_ line: [UInt8]) {
        time += 1_000_000_000
        do {
            let request = try Request(line: line)
            do {
                let acceptance = try router.submit(
                    request, from: Peer(uid: 1, gid: 1, pid: 1), past: pastDelivery(of: request), at: now,
                    effects: &effects)
                check(Reply.accepted(acceptance.seq, id: request.id, rejected: acceptance.rejections))
                remember(request)
            } catch {
                check(Reply.refused(ProtocolError(error, id: request.id)))
            }
        } catch {
            check(Reply.refused(error))
        }
        carryOut()
    }

    /// Ends the oldest running handler with this output, which also selects its exit status.
    mutating func answer(_ output: [UInt8]) {
        let reply = HandlerAnswer.Content(standardOutput: output)
        guard let id = running.first else { return }
        running.removeFirst()
        router.handle(.started(id), at: now, effects: &effects)
        time += 1_000_000
        let status: Int32 = [0, 0, 75, 80, 1][output.count % 5]
        router.handle(
            .finished(id, HandlerAnswer(exitStatus: status, content: reply ?? .init())), at: now, effects: &effects)
        carryOut()
    }

    mutating func finish() {
        while let due = router.nextDue {
            time = max(time, due.nanoseconds)
            router.handle(.clock, at: now, effects: &effects)
            carryOut()
        }
        precondition(open.isEmpty && router.requestsInFlight == 0, "an invocation has not ended")
        precondition(running.isEmpty && router.handlersRunning == 0, "a handler runs on")
    }

    private var now: Moment {
        Moment(
            monotonic: Instant(nanoseconds: time), wall: WallTime(milliseconds: 1_700_000_000_000 + time / 1_000_000))
    }

    private func pastDelivery(of request: Request) -> PastDelivery? {
        guard case .interact(let interact) = request.action else { return nil }
        return switch interact.subject {
        case .delivery(let seq): past[seq]
        case .message(let message):
            past.values.filter { $0.accepted.messageID == message }.max { $0.accepted.seq < $1.accepted.seq }
        case .payload: nil
        }
    }

    private mutating func remember(_ request: Request) {
        guard case .deliver(let deliver) = request.action else { return }
        let records = effects.records.map { $0.record }
        for case .request(let accepted) in records {
            var delivery = PastDelivery(accepted: accepted, provider: nil, request: deliver)
            for case .invocation(let row) in records { delivery.provider = row.provider }
            past[accepted.seq] = delivery
        }
    }

    private mutating func carryOut() {
        for item in effects.takeOutput() {
            switch item {
            case .record(.invocation(let row)):
                precondition(open.insert(row.id).inserted, "an invocation comes twice")
            case .effect(.decided(let end)):
                precondition(open.remove(end.invocation.id) != nil, "an invocation ends twice")
                running.removeAll { $0 == end.invocation.id }
                check(end)
            case .effect(.load): preconditionFailure("so little is never too much for the memory")
            case .effect(.start(let run)):
                running.append(run.invocation.id)
                check(run)
            case .record(.event(let event)):
                var writer = JSONWriter()
                writer.object { $0.members(of: event) }
                check(writer.bytes + [UInt8(ascii: "\n")])
            case .record, .effect: break
            }
        }
    }

    private func check(_ end: InvocationEnd) {
        check(Reply.outcome(end.invocation, end.result, id: end.request.id))
        let isCompleted = (end.result.completion?.times ?? 0) >= 1
        // The callback of an observer's copy belongs to its owner.
        let isOwed = end.invocation.callback != .none && !end.invocation.isObserver
        precondition(isCompleted == isOwed, "not completed, or nothing to complete")
    }

    private func check(_ run: HandlerRun) {
        let told = check(HandlerInput.object(run, at: now))
        precondition(told["delivery"]?["callback"]?.string == run.invocation.callback.rawValue, "another callback")
        precondition(
            told["payload"]?.rawBytes == run.subject.payload?.rawBytes || run.subject.payload == nil, "another payload")
        switch run.subject.action {
        case .interact(let interact):
            precondition(told["interaction"]?["kind"]?.string == interact.kind.rawValue, "another act")
            precondition(told["interaction"]?["action"]?.string == interact.action, "another button")
            precondition(told["interaction"]?["text"]?.string == interact.text, "another text")
        case .token(let token): precondition(told["token"]?["token"]?.string == token.token, "another token")
        case .deliver: precondition(told["payload"]?.kind == .object, "no payload")
        case .session, .log, .topic, .publish, .device, nil: preconditionFailure("a handler for nothing")
        }
        for (_, value) in HandlerInput.environment(run, at: now) {
            precondition(!value.utf8.contains(0), "a variable with a NUL")
        }
    }

    @discardableResult
    private func check(_ line: [UInt8]) -> JSONNode {
        precondition(line.last == UInt8(ascii: "\n") && !line.dropLast().contains(UInt8(ascii: "\n")), "not one line")
        // A handler's input nests the payload one level deeper.
        guard let document = try? JSONDocument(scanning: line, limits: JSONLimits(depth: 64)) else {
            preconditionFailure("no JSON: \(String(decoding: line, as: UTF8.self))")
        }
        return document.root
    }
}
