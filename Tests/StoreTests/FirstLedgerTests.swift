import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The ledger of one machine", .timeLimit(.minutes(30)))
struct FirstLedgerTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private let second = TemporaryDirectory()
    private let boot = UUID128(high: 7, low: 7)

    /// Fills a ledger of one machine; its last requests are only in its log.
    private func fill(_ numbers: ClosedRange<Int64>) async throws {
        let ledger = try TestLedger(directory.path)
        for number in numbers { try await ledger.commit(Fixture.delivery(number)) }
        ledger.committer.stop()
    }

    private func begin() throws -> MemoryEngine {
        let first = try FirstLedger(in: directory.path, boot: boot, at: WallTime(milliseconds: 5)) {
            $0 == 1000 ? "alice" : "uid:\($0)"
        }
        try first.join(fleet: UUID128(high: 1, low: 1))
        return MemoryEngine(first.start) { first.part($0) }
    }

    private func lead(_ path: String, _ engine: MemoryEngine, epoch: Int64) throws -> TestLedger {
        try TestLedger(
            path,
            shared: SharedStore(
                identity: try engine.identity(), epoch: epoch, boot: boot, clocks: BootClocks(),
                writing: engine.session(), reading: engine.session()))
    }

    /// Opens a copy as a machine of the fleet does at its start.
    private func copy(_ path: String, _ engine: MemoryEngine) throws(StoreError) -> LedgerCopy {
        let identity = ShardIdentity(fleet: UUID128(high: 1, low: 1), state: engine.state)
        try FleetMark.join(identity, in: path)
        var fetch = SnapshotFetch(from: engine, into: path, of: identity, isStopped: { false })
        _ = try fetch.run()
        let copy = try LedgerCopy(directory: path, of: identity)
        var clocks = BootClocks()
        while try copy.catchUp(from: engine, clocks: &clocks) > 0 {}
        return copy
    }

    @Test("becomes a fleet's: its directory continues as a copy, and an empty one starts from the database")
    func becomes() async throws {
        try await fill(1...3)
        let engine = try begin()
        let number = try #require(engine.chain.first).reference.number
        #expect(names(in: directory.path).allSatisfy { !$0.hasPrefix("first") })
        #expect(try copy(second.path, engine).number == number)
        #expect(try copy(directory.path, engine).number == number)
        #expect(access(directory.path + "/log", F_OK) != 0)
        for (epoch, path) in [(1, directory.path), (2, second.path)] as [(Int64, String)] {
            let leader = try lead(path, engine, epoch: epoch)
            try await leader.commit(Fixture.delivery(3 + epoch))
            #expect(try leader.storedNumbers() == Array(1...(3 + epoch)))
            #expect(try leader.reader().stateIdentity == engine.state)
            leader.committer.stop()
        }
    }

    @Test("registers its users as producers, by their account names on its machine")
    func producers() async throws {
        let ledger = try TestLedger(directory.path)
        for (seq, uid) in [(1, 1000), (2, 7), (3, 1000)] as [(Int64, UInt32)] {
            try await ledger.commit([
                .request(Fixture.request(seq, id: "id\(seq)", uid: uid)), .invocation(Fixture.invocation(seq)),
            ])
        }
        ledger.committer.stop()
        let engine = try begin()
        let wanted = [Producer(number: 7, name: "uid:7"), Producer(number: 1000, name: "alice")]
        for path in [second.path, directory.path] {
            _ = try copy(path, engine)
            #expect(try LedgerReader(directory: path).producers() == wanted)
        }
        // A second fleet made of it finds the producers there.
        _ = try begin()
        #expect(try LedgerReader(directory: directory.path).producers() == wanted)
    }

    @Test("is set aside or refused by its fleet after its machine led alone")
    func goesOn() async throws {
        try await fill(1...3)
        let engine = try begin()
        try await fill(4...4)
        let error = #expect(throws: StoreError.self) { try copy(directory.path, engine) }
        #expect(error?.kind == .forked)
        #expect(try FleetMark.leave(directory.path)?.fleet == UUID128(high: 1, low: 1))
        let refused = #expect(throws: StoreError.self) { try copy(directory.path, engine) }
        #expect(refused?.kind == .otherFleet(led: true))
        #expect(try TestLedger(directory.path).storedNumbers() == [1, 2, 3, 4])
        // Another fleet can be made of it.
        let other = try begin()
        #expect(try copy(directory.path, other).number > engine.chain[0].reference.number)
    }

    @Test("can be made of a copy again, with the same id, numbers and events")
    func back() async throws {
        let engine = MemoryEngine()
        let leader = try lead(directory.path, engine, epoch: 1)
        for number in 1...3 { try await leader.commit(Fixture.delivery(Int64(number))) }
        leader.committer.stop()
        let number = try copy(second.path, engine).number
        #expect(try FleetMark.leave(second.path) != nil)
        for _ in 1...2 {
            let ledger = try TestLedger(second.path)
            let next = try #require(try ledger.storedNumbers().last) + 1
            try await ledger.commit(Fixture.delivery(next))
            #expect(try ledger.storedNumbers() == Array(1...next))
            #expect(try ledger.reader().stateIdentity == engine.state)
            #expect(ledger.committer.lastNumber >= number)
            ledger.committer.stop()
        }
    }

    @Test("is reported missing where there is none, and in use while its daemon runs")
    func unusable() async throws {
        let missing = #expect(throws: StoreError.self) { _ = try begin() }
        #expect(missing?.kind == .missing)
        let ledger = try TestLedger(directory.path)
        let used = #expect(throws: StoreError.self) { _ = try begin() }
        #expect(used?.kind == .inUse(by: getpid()))
        ledger.committer.stop()
    }
}

@Suite("The mark of a fleet's copy")
struct FleetMarkTests: ~Copyable {
    private let directory = TemporaryDirectory()

    private func join(_ fleet: UInt64, cluster: Int64? = 5, database: Int64? = 9) -> StoreError.Kind? {
        do throws(StoreError) {
            try FleetMark.join(
                ShardIdentity(
                    fleet: UUID128(high: 0, low: fleet), state: UUID128(high: 0, low: 3),
                    place: DatabasePlace(cluster: cluster, database: database)), in: directory.path)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test("refuses another fleet, the same fleet in another cluster, and the same fleet in another database")
    func refuses() {
        #expect(join(1) == nil)
        #expect(join(1) == nil)
        #expect(join(2) == .otherFleet(led: false))
        #expect(join(1, cluster: 6) == .otherFleet(led: false))
        #expect(join(1, database: 8) == .otherFleet(led: false))
    }

    @Test("compares the fleet alone while the engine reports no cluster id, and stores the cluster id once it does")
    func managed() {
        #expect(join(1, cluster: nil) == nil)
        #expect(join(2, cluster: nil) == .otherFleet(led: false))
        #expect(join(1, cluster: 5) == nil)
        #expect(join(1, cluster: nil) == nil)
        #expect(join(1, cluster: 6) == .otherFleet(led: false))
    }

    @Test("records that a copy led alone, until the copy joins another fleet")
    func left() throws {
        #expect(try FleetMark.leave(directory.path) == nil)
        #expect(join(1) == nil)
        #expect(try FleetMark.leave(directory.path)?.place == DatabasePlace(cluster: 5, database: 9))
        #expect(join(1) == .otherFleet(led: true))
        try FleetMark(fleet: UUID128(high: 0, low: 4)).write(in: directory.path)
        #expect(join(4) == nil)
    }
}
