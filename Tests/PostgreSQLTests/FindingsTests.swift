import TestSupport
import Testing

@testable import PostgreSQL
@testable import PushModel
@testable import PushViews
@testable import pushrouterd_fleet

@Suite(
    "What is said of a fleet's database", .needsPostgreSQL,
    .timeLimit(.minutes(5)))
struct FindingsTests {
    private let server = PostgreSQLServer(isDurable: true)

    private func bad(_ status: FleetStatus, needsStandby: Bool = true) -> [String] {
        status.findings(needsStandby: needsStandby).filter { $0.severity != .fine }
            .map { "\($0.severity.rawValue): \($0.message)" }
    }

    @Test("name each setting that may lose or stop something, and nothing else")
    func rules() throws {
        let address = try ConnectionString("postgresql://postgres@/postgres?host=\(server.root)")
        _ = try FleetDatabase.initialise(address, state: UUID128(high: 1, low: 2))
        let found = try FleetDatabase.status(address)
        #expect(found.health.autovacuum && found.health.connectionLimit > 0 && found.health.idleSlots.isEmpty)
        #expect(found.health.connections > 0 && found.health.fleetAge < .seconds(60))
        #expect(
            bad(found) == [
                "error: synchronous_standby_names is empty: nothing is acknowledged", "error: no machine leads",
                "warning: no second machine follows: none takes over if the leader fails",
            ])
        var good = found
        good.engine.standbyNames = "*"
        good.standbys = [.init(name: "s", state: "streaming", sync: "sync")]
        let leader = NodeIncarnation(node: "a", id: UUID128(high: 3, low: 4))
        good.shards[0].lease.owner = leader
        good.shards[0].copies = [CopyNote(node: "b", applied: 0, age: .seconds(1), lag: .zero)]
        #expect(bad(good) == [])
        var changed = good
        func check(_ beginning: String, _ change: (inout FleetStatus) -> Void) {
            changed = good
            change(&changed)
            let said = bad(changed)
            #expect(said.count == 1 && said[0].hasPrefix(beginning), "\(said)")
        }
        check("error: fsync is off") { $0.engine.fsync = false }
        check("error: full_page_writes is off") { $0.engine.fullPageWrites = false }
        check("error: synchronous_commit is local") { $0.engine.synchronousCommit = "local" }
        check("warning: autovacuum is off") { $0.health.autovacuum = false }
        check("error: no standby streams synchronously") { $0.standbys[0].sync = "async" }
        check("warning: this role may not see") { ($0.standbys[0].state, $0.standbys[0].sync) = (nil, nil) }
        check("warning: its clock is -400 ms ahead") {
            ($0.engine.clockAhead, $0.engine.clockError) = (.milliseconds(-400), .milliseconds(100))
        }
        changed = good
        (changed.engine.clockAhead, changed.engine.clockError) = (.milliseconds(400), .milliseconds(200))
        #expect(bad(changed) == [], "the question took too long to say so")
        check("warning: 60 of 70 connections") { ($0.health.connections, $0.health.connectionLimit) = (60, 70) }
        check("warning: a transaction is 2 min") { $0.engine.longestTransaction = .seconds(125) }
        check("warning: the replication slot old is idle, and holds 3 MiB") {
            $0.health.idleSlots = [.init(name: "old", heldBytes: 3 << 20)]
        }
        check("warning: there is no whole snapshot, and the fleet is 3 d") {
            $0.health.fleetAge = .seconds(3 * 86_400)
        }
        changed = good
        changed.engine.standbyNames = ""
        #expect(bad(changed, needsStandby: false) == [], "the service itself survives a machine")
        check("error: no machine leads: the last sign of its leader a is 20 s old") {
            $0.shards[0].silence = .seconds(20)
        }
        check("error: no machine leads: every machine that runs is drained") {
            $0.shards[0].lease.owner = nil
            $0.shards[0].copies[0].isDrained = true
        }
        changed = good
        changed.shards[0].copies[0].age = .seconds(600)
        #expect(bad(changed).count == 2, "b is silent, and so there is no second machine")
    }

    @Test("name a replication slot without a reader, with the bytes that it retains")
    func slot() throws {
        let address = try ConnectionString("postgresql://postgres@/postgres?host=\(server.root)")
        _ = try FleetDatabase.initialise(address, state: UUID128(high: 1, low: 2))
        server.sql("SELECT pg_create_physical_replication_slot('gone', true)")
        #expect(try FleetDatabase.status(address).health.idleSlots.map(\.name) == ["gone"])
    }
}
