import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Orders of the forwarder and of people")
struct ForwarderTests {
    private let run = UUID128(high: 7, low: 7)
    private let other = UUID128(high: 8, low: 8)

    private func bench(queued count: Int) throws -> Bench {
        var bench = Bench()
        for index in 0..<count { try bench.submit(.event("e\(index + 1)", brazeID: "b")) }
        return bench
    }

    private func claim(_ bench: inout Bench, _ limit: Int, by run: UUID128? = nil) -> [Int64] {
        let run = run ?? self.run
        return bench.order { $0.claim(by: run, limit: limit, at: $1, effects: &$2) }.map(\.number.value)
    }

    private func settle(_ bench: inout Bench, _ number: Int64, _ state: EntryState, by run: UUID128? = nil) -> Bool {
        let run = run ?? self.run
        return bench.order {
            $0.settle(EntryNumber(number), state, reason: nil, by: run, at: $1, effects: &$2)
        }
    }

    @Test("a claim takes the oldest entries, and a settlement ends them; a repeated settlement is ignored")
    func claims() throws {
        var bench = try bench(queued: 3)
        #expect(bench.router.hasQueuedEntries)
        #expect(claim(&bench, 2) == [1, 2])
        #expect(bench.ledger.customData[1]?.claimant == run)
        #expect(settle(&bench, 1, .sent))
        #expect(!settle(&bench, 1, .sent))
        #expect(settle(&bench, 2, .rejected))
        #expect(claim(&bench, 2) == [3])
        #expect(!bench.router.hasQueuedEntries)
        #expect(bench.ledger.customData.states == [.sent, .rejected, .claimed])
    }

    @Test("after a crash of the daemon the run keeps its claimed entries, and can settle them")
    func crash() throws {
        var bench = try bench(queued: 2)
        _ = claim(&bench, 1)
        bench.crash()
        #expect(settle(&bench, 1, .sent))
        #expect(claim(&bench, 9) == [2])
    }

