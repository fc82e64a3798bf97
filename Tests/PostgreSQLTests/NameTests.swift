import TestSupport
import Testing

@testable import PostgreSQL
@testable import PushModel

@Suite(
    "A node's name", .serialized, .needsPostgreSQL, RunningServer())
struct NameTests {
    private let fleet: Fleet

    init() throws { fleet = try Fleet() }

    /// A process of node `a`.
    private struct Process {
        let node: NodeIncarnation
        let lease: PostgreSQLEngine
        let log: PostgreSQLEngine

        func note() throws { try lease.note(node, applied: 1, reads: 1, program: "test") }
    }

    private func process(_ number: UInt64, on host: String, patience: Duration = .seconds(600)) throws -> Process {
        let node = NodeIncarnation(node: "a", id: UUID128(high: 0, low: number))
        let place = NodePlace(
            host: host, machine: UUID128(high: 1, low: 1), boot: UUID128(high: 2, low: 2), directory: "/d")
        let claim = NameClaim(incarnation: node.id, place: place, patience: patience)
        let chain = KnownChain()
        return Process(
            node: node, lease: try fleet.engine("a", .lease, chain: chain, claim: claim),
            log: try fleet.engine("a", .log, chain: chain, claim: claim))
    }

    /// How a process is refused; `nil`: it is not.
    private func problem(_ process: Process) -> EngineProblem? {
        do throws(EngineProblem) {
            _ = try process.lease.identity()
            return nil
        } catch {
            return error
        }
    }

    @Test("is refused to a second machine while the first gives signs, whose sessions go on; both are named")
    func second() throws {
        let (first, second) = (try process(1, on: "alpha"), try process(2, on: "beta"))
        try first.note()
        #expect(first.log.append(batch(1)) == .committed)
        let sessions = """
            SELECT pid FROM pg_stat_activity
            WHERE application_name LIKE 'pushrouterd-%' AND datname = '\(fleet.database)'
            """
        let before = fleet.server.sql(sessions)
        #expect(problem(second)?.kind == .unreachable)
        try first.note()
        let refused = try #require(problem(second))
        #expect(refused.kind == .wrongDatabase, "\(refused)")
        #expect(refused.message.contains("alpha (boot ") && refused.message.contains("beta (boot "), "\(refused)")
        #expect(Set(fleet.server.sql(sessions)).isSuperset(of: before))
        #expect(first.log.append(batch(2, behind: batch(1).reference)) == .committed)
    }

    @Test("passes to a restarted process at once, and to another machine once that has seen no sign for the time")
    func restarted() throws {
        try process(1, on: "alpha").note()
        #expect(problem(try process(2, on: "alpha")) == nil)
        #expect(problem(try process(3, on: "beta", patience: .seconds(600)))?.kind == .unreachable)
        // As after the database's clock was set ahead.
        fleet.server.sql("UPDATE push_nodes SET seen = seen - interval '11 min'", database: fleet.database)
        #expect(problem(try process(4, on: "beta", patience: .seconds(600)))?.kind == .unreachable)
        let other = try process(5, on: "beta", patience: .zero)
        #expect(problem(other)?.kind == .unreachable, "the first look begins the time")
        #expect(problem(other) == nil)
    }

    @Test("is no more of a process that was silent and lost it: its lease and its notes end, and it takes nothing back")
    func lost() throws {
        let (first, second) = (try process(1, on: "alpha"), try process(2, on: "beta", patience: .zero))
        try first.note()
        let epoch = try #require(try first.lease.take(try first.lease.lease(), for: first.node))
        #expect(try first.lease.renew(first.node, epoch: epoch) != nil)
        #expect(problem(second)?.kind == .unreachable)
        #expect(problem(second) == nil)
        // As any session that bears the name of a process that has it.
        #expect(problem(first)?.code == "57P01")
        #expect(try first.log.tail().reference == .start)
        #expect(try first.lease.renew(first.node, epoch: epoch) == nil)
        let refused = #expect(throws: EngineProblem.self) { try first.note() }
        #expect(refused?.kind == .wrongDatabase && refused?.message.contains("beta") == true, "\(refused as Any)")
        try second.note()
    }

    @Test("is one process's where two find at once that a third is gone")
    func race() throws {
        try process(1, on: "alpha").note()
        let signs = try #require(fleet.server.sql("SELECT signs FROM push_nodes", database: fleet.database).first)
        var session = try fleet.session("two")
        func claim(_ number: UInt64) -> Call {
            let id = Value.uuid(UUID128(high: 0, low: number))
            return Statements.claimName(
                .integer(0), .text("a"), id, .text("host \(number)"), id, id, .text("/d"),
                .uuid(UUID128(high: 0, low: 1)), .integer(Int64(signs) ?? -1))
        }
        let deadline = Deadline(after: .seconds(5))
        #expect(try session.run(claim(2), until: deadline).count == 1)
        #expect(try session.run(claim(3), until: deadline).isEmpty)
    }

    @Test("is kept in a database that an older program set up: the first connection adds its tables")
    func olderDatabase() throws {
        fleet.server.sql("DROP TABLE push_nodes, push_acts", database: fleet.database)
        let first = try process(1, on: "alpha")
        try first.note()
        #expect(fleet.server.sql("SELECT host FROM push_nodes", database: fleet.database) == ["alpha"])
        #expect(fleet.server.sql("SELECT count(*) FROM push_acts", database: fleet.database) == ["0"])
    }
}
