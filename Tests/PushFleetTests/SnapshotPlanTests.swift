import TestSupport
import Testing

@testable import PushModel

@Suite("A snapshot of a shard")
struct SnapshotPlanTests {
    private let plan = SnapshotPlan(interval: .seconds(86_400))

    private func state(_ snapshots: (number: UInt64, age: Duration, bytes: Int64)..., last: UInt64) -> SnapshotState {
        SnapshotState(
            snapshots: snapshots.map {
                StoredSnapshot(
                    Snapshot(
                        id: UUID128(high: 1, low: $0.number),
                        reference: BatchReference(number: $0.number, id: UUID128(high: 2, low: $0.number)), schema: 1,
                        length: 3 << 20, checksum: 0), age: $0.age, bytesBehind: $0.bytes)
            }, first: 0, last: last)
    }

    @Test("is due if there is none, once there is a batch")
    func first() {
        #expect(!plan.isDue(state(last: 0)))
        #expect(plan.isDue(state(last: 1)))
    }

    @Test("is due when the newest one is a day old, or has 8 GiB of batches behind it, and a batch came since")
    func due() {
        #expect(!plan.isDue(state((5, .seconds(86_399), 8 << 30 - 1), last: 9)))
        #expect(plan.isDue(state((5, .seconds(86_400), 0), last: 9)))
        #expect(plan.isDue(state((5, .zero, 8 << 30), last: 9)))
        #expect(!plan.isDue(state((9, .seconds(900_000), 0), last: 9)))
    }

    @Test("is due, and the leader's to write, when the engine's clock was set back behind what it wrote before")
    func clockSetBack() {
        #expect(!plan.isDue(state((5, .seconds(-86_399), 0), last: 9)))
        #expect(plan.isDue(state((5, .seconds(-86_400), 0), last: 9)))
        var state = state((5, .seconds(-86_400), 0), last: 9)
        state.copies = ["b": .seconds(-59)]
        #expect(!plan.isWriter(state, leads: true, node: "a"))
        state.copies = ["b": .seconds(-60)]
        #expect(plan.isWriter(state, leads: true, node: "a"))
        state.copies = ["b": .zero]
        state.snapshots[0].age = .seconds(-172_800)
        #expect(plan.isWriter(state, leads: true, node: "a"))
    }

    @Test("is due after an erasure until each one that is kept has it")
    func erasure() {
        let young = Duration.seconds(1)
        #expect(!plan.isDue(state((7, young, 0), (5, young, 0), last: 9), erasure: 5))
        #expect(plan.isDue(state((7, young, 0), (5, young, 0), last: 9), erasure: 8))
        #expect(plan.isDue(state((9, young, 0), (7, young, 0), last: 9), erasure: 8))
        #expect(!plan.isDue(state((9, young, 0), (9, young, 0), (7, young, 0), last: 9), erasure: 8))
    }

    @Test("is written by a follower, and by the leader without a follower for a minute, or after two days without one")
    func writer() {
        var state = state(last: 9)
        #expect(plan.isWriter(state, leads: false, node: "a"))
        #expect(plan.isWriter(state, leads: true, node: "a"))
        state.copies = ["a": .zero, "b": .seconds(59)]
        #expect(!plan.isWriter(state, leads: true, node: "a"))
        state.copies = ["a": .zero, "b": .seconds(60)]
        #expect(plan.isWriter(state, leads: true, node: "a"))
        var old = self.state((5, .seconds(172_799), 0), last: 9)
        old.copies = ["b": .zero]
        #expect(!plan.isWriter(old, leads: true, node: "a"))
        old.snapshots[0].age = .seconds(172_800)
        #expect(plan.isWriter(old, leads: true, node: "a"))
    }

    @Test("that a node began as a follower is finished by it when it leads: nobody else may for ten minutes")
    func ownClaim() {
        var state = state(last: 9)
        state.copies = ["b": .zero]
        state.claim = SnapshotClaim(id: UUID128(high: 1, low: 1), node: "b", moves: 0)
        #expect(!plan.isWriter(state, leads: true, node: "a"))
        state.claim?.node = "a"
        #expect(plan.isWriter(state, leads: true, node: "a"))
    }

    @Test("is copied at the rate while the WAL is short, then fast, and gives way on a leader before the ledger waits")
    func pace() {
        func pace(_ length: Int, leads: Bool) -> CopyPace { CopyPace(walLength: length, walLimit: 400, leads: leads) }
        #expect([0, 99].allSatisfy { pace($0, leads: true) == .paced && pace($0, leads: false) == .paced })
        #expect([100, 299].allSatisfy { pace($0, leads: true) == .unpaced && pace($0, leads: false) == .unpaced })
        #expect([300, 1000].allSatisfy { pace($0, leads: true) == .givesWay && pace($0, leads: false) == .unpaced })
    }

    @Test("that is being written is replaced when it made no progress for a time by the other node's clock")
    func claim() {
        var watch = ClaimWatch(patience: .seconds(600))
        func mayBegin(_ moves: Int64?, at seconds: Int64) -> Bool {
            let claim = moves.map { SnapshotClaim(id: UUID128(high: 1, low: 1), node: "b", moves: $0) }
            return watch.mayBegin(claim, at: Instant(nanoseconds: seconds * 1_000_000_000))
        }
        #expect(mayBegin(nil, at: 0))
        #expect(!mayBegin(0, at: 1000))
        #expect(!mayBegin(0, at: 1599))
        #expect(!mayBegin(1, at: 1600))
        #expect(mayBegin(1, at: 2200))
    }

    @Test("has parts of one length, except the last")
    func parts() {
        var snapshot = Snapshot(
            id: UUID128(high: 1, low: 1), reference: .start, schema: 1, length: (2 << 20) + 5, checksum: 0)
        #expect(snapshot.parts == 3 && (0..<3).map { snapshot.length(ofPart: $0) } == [1 << 20, 1 << 20, 5])
        snapshot.length = 2 << 20
        #expect(snapshot.parts == 2 && snapshot.length(ofPart: 1) == 1 << 20)
    }
}
