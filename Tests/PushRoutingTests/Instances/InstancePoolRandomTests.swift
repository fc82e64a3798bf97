import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// A random environment for a pool: instances that are slow, die, hang, write garbage or repeat themselves, by seed.
private struct World {
    private var random: SeededGenerator
    private var pool: InstancePool
    private let handler: Handler
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var open: Set<InstanceID> = []
    private var opening: Set<InstanceID> = []
    private var ending: Set<InstanceID> = []
    /// The lines that each instance got and has not answered.
    private var given: [InstanceID: [(line: Int64, invocation: InvocationID)]] = [:]
    /// The line that each instance got last, and the instances that have answered.
    private var lastLine: [InstanceID: Int64] = [:]
    private var haveAnswered: Set<InstanceID> = []
    private var deadlines: [InvocationID: Instant] = [:]
    private var ends: [InvocationID: Int] = [:]
    private var sends: [InvocationID: Int] = [:]
    private var lastSeq: Int64 = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let rules = InstanceRules(
            instances: Int.random(in: 1...4, using: &random), pipeline: Int.random(in: 1...4, using: &random),
            idleTimeout: Bool.random(using: &random) ? .seconds(2) : nil,
            supportsCancellation: Bool.random(using: &random))
        handler = Handler(
            name: "crm", kind: .socket(path: "/run/crm", rules), idempotent: Bool.random(using: &random))
        pool = InstancePool(handler)
    }

    private mutating func act(_ act: (inout InstancePool, Instant, inout [InstancePool.Effect]) -> Void) {
        var effects: [InstancePool.Effect] = []
        act(&pool, now, &effects)
        effects.forEach { take($0) }
    }

    private mutating func take(_ effect: InstancePool.Effect) {
        switch effect {
        case .open(let id):
            opening.insert(id)
            #expect(open.count + opening.count <= pool.rules.instances)
        case .send(let run, let line, let id):
            #expect(open.contains(id) && !ending.contains(id), "only open instances get lines")
            given[id, default: []].append((line, run.invocation.id))
            lastLine[id] = line
            #expect(given[id]?.count ?? 0 <= pool.rules.pipeline)
            sends[run.invocation.id, default: 0] += 1
            #expect(handler.idempotent || sends[run.invocation.id] == 1, "what may not be repeated is sent once")
            #expect(now < deadlines[run.invocation.id] ?? now, "nothing is sent at its deadline or later")
        case .reassign(let invocation, let id):
            let last = given[id]?.popLast()
            #expect(haveAnswered.contains(id) && last?.invocation == invocation && last?.line == lastLine[id])
            sends[invocation, default: 0] -= 1
        case .cancel(let line, let id):
            #expect(pool.rules.supportsCancellation && open.contains(id), "only who can be told is told")
            #expect(given[id]?.contains { $0.line == line } == true, "what was given is taken back")
            lastLine[id] = nil
        case .finishInput(let id):
            #expect(given[id, default: []].isEmpty, "who owes an answer is not sent away")
            open.remove(id)
            opening.remove(id)
            ending.insert(id)
        case .close(let id): forget(id)
        case .note, .request: break
        case .report(.started): break
        case .report(.finished(let id, _)), .report(.failedToStart(let id, _)): end(id)
        case .report(.observed(let id, _)):
            #expect(given.values.joined().contains { $0.invocation == id }, "what is seen is of what waits")
        case .report: Issue.record("an event that is none of the pool's")
        }
    }

    private mutating func end(_ id: InvocationID) {
        ends[id, default: 0] += 1
        deadlines[id] = nil
    }

    private mutating func forget(_ id: InstanceID) {
        open.remove(id)
        opening.remove(id)
        ending.remove(id)
        given[id] = nil
    }

    mutating func step() {
        switch Int.random(in: 0..<13, using: &random) {
        case 0...2:
            lastSeq += 1
            let deadline = now + .milliseconds(Int.random(in: 1...3000, using: &random))
            deadlines[InvocationID(lastSeq)] = deadline
            let run = PoolBench.run(lastSeq, of: handler, deadline: deadline)
            act { $0.start(run, at: $1, &$2) }
        case 3...4:
            guard let id = opening.sorted().randomElement(using: &random) else { return }
            opening.remove(id)
            if Int.random(in: 0..<4, using: &random) == 0 {
                act { $0.failedToOpen(id, reason: "cannot be opened", at: $1, &$2) }
            } else {
                open.insert(id)
                act { $0.opened(id, at: $1, &$2) }
            }
        case 5...7: answer()
        case 8:
            guard let id = open.union(ending).sorted().randomElement(using: &random) else { return }
            if Bool.random(using: &random) { takeNoMore(id) }
            forget(id)
            act { $0.closed(id, reason: "ended", at: $1, &$2) }
        case 9:
            guard let id = open.union(ending).sorted().randomElement(using: &random) else { return }
            let lines = ["x", #"{"id":999999,"status":"handled"}"#, #"{"status":"handled"}"#, ""]
            let line = Array(lines[Int.random(in: 0..<lines.count, using: &random)].utf8)
            act { $0.wrote(line, by: id, at: $1, &$2) }
        case 10: pass(.milliseconds(Int.random(in: 1...1500, using: &random)))
        case 11:
            // A late loop: the due timers come after the next event.
            now = now + .milliseconds(Int.random(in: 1...50, using: &random))
        default: pass(.milliseconds(1))
        }
    }

    /// Closes an instance that left its last line unread, or had answered it.
    private mutating func takeNoMore(_ id: InstanceID) {
        open.remove(id)
        ending.insert(id)
        act { $0.acceptsNoLines(id, leavesLast: true, at: $1, &$2) }
    }

    private mutating func answer() {
        guard let id = given.filter({ !$0.value.isEmpty }).keys.sorted().randomElement(using: &random),
            let place = given[id]?.indices.randomElement(using: &random), let (line, _) = given[id]?.remove(at: place)
        else { return }
        haveAnswered.insert(id)
        let statuses = ["handled", "retry", "declined", "rejected", "what?"]
        let status = statuses[Int.random(in: 0..<statuses.count, using: &random)]
        let text = Array(#"{"id":\#(line),"status":"\#(status)"}"#.utf8)
        for _ in 0...Int.random(in: 0...1, using: &random) { act { $0.wrote(text, by: id, at: $1, &$2) } }
    }

    /// Advances the time, with all timers due in it: the pool's clock, and the router's deadlines.
    private mutating func pass(_ span: Duration) {
        let end = now + span
        while true {
            let deadline = deadlines.min { ($0.value, $0.key) < ($1.value, $1.key) }
            let due = [pool.nextDue, deadline?.value].compactMap(\.self).min()
            guard let due, due <= end else { break }
            now = max(now, due)
            if let deadline, deadline.value <= now {
                self.end(deadline.key)
                act { $0.stop(deadline.key, at: $1, &$2) }
            } else {
                act { $0.clock(at: $1, &$2) }
                #expect(pool.nextDue.map { $0 > now } ?? true, "the clock is not wanted for the same again")
            }
        }
        now = max(now, end)
    }

    /// Removes the handler from the configuration; invocations accepted before still come.
    mutating func retire() { act { $0.retire(at: $1, &$2) } }

    mutating func finish() {
        pass(.seconds(10))
        #expect(deadlines.isEmpty)
        #expect(ends.count == Int(lastSeq) && ends.values.allSatisfy { $0 == 1 }, "each has one end: \(ends)")
        if !pool.isRetired { retire() }
        pass(.seconds(2))
        #expect(pool.isEmpty && open.isEmpty)
    }
}

@Suite("Instances at random")
struct InstancePoolRandomTests {
    @Test("each invocation has one end, an invocation that may not repeat is sent once, and every bound holds")
    func seeds() {
        for seed in Search.seeds(3000) {
            var world = World(seed: seed)
            for _ in 0..<100 { world.step() }
            if seed.isMultiple(of: 2) { world.retire() }
            for _ in 0..<20 { world.step() }
            world.finish()
        }
    }
}
