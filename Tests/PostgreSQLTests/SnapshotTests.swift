import TestSupport
import Testing

@testable import PostgreSQL
@testable import PushModel

@Suite(
    "Snapshots of a shard in PostgreSQL", .serialized, .needsPostgreSQL,
    RunningServer())
struct SnapshotTests {
    private let fleet: Fleet
    private let engine: PostgreSQLEngine

    init() throws {
        fleet = try Fleet()
        engine = try fleet.engine()
    }

    private static func id(_ number: UInt64) -> UUID128 { UUID128(high: 5, low: number) }

    private func snapshot(_ id: UInt64, behind reference: BatchReference, length: Int64 = 3) -> Snapshot {
        Snapshot(id: Self.id(id), reference: reference, schema: 1, length: length, checksum: .max)
    }

    /// Appends batches with three bytes each.
    private func append(_ numbers: ClosedRange<UInt64>) throws {
        for number in numbers {
            #expect(engine.append(batch(number, behind: try engine.tail().reference)) == .committed)
        }
    }

    private func finish(_ id: UInt64, behind number: UInt64) throws {
        #expect(try engine.beginSnapshot(Self.id(id), by: "a", replacing: nil))
        #expect(try engine.putPart(0, of: Self.id(id), [1, 2, 3]))
        let reference = try #require(try engine.batches(from: number, atMost: 1).first).batch.reference
        #expect(try engine.finishSnapshot(snapshot(id, behind: reference)))
    }

    private func makeOld(_ batches: String) {
        fleet.server.sql(
            "UPDATE push_batches SET at = at - interval '601 seconds' WHERE \(batches)", database: fleet.database)
    }

    @Test("count once they are finished, with their age and the number of bytes behind them")
    func counts() throws {
        try append(1...3)
        let first = try engine.batches(from: 1, atMost: 1)[0].batch.reference
        #expect(try engine.beginSnapshot(Self.id(1), by: "a", replacing: nil))
        #expect(try engine.putPart(0, of: Self.id(1), [9, 0, 255]))
        #expect(try engine.putPart(0, of: Self.id(1), [9, 0, 255]))
        var state = try engine.snapshots()
        #expect(state.snapshots == [] && state.claim == SnapshotClaim(id: Self.id(1), node: "a", moves: 2))
        #expect(state.first == 0 && state.last == 3)
        let finished = snapshot(1, behind: first)
        for _ in 1...2 { #expect(try engine.finishSnapshot(finished)) }
        state = try engine.snapshots()
        #expect(state.snapshots.map(\.snapshot) == [finished] && state.claim == nil)
        #expect(state.snapshots[0].bytesBehind == 6 && .zero...Duration.seconds(5) ~= state.snapshots[0].age)
        #expect(try engine.part(0, of: Self.id(1)) == [9, 0, 255])
        #expect(try engine.part(1, of: Self.id(1)) == nil)
    }

    @Test("are written by one node at a time; a stalled one is given up, and its writer gets an error")
    func oneAtATime() throws {
        let other = try fleet.engine("b", .read)
        #expect(try engine.beginSnapshot(Self.id(1), by: "a", replacing: nil))
        #expect(try !other.beginSnapshot(Self.id(2), by: "b", replacing: nil))
        let seen = try #require(try other.snapshots().claim)
        #expect(try engine.moveSnapshot(Self.id(1)))
        #expect(try !other.beginSnapshot(Self.id(2), by: "b", replacing: seen))
        #expect(try engine.putPart(0, of: Self.id(1), [1]))
        #expect(try other.beginSnapshot(Self.id(2), by: "b", replacing: try other.snapshots().claim))
        #expect(try !engine.putPart(1, of: Self.id(1), [1]))
        #expect(try !engine.moveSnapshot(Self.id(1)))
        #expect(try !engine.finishSnapshot(snapshot(1, behind: .start)))
        #expect(try !other.removeSnapshots(partsAtMost: 8))
        #expect(try other.part(0, of: Self.id(1)) == nil)
        #expect(try other.snapshots().claim?.id == Self.id(2))
    }

    @Test("are deleted when there are two newer ones, a few parts at a time")
    func two() throws {
        try append(1...3)
        for id in 1...3 as ClosedRange<UInt64> { try finish(id, behind: id) }
        #expect(try engine.removeSnapshots(partsAtMost: 0))
        #expect(try engine.snapshots().snapshots.map(\.snapshot.id) == [Self.id(3), Self.id(2)])
        #expect(try !engine.removeSnapshots(partsAtMost: 1))
        #expect(try engine.part(0, of: Self.id(1)) == nil)
        #expect(try engine.part(0, of: Self.id(2)) == [1, 2, 3])
    }

    @Test("allow deleting batches older than ten minutes and before the older one of two, however far copies are")
    func trims() throws {
        try append(1...6)
        makeOld("number < 6")
        try engine.note(NodeIncarnation(node: "a", id: Self.id(1)), applied: 6, reads: 1, program: "1.0")
        #expect(try engine.trim(atMost: 100) == 0)
        try finish(1, behind: 4)
        #expect(try engine.trim(atMost: 100) == 0)
        try finish(2, behind: 5)
        #expect(try engine.trim(atMost: 3) == 3)
        #expect(try engine.trim(atMost: 3) == 1)
        #expect(try engine.trim(atMost: 3) == 0)
        #expect(try engine.snapshots().first == 4)
        #expect(try engine.snapshots().snapshots.map(\.bytesBehind) == [3, 6])
        try append(7...7)
        #expect(try engine.batches(from: 0, atMost: 9).map(\.batch.reference.number) == [4, 5, 6, 7])
    }

    @Test("leave no gap when the engine's clock was set back, and delete no young batch")
    func young() throws {
        try append(1...6)
        for id in 1...2 as ClosedRange<UInt64> { try finish(id, behind: 6) }
        #expect(try engine.trim(atMost: 100) == 0)
        // Batches 3 and 4 are from before the clock was set back.
        makeOld("number NOT IN (3, 4)")
        #expect(try engine.trim(atMost: 100) == 3)
        #expect(try engine.snapshots().first == 3)
    }

    @Test("keep a batch longer than any late copy of an append can run")
    func lateAppend() throws {
        let limit = try #require(SessionSettings.options.first { $0.name == "statement_timeout" })
        #expect(try #require(Int(limit.value)) <= 600_000 / 60)
    }
}
