import TestSupport
import Testing

@testable import LinuxSystem
@testable import PostgreSQL
@testable import PushModel

@Suite(
    "A shard in PostgreSQL", .serialized, .needsPostgreSQL, RunningServer())
struct EngineTests {
    private let fleet: Fleet
    private let a = NodeIncarnation(node: "a", id: UUID128(high: 1, low: 1))
    private let b = NodeIncarnation(node: "b", id: UUID128(high: 2, low: 2))

    init() throws { fleet = try Fleet() }

    // MARK: The chain

    @Test("begins with the batch before the first one")
    func start() throws {
        let engine = try fleet.engine()
        #expect(try engine.tail() == ChainTail(.start, epoch: 0))
        #expect(try engine.identity().state == UUID128(high: 1, low: 2))
    }

    @Test("accepts a batch behind the last one, and returns it unchanged")
    func append() throws {
        let engine = try fleet.engine()
        let first = batch(1)
        let second = batch(2, behind: first.reference, epoch: 3, bytes: [])
        #expect(engine.append(first) == .committed)
        #expect(engine.append(second) == .committed)
        #expect(try engine.tail() == ChainTail(second.reference, epoch: 3))
        let read = try engine.batches(from: 1, atMost: 64)
        #expect(read.map(\.batch) == [first, second])
        #expect(read.allSatisfy { .zero...Duration.seconds(5) ~= $0.age })
        #expect(try engine.batches(from: 2, atMost: 1).map(\.batch.reference) == [second.reference])
        #expect(try engine.batches(from: 3, atMost: 1) == [])
    }

    @Test("refuses a batch behind a missing one, a second one with a number, and one of a lower term")
    func other() throws {
        let engine = try fleet.engine()
        let first = batch(1, epoch: 2)
        #expect(engine.append(batch(1, behind: BatchReference(number: 0, id: UUID128(high: 9, low: 9)))) == .conflict)
        #expect(engine.append(batch(1, behind: BatchReference(number: 7, id: first.reference.id))) == .conflict)
        #expect(engine.append(first) == .committed)
        #expect(engine.append(batch(5, epoch: 2)) == .conflict)
        #expect(engine.append(batch(5, behind: first.reference, epoch: 1)) == .conflict)
        #expect(try engine.tail().reference == first.reference)
    }

    @Test("accepts the same batch once; the tail shows whose it is")
    func twice() throws {
        let engine = try fleet.engine()
        #expect(engine.append(batch(1)) == .committed)
        #expect(engine.append(batch(1)) == .conflict)
        #expect(try engine.tail().reference == batch(1).reference)
    }

    @Test("returns batches up to a number of bytes, and at least one")
    func readLimit() throws {
        let engine = try fleet.engine()
        var last = BatchReference.start
        for id in 1...3 {
            let large = batch(UInt64(id), behind: last, bytes: [UInt8](repeating: 7, count: 3 << 20))
            #expect(engine.append(large) == .committed)
            last = large.reference
        }
        #expect(try engine.batches(from: 1, atMost: 64).map(\.batch.reference.number) == [1, 2])
        #expect(try engine.batches(from: 3, atMost: 64).map(\.batch.bytes.count) == [3 << 20])
    }

    @Test("confirms the last batch, and no other")
    func confirm() throws {
        let engine = try fleet.engine()
        let (first, second) = (batch(1), batch(2, behind: batch(1).reference))
        #expect(engine.confirm(first.reference) == .conflict)
        _ = engine.append(first)
        #expect(engine.confirm(first.reference) == .committed)
        #expect(engine.confirm(BatchReference(number: 1, id: UUID128(high: 9, low: 9))) == .conflict)
        _ = engine.append(second)
        #expect(engine.confirm(first.reference) == .conflict)
        #expect(engine.confirm(second.reference) == .committed)
    }

    // MARK: The lease

    @Test("has one leader when two take the lease at once, with a term above that of the tail")
    func take() throws {
        _ = try fleet.engine().append(batch(1, epoch: 7))
        let (first, second) = (try fleet.engine("a", .lease), try fleet.engine("b", .lease))
        let seen = try first.lease()
        #expect(seen == LeaseRow(owner: nil, epoch: 0, renewals: 0))
        #expect(try first.take(seen, for: a) == 8)
        #expect(try second.take(seen, for: b) == nil)
        #expect(try second.lease() == LeaseRow(owner: a, epoch: 8, renewals: 1))
    }

    @Test("refuses a renewal of a lease that was taken or released")
    func renew() throws {
        let (first, second) = (try fleet.engine("a", .lease), try fleet.engine("b", .lease))
        #expect(try first.take(try first.lease(), for: a) == 1)
        let before = try second.lease()
        #expect(try first.renew(a, epoch: 1) != nil)
        #expect(try second.take(before, for: b) == nil)
        #expect(try second.lease().renewals == 2)
        #expect(try second.take(try second.lease(), for: b) == 2)
        #expect(try first.renew(a, epoch: 1) == nil)
        // The earlier process has the same name and another id.
        #expect(try second.renew(NodeIncarnation(node: "b", id: a.id), epoch: 2) == nil)
        try first.release(a, epoch: 1)
        #expect(try second.renew(b, epoch: 2) != nil)
        try second.release(b, epoch: 2)
        #expect(try first.lease().owner == nil)
        #expect(try second.renew(b, epoch: 2) == nil)
    }

