import TestSupport
import Testing

@testable import PostgreSQL
@testable import PushModel

@Suite(
    "A fleet in PostgreSQL", .serialized, .needsPostgreSQL, RunningServer())
struct CreationTests {
    private let server: PostgreSQLServer
    private let database: String
    private let address: ConnectionString
    private let start: ChainStart

    init() throws {
        server = try #require(RunningServer.current)
        database = "made_\(UInt32.random(in: 0 ... .max))"
        server.sql("CREATE DATABASE \(database)")
        address = try ConnectionString(server.address(database))
        var first = batch(7, behind: BatchReference(number: 41, id: BatchReference.start.id), epoch: 0)
        first.lastCursor = nil
        let snapshot = Snapshot(
            id: UUID128(high: 5, low: 5), reference: first.reference, schema: 1, length: (1 << 20) + 2, checksum: 9)
        start = ChainStart(state: UUID128(high: 4, low: 4), batch: first, snapshot: snapshot)
    }

    private func engine() -> PostgreSQLEngine {
        PostgreSQLEngine(
            EngineOptions(address: address, durability: .engine, node: "a", role: .log, time: .seconds(5)))
    }

    private func make(missing: Int? = nil) throws(EngineProblem) -> ShardIdentity {
        try FleetDatabase.initialise(address, start, as: UUID128(high: 8, low: 8)) {
            $0 == missing ? nil : [UInt8](repeating: UInt8($0 + 1), count: $0 == 0 ? 1 << 20 : 2)
        }
    }

    @Test("begins with the ledger of one machine: its chain follows that ledger, and so does the snapshot")
    func ledger() throws {
        let made = try make()
        let engine = engine()
        #expect(try engine.identity().fleet == made.fleet && made.state == start.state)
        #expect(try engine.tail().reference == start.batch.reference)
        #expect(try engine.batches(from: 0, atMost: 9).map(\.batch) == [start.batch])
        let state = try engine.snapshots()
        #expect(state.snapshots.map(\.snapshot) == [start.snapshot] && state.first == 42 && state.last == 42)
        #expect(try engine.part(1, of: UUID128(high: 5, low: 5)) == [2, 2])
        #expect(engine.append(batch(8, behind: start.batch.reference)) == .committed)
        #expect(try FleetDatabase.status(address).shards[0].snapshots.count == 1)
    }

    @Test("does not exist after an incomplete set-up, and the next set-up removes the remains", arguments: [0, 1])
    func halfWay(missing: Int) throws {
        #expect(throws: EngineProblem.self) { try make(missing: missing) }
        let problem = #expect(throws: EngineProblem.self) { try engine().identity() }
        #expect(problem?.kind == .lacking)
        #expect(try make().fleet == engine().identity().fleet)
        let again = #expect(throws: EngineProblem.self) { try make() }
        #expect(again?.message.hasSuffix("already") == true)
    }

    @Test("gets another id for its clone, which then has no leader")
    func adopt() throws {
        let made = try make()
        let engine = engine()
        #expect(try engine.take(engine.lease(), for: NodeIncarnation(node: "a", id: made.fleet)) == 1)
        let fleet = try FleetDatabase.adopt(address)
        #expect(try fleet != made.fleet && self.engine().identity().fleet == fleet)
        #expect(try self.engine().lease().owner == nil)
        #expect(try self.engine().tail().reference == start.batch.reference)
    }

    @Test("reports its cluster and its database, if the user may know")
    func place() throws {
        _ = try make()
        let place = try engine().identity().place
        #expect(place.cluster.map(String.init) == server.sql("SELECT system_identifier FROM pg_control_system()").first)
        #expect(place.database != nil)
        server.sql("CREATE ROLE small LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO small", database: database)
        server.sql("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public", database: database)
        let address = try ConnectionString("\(server.address(database)) user=small")
        let small = PostgreSQLEngine(
            EngineOptions(address: address, durability: .engine, node: "b", role: .log, time: .seconds(5)))
        #expect(try small.identity().place == DatabasePlace(cluster: nil, database: place.database))
    }
}
