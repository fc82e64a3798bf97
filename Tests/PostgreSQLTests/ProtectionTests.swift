import TestSupport
import Testing

@testable import PostgreSQL
@testable import PushModel

@Suite(
    "While commits wait for a standby", .serialized, .needsPostgreSQL,
    RunningServer(standbyNames: "nobody"))
struct ProtectionTests {
    private let fleet: Fleet
    private let writer = "pushrouterd-log/0/a"

    init() throws { fleet = try Fleet() }

    /// Appends the first batch on its own thread, and waits until its commit waits.
    private func appending(_ engine: PostgreSQLEngine) throws -> Future<AppendResult> {
        let result = try Future { engine.append(batch(1)) }
        fleet.waitUntilWaiting(writer)
        return result
    }

    @Test(
        "a cancelled wait leaves a batch in doubt (P1)", arguments: [EngineDurability.standby, .engine])
    func cancelled(durability: EngineDurability) throws {
        let engine = try fleet.engine("a", .log, durability)
        let result = try appending(engine)
        fleet.signal("pg_cancel_backend(pid)", writer)
        #expect(try result.value().uncertainty == "canceling wait for synchronous replication due to user request")
        #expect(try engine.tail().reference == batch(1).reference)
    }

    @Test("a batch is in doubt when the list of standbys was emptied meanwhile (P6)")
    func emptied() throws {
        let result = try appending(try fleet.engine("a", .log, .standby))
        fleet.server.set("synchronous_standby_names", "")
        #expect(
            try result.value().uncertainty?.hasPrefix("no synchronous standby is named: set synchronous_standby_names")
                == true)
        fleet.server.set("synchronous_standby_names", "nobody")
        fleet.server.stop(.fast)
        fleet.server.start()
    }

    @Test("the fate of a batch is unknown after the time limit; its number is then its own (P2)")
    func blocked() throws {
        let engine = try fleet.engine("a", .log, .standby, time: .milliseconds(1500))
        var result: AppendResult?
        let time = elapsed { result = engine.append(batch(1)) }
        #expect(result?.problem?.kind == .unreachable)
        #expect(.milliseconds(1400)...Duration.seconds(3) ~= time)
        #expect(engine.append(batch(1)) == .conflict)
        #expect(try engine.tail().reference == batch(1).reference)
        #expect(engine.confirm(batch(1).reference).problem?.kind == .unreachable)
    }

    @Test("the fate of a batch is unknown when its session was ended in the wait")
    func ended() throws {
        let engine = try fleet.engine("a", .log, .standby)
        let result = try appending(engine)
        fleet.signal("pg_terminate_backend(pid)", writer)
        #expect(try result.value().problem?.kind == .unreachable)
        #expect(try engine.tail().reference == batch(1).reference)
    }

    @Test("the fate of a batch is unknown after an immediate stop of the server, which ends the statement then")
    func stopped() throws {
        let result = try appending(try fleet.engine("a", .log, .standby))
        fleet.server.stop(.immediate)
        #expect(try result.value().problem?.kind == .unreachable)
        fleet.server.start()
    }

    @Test("a node keeps reading, and reports its position")
    func reading() throws {
        let reader = try fleet.engine("b", .read, .standby)
        try reader.note(NodeIncarnation(node: "b", id: UUID128(high: 2, low: 2)), applied: 4, reads: 1, program: "1.0")
        #expect(try reader.tail().reference == .start)
        #expect(fleet.server.sql("SELECT node, applied FROM push_copies", database: fleet.database) == ["b|4"])
    }

    @Test("no node can take the lease, and the lease stays as it was", arguments: ["nobody", ""])
    func lease(names: String) throws {
        fleet.server.set("synchronous_standby_names", names)
        defer { fleet.server.set("synchronous_standby_names", "nobody") }
        let engine = try fleet.engine("b", .lease, .standby, time: .milliseconds(500))
        let seen = try engine.lease()
        let problem = #expect(throws: EngineProblem.self) {
            try engine.take(seen, for: NodeIncarnation(node: "b", id: UUID128(high: 2, low: 2)))
        }
        #expect(problem?.kind == .unprotected)
        #expect(
            problem?.message.contains(names.isEmpty ? "or Durability=engine" : "the standby is away: start it") == true)
        #expect(try engine.absentStandby() == (names.isEmpty ? nil : problem?.message))
        #expect(try engine.lease() == seen)
    }

    @Test("a batch is durable when a standby has it; right after a change of the settings it is in doubt")
    func standby() throws {
        let standby = fleet.server.makeStandby("s1")
        fleet.server.set("synchronous_standby_names", "s1")
        fleet.server.wait("SELECT sync_state FROM pg_stat_replication", for: "sync")
        let engine = try fleet.engine("a", .log, .standby)
        var result = engine.append(batch(1))
        #expect(result == .committed || result.uncertainty == "the database reloaded its settings a moment ago")
        while result.uncertainty != nil { result = engine.confirm(batch(1).reference) }
        #expect(result == .committed)
        // An acknowledged batch is on the standby; a batch without acknowledgement may be lost.
        standby.stop(.fast)
        let lost = batch(2, behind: batch(1).reference)
        let waiting = try Future { engine.append(lost) }
        fleet.waitUntilWaiting(writer)
        fleet.server.stop(.kill)
        #expect(try waiting.value().problem?.kind == .unreachable)
        standby.start()
        standby.sql("SELECT pg_promote()")
        let promoted = try fleet.engine(address: standby.address(fleet.database))
        #expect(try promoted.tail().reference == batch(1).reference)
        standby.stop(.immediate)
        fleet.server.start()
        #expect(try fleet.engine().tail().reference == lost.reference)
        fleet.server.set("synchronous_standby_names", "nobody")
        fleet.server.stop(.fast)
        fleet.server.start()
    }
}