    @Test("stores people's orders in the lease, which move no lease; a take clears the successor")
    func orders() throws {
        let (first, second) = (try fleet.engine("a", .lease), try fleet.engine("b", .lease))
        try second.note(b, applied: 0, reads: 1, program: "1.0")
        try second.note(NodeIncarnation(node: "c", id: b.id), applied: 0, reads: 1, program: "1.0")
        #expect(try first.take(try first.lease(), for: a) == 1)
        fleet.server.sql(
            "UPDATE push_shards SET successor = 'b'; UPDATE push_copies SET drained = true", database: fleet.database)
        let row = try #require(try first.renew(a, epoch: 1)).row
        #expect(row.successor == "b" && row.drained == ["b", "c"] && row.asksToHandOver("a"))
        try second.note(b, applied: 1, reads: 1, program: "1.0")
        try first.release(a, epoch: 1)
        let left = try second.lease()
        #expect(left.isReleased(to: "b") && !left.isReleased(to: "a") && left.drained == ["b", "c"])
        #expect(try second.take(left, for: b) == 2)
        #expect(try second.lease().successor == nil)
    }

    @Test("ends the sessions of the former leader at a take: an uncommitted batch blocks no one (P4)")
    func takeEndsWriters() throws {
        var dead = try fleet.holder("pushrouterd-log/0/dead")
        let lease = try fleet.engine("b", .lease)
        #expect(try lease.take(try lease.lease(), for: b) == 1)
        #expect(try fleet.engine("b").append(batch(1)) == .committed)
        let (_, problem) = dead.run([[Statement("commit", "COMMIT")()]], until: Deadline(after: .seconds(5)))
        #expect(problem?.kind == .unreachable)
    }

    @Test("ends no session for a take that comes too late")
    func lateTaker() throws {
        let (first, second) = (try fleet.engine("a", .lease), try fleet.engine("b", .lease))
        let seen = try first.lease()
        #expect(try first.take(seen, for: a) == 1)
        let log = try fleet.engine("a")
        #expect(log.append(batch(1)) == .committed)
        #expect(try second.take(seen, for: b) == nil)
        #expect(log.append(batch(2, behind: batch(1).reference)) == .committed)
    }

    // MARK: Sessions

    @Test("reconnects when its session was ended")
    func ended() throws {
        let engine = try fleet.engine()
        #expect(engine.append(batch(1)) == .committed)
        fleet.signal("pg_terminate_backend(pid, 5000)", "pushrouterd-log/0/a")
        #expect(engine.append(batch(2, behind: batch(1).reference)).problem?.kind == .unreachable)
        #expect(try engine.tail().reference == batch(1).reference)
    }

    @Test("ends a node's lost session by its next one")
    func lostSession() throws {
        let lost = try fleet.holder("pushrouterd-log/0/a")
        #expect(try fleet.engine().append(batch(1)) == .committed)
        _ = consume lost
    }

    @Test("limits the wait for a number to 0.7 s, with an unknown result then (P7)")
    func lockTimeout() throws {
        let holder = try fleet.holder("somebody")
        let engine = try fleet.engine()
        #expect(try engine.tail().reference == .start)
        var result: AppendResult?
        let time = elapsed { result = engine.append(batch(1)) }
        #expect(result?.problem?.code == "55P03" && result?.problem?.kind == .unreachable)
        #expect(.milliseconds(600)...Duration.seconds(4) ~= time)
        _ = consume holder
    }

    @Test("keeps acknowledged batches after a kill of all the server's processes")
    func killed() throws {
        let engine = try fleet.engine()
        #expect(engine.append(batch(1)) == .committed)
        fleet.server.stop(.kill)
        #expect(engine.append(batch(2, behind: batch(1).reference)).problem?.kind == .unreachable)
        fleet.server.start()
        #expect(engine.append(batch(2, behind: batch(1).reference)) == .committed)
    }