    @Test("the entries of an earlier run become unknown, until a person decides")
    func unknown() throws {
        var bench = try bench(queued: 3)
        _ = claim(&bench, 3)
        #expect(claim(&bench, 3, by: other) == [])
        #expect(bench.ledger.customData.states == [.unknown, .unknown, .unknown])
        #expect(!settle(&bench, 1, .sent))
        #expect(
            bench.order { $0.resolve([EntryNumber(2), EntryNumber(9)], .discarded, at: $1, effects: &$2) } == 1)
        #expect(bench.order { $0.resolve(nil, .queued, at: $1, effects: &$2) } == 2)
        #expect(claim(&bench, 3, by: other) == [1, 3])
    }

    @Test("a decision about all unknown entries takes several turns, in order, without a claim meanwhile")
    func allUnknown() throws {
        var bench = try bench(queued: 610)
        #expect(claim(&bench, 600).count == 600)
        #expect(claim(&bench, 1, by: other) == [601])
        #expect(settle(&bench, 601, .unknown, by: other))
        #expect(bench.order { $0.resolve(nil, .queued, at: $1, effects: &$2) } == 601)
        let states = { bench.ledger.customData.states }
        #expect(states()[..<256].allSatisfy { $0 == .queued } && states()[256..<601].allSatisfy { $0 == .unknown })
        #expect(bench.router.hasWorkLeft && bench.router.removalsEnded < bench.router.removalsBegun)
        #expect(bench.router.customDataSummary.unknown == 345 && bench.router.customDataSummary.pending == 0)
        #expect(!bench.router.hasEntries(for: other) && claim(&bench, 3, by: other) == [])
        bench.clock()
        #expect(claim(&bench, 3, by: other) == [])
        bench.clock()
        #expect(!bench.router.hasWorkLeft && bench.router.customDataSummary.unknown == 0)
        #expect(bench.router.removalsBegun == 1 && bench.router.removalsEnded == 1)
        #expect(claim(&bench, 1000, by: other) == Array(1...610))
    }

    @Test("after a crash the rest of such a decision stays unknown")
    func allUnknownInterrupted() throws {
        var bench = try bench(queued: 300)
        #expect(claim(&bench, 300).count == 300)
        #expect(claim(&bench, 1, by: other) == [])
        #expect(bench.order { $0.resolve(nil, .discarded, at: $1, effects: &$2) } == 300)
        bench.crash()
        #expect(bench.router.customDataSummary.unknown == 44)
        #expect(bench.order { $0.resolve(nil, .discarded, at: $1, effects: &$2) } == 44)
        #expect(bench.router.customDataSummary.unknown == 0 && bench.router.customDataSummary.bytes == 0)
    }

    @Test("one run has at most 10,000 entries; a settlement makes room for more")
    func heldMax() throws {
        var bench = Bench()
        for _ in 1...10_100 { try bench.submit(.event(brazeID: "b")) }
        let claimed = (1...11).flatMap { _ in claim(&bench, 950) }
        #expect(claimed == Array(1...10_000))
        #expect(!bench.router.hasEntries(for: run) && bench.router.hasEntries(for: other))
        #expect(settle(&bench, 7, .sent))
        #expect(bench.router.hasEntries(for: run) && claim(&bench, 950) == [10_001])
        #expect(claim(&bench, 2, by: other) == [10_002, 10_003])
    }

    @Test("with OnUnknown=retry an unknown entry is claimed again, in its place")
    func retry() throws {
        var table = RoutingTable.testing()
        table.customData.onUnknown = .retry
        var bench = Bench(table)
        for _ in 1...3 { try bench.submit(.event(brazeID: "b")) }
        _ = claim(&bench, 1)
        #expect(claim(&bench, 9, by: other) == [1, 2, 3])
    }

    @Test("entries of a reply that the run never got are queued again in their places")
    func release() throws {
        var bench = try bench(queued: 4)
        _ = claim(&bench, 3)
        bench.order { $0.release(allBut: [EntryNumber(2)], of: run, at: $1, effects: &$2) }
        #expect(bench.ledger.customData.states == [.queued, .claimed, .queued, .queued])
        #expect(claim(&bench, 9) == [1, 3, 4])
    }

    @Test("a look at the queue changes nothing, page by page")
    func peek() throws {
        var bench = try bench(queued: 5)
        _ = claim(&bench, 1)
        let pages = [0, 3].map { bench.router.queuedEntries(after: EntryNumber($0), limit: 2).map(\.number.value) }
        #expect(pages == [[2, 3], [4, 5]])
        // A released entry keeps its number, and so its place in the queue.
        bench.order { $0.release(allBut: [], of: run, at: $1, effects: &$2) }
        #expect(bench.router.queuedEntries(after: EntryNumber(0), limit: 9).map(\.number.value) == [1, 2, 3, 4, 5])
        #expect(bench.router.queuedEntries(after: EntryNumber(1), limit: 9).map(\.number.value) == [2, 3, 4, 5])
        #expect(bench.ledger.customData.states == [.queued, .queued, .queued, .queued, .queued])
    }

    @Test("the sending state is stored with its time; a repeat is not written again")
    func sending() throws {
        var bench = try bench(queued: 1)
        func report(_ bench: inout Bench, _ phase: SendingState.Phase, failures: Int = 0) -> Int {
            bench.order {
                $0.report(phase, reason: nil, failures: failures, until: nil, at: $1, effects: &$2)
                return $2.records.count
            }
        }
        let start = bench.now.wall
        #expect(report(&bench, .waiting, failures: 1) == 1)
        bench.at(.seconds(10))
        #expect(report(&bench, .waiting, failures: 1) == 0)
        #expect(report(&bench, .waiting, failures: 2) == 1)
        #expect(bench.router.sending == SendingState(phase: .waiting, failures: 2, since: start))
        bench.crash()
        #expect(bench.router.sending == SendingState(phase: .waiting, failures: 2, since: start))
        #expect(report(&bench, .sending) == 1)
        #expect(bench.router.sending?.since == bench.now.wall)
    }

    @Test("a person can flush one suite or all, as a session start for the device's last known user does")
    func flush() throws {
        var bench = Bench()
        try bench.submit(.session(on: "phone", user: "u1"))
        try bench.submit(.event("a", suite: "group.a"))
        try bench.submit(.event("b"))
        let target = Target(app: "shop", device: "phone")
        #expect(bench.order { $0.flush(target, suite: "group.a", at: $1, effects: &$2) } == 1)
        #expect(bench.ledger.events.last?.name == "a")
        #expect(bench.ledger.events.last?.externalUserID == "u1")
        #expect(bench.order { $0.flush(target, suite: nil, at: $1, effects: &$2) } == 1)
        #expect(bench.ledger.events.count { $0.kind == .sessionStart } == 1)
    }

    @Test("a person can empty a suite, of one app or of all")
    func reset() throws {
        var bench = Bench()
        try bench.submit(.event("a", suite: "group.a"))
        try bench.submit(.event("b", app: "news", suite: "group.a"))
        try bench.submit(.event("c"))
        #expect(bench.order { $0.reset(suite: "group.a", app: "news", at: $1, effects: &$2) } == 1)
        #expect(bench.order { $0.reset(suite: "group.a", app: nil, at: $1, effects: &$2) } == 1)
        #expect(bench.ledger.customData.states == [.discarded, .discarded, .pending])
    }
}
