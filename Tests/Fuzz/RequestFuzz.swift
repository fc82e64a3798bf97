import PushModel
import PushProtocol
import PushRouting
import PushTracking

// Fuzzes the path of a request: lines that are read, submitted to one router, run, tapped and timed out. Any bytes
// must give a reply that is one line of JSON, and every invocation must end once; nothing may trap.

@c(LLVMFuzzerTestOneInput)
public func fuzzRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    var path = RequestPath()
    for line in text.split(separator: UInt8(ascii: "\n")) { path.take(Array(line)) }
    path.finish()
    return 0
}

private struct RequestPath {
    private var router: Router
    private var effects: [Effect] = []
    private var time: Int64 = 0
    private var open: Set<InvocationID> = []

    init() {
        let state = UUID128(high: 1, low: 2)
        let data = RouteMatch.KeyCondition(key: "k", pattern: Glob("*a?[!b]"))
        let table = RoutingTable(
            mode: .device,
            routes: [
                Route(name: "data", match: RouteMatch(data: [data]), handler: "program"),
                Route(name: "pairs", match: RouteMatch(keyValues: [data]), handler: "log"),
                Route(name: "all", match: RouteMatch(apps: [Glob("*")]), handler: "program"),
            ],
            handlers: [
                "program": Handler(name: "program", kind: .exec(.init(arguments: ["/bin/true"]))),
                "log": Handler(name: "log", kind: .journal),
            ],
            limits: RoutingLimits(handlers: 2, inFlight: 8, inFlightPerPeer: 8))
        var rules = TrackerRules()
        rules.rememberMax = 4
        router = Router(boot: state, table: table, tracker: Tracker(stateID: state, rules: rules))
    }

    mutating func take(_ line: [UInt8]) {
        time += 1_000_000_000
        do {
            let request = try Request(line: line)
            do {
                let seq = try router.submit(request, from: Peer(uid: 1, gid: 1, pid: 1), at: now, effects: &effects)
                check(Reply.accepted(seq, id: request.id))
            } catch {
                check(Reply.refused(ProtocolError(error, id: request.id)))
            }
        } catch {
            check(Reply.refused(error))
        }
        carryOut()
    }

    mutating func finish() {
        while let due = router.nextDue {
            time = max(time, due.nanoseconds)
            router.handle(.clock, at: now, effects: &effects)
            carryOut()
        }
        precondition(open.isEmpty && router.requestsInFlight == 0, "an invocation has not ended")
    }

    private var now: Moment {
        Moment(
            monotonic: Instant(nanoseconds: time), wall: WallTime(milliseconds: 1_700_000_000_000 + time / 1_000_000))
    }

    private mutating func carryOut() {
        for effect in effects {
            switch effect {
            case .record(.invocation(let row)):
                precondition(open.insert(row.id).inserted, "an invocation comes twice")
            case .decided(let end):
                precondition(open.remove(end.invocation.id) != nil, "an invocation ends twice")
                check(Reply.outcome(end.invocation, end.result, id: end.request.id))
            case .start(let run):
                check(HandlerInput.object(run, at: now))
                for (_, value) in HandlerInput.environment(run, at: now) {
                    precondition(!value.utf8.contains(0), "a variable with a NUL")
                }
            case .record(.event(let event)):
                var writer = JSONWriter()
                writer.object { $0.members(of: event) }
                check(writer.bytes + [UInt8(ascii: "\n")])
            case .record, .terminate, .stop: break
            }
        }
        effects = []
    }

    private func check(_ line: [UInt8]) {
        precondition(line.last == UInt8(ascii: "\n") && !line.dropLast().contains(UInt8(ascii: "\n")), "not one line")
        // A handler's input holds the payload one level deeper than it was.
        guard (try? JSONDocument(scanning: line, limits: JSONLimits(depth: 64))) != nil else {
            preconditionFailure("no JSON: \(String(decoding: line, as: UTF8.self))")
        }
    }
}