    @Test("refuses a database of another fleet, or of none")
    func wrongDatabase() throws {
        let none = #expect(throws: EngineProblem.self) {
            try fleet.engine(address: fleet.server.address("nothing")).tail()
        }
        #expect(none?.code == "3D000" && none?.message.contains("FATAL:  database \"nothing\" does not exist") == true)
        for database in ["nothing", "postgres"] {
            let problem = try fleet.engine(address: fleet.server.address(database)).append(batch(1)).problem
            #expect(problem?.kind == .lacking, "\(database): \(String(describing: problem))")
        }
        let engine = try fleet.engine()
        _ = try engine.identity()
        fleet.server.sql("UPDATE push_fleet SET fleet = gen_random_uuid()", database: fleet.database)
        fleet.signal("pg_terminate_backend(pid, 5000)", "pushrouterd-log/0/a")
        #expect(throws: EngineProblem.self) { try engine.tail() }
        #expect(engine.append(batch(1)).problem?.kind == .wrongDatabase)
    }

    @Test("names what the database lacks, with a remedy that works, and goes on once it is there")
    func lacks() throws {
        let server = fleet.server
        server.sql("CREATE ROLE lacker LOGIN")
        defer {
            server.sql("DROP OWNED BY lacker", database: fleet.database)
            server.sql("DROP ROLE lacker")
        }
        let engine = try fleet.engine(
            address: server.address(fleet.database) + " user=lacker")
        let denied = engine.append(batch(1)).problem
        #expect(denied?.kind == .lacking && denied?.code == "42501", "\(String(describing: denied))")
        #expect(denied?.message.contains("GRANT ALL ON ALL TABLES IN SCHEMA public TO") == true)
        server.sql("GRANT ALL ON ALL TABLES IN SCHEMA public TO lacker", database: fleet.database)
        #expect(engine.append(batch(1)) == .committed)
        for (statement, back, code) in [
            ("ALTER TABLE push_batches RENAME TO away", "ALTER TABLE away RENAME TO push_batches", "42P01"),
            ("ALTER TABLE push_batches RENAME total TO t", "ALTER TABLE push_batches RENAME t TO total", "42703"),
        ] {
            server.sql(statement, database: fleet.database)
            // The first answer may be that a prepared statement is of before.
            _ = engine.append(batch(2, behind: batch(1).reference))
            let problem = engine.append(batch(2, behind: batch(1).reference)).problem
            #expect(problem?.kind == .lacking && problem?.code == code, "\(String(describing: problem))")
            server.sql(back, database: fleet.database)
        }
        var result = engine.append(batch(2, behind: batch(1).reference))
        if result.problem != nil { result = engine.append(batch(2, behind: batch(1).reference)) }
        #expect(result == .committed)
    }

    @Test("refuses a database that a newer program set up")
    func newer() throws {
        fleet.server.sql("UPDATE push_fleet SET schema = schema + 1", database: fleet.database)
        #expect(try fleet.engine().append(batch(1)).problem?.kind == .newer)
    }

    @Test("overrides a person's settings that a session depends on")
    func sessionSettings() throws {
        let options = " options='-c synchronous_commit=off -c client_min_messages=error -c statement_timeout=0'"
        let address = fleet.server.address(fleet.database) + options
        #expect(try fleet.engine(address: address).append(batch(1)) == .committed)
    }

    // MARK: As a whole

    @Test("a database is set up once")
    func initialise() throws {
        let server = fleet.server
        let database = fleet.database + "_new"
        server.sql("CREATE DATABASE \(database)")
        let address = try ConnectionString(server.address(database))
        let made = try FleetDatabase.initialise(address, state: UUID128(high: 5, low: 6))
        let found = try fleet.engine(address: server.address(database)).identity()
        #expect(found.fleet == made.fleet && found.state == made.state)
        let again = #expect(throws: EngineProblem.self) {
            try FleetDatabase.initialise(address, state: UUID128(high: 5, low: 6))
        }
        #expect(again?.kind == .wrongDatabase)
        #expect(again?.message == "the database has the fleet \(made.fleet) already")
        server.sql("DROP TABLE push_fleet", database: database)
        let partly = #expect(throws: EngineProblem.self) {
            try FleetDatabase.initialise(address, state: UUID128(high: 5, low: 6))
        }
        #expect(partly?.kind == .wrongDatabase)
        // One transaction: the second try leaves nothing.
        #expect(server.sql("SELECT to_regclass('push_fleet') IS NULL", database: database) == ["t"])
    }

    @Test("the status of a database has its fleet, server, batches and copies")
    func status() throws {
        let lease = try fleet.engine("a", .lease)
        _ = try lease.take(try lease.lease(), for: a)
        _ = try fleet.engine().append(batch(1))
        let reader = try fleet.engine("b", .read)
        try reader.note(b, applied: 0, reads: 1, program: "1.0")
        try reader.note(b, applied: 1, reads: 1, program: "1.0")
        let status = try FleetDatabase.status(try ConnectionString(fleet.server.address(fleet.database)))
        #expect(status.fleet == (try reader.identity().fleet) && status.schema == FleetSchema.version)
        #expect(status.engine.standbyNames.isEmpty && status.engine.synchronousCommit == "on")
        #expect(!status.engine.fsync && !status.engine.fullPageWrites)
        #expect(status.engine.systemIdentifier != nil && status.standbys.isEmpty)
        #expect(Duration.milliseconds(-500)...Duration.milliseconds(500) ~= status.engine.clockAhead)
        #expect(status.batchesSize > 0)
        let shard = try #require(status.shards.first)
        #expect(shard.lease.owner == a && shard.tail == ChainTail(batch(1).reference, epoch: 1))
        #expect(shard.copies.map(\.node) == ["b"] && shard.copies.map(\.applied) == [1])
        #expect(.zero...Duration.seconds(5) ~= shard.age && status.shards.count == 1)
    }
}
