import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PostgreSQL
@testable import PushModel

/// Runs a server for the tests of a suite.
struct RunningServer: SuiteTrait, TestScoping {
    /// The standbys that commits wait for; empty: none.
    var standbyNames = ""

    /// The server of the suite.
    @TaskLocal static var current: PostgreSQLServer?

    /// The database that is set up once and copied for each test.
    static let template = "fleet_template"

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let server = PostgreSQLServer()
        server.sql("CREATE DATABASE \(Self.template)")
        _ = try FleetDatabase.initialise(
            try ConnectionString(server.address(Self.template)), state: UUID128(high: 1, low: 2))
        if !standbyNames.isEmpty {
            server.set("synchronous_standby_names", standbyNames)
            server.stop(.fast)
            server.start()
        }
        try await Self.$current.withValue(server) { try await function() }
        server.stop(.immediate)
    }
}

/// The database of a fleet for one test.
struct Fleet {
    let server: PostgreSQLServer
    let database: String

    init() throws {
        server = try #require(RunningServer.current)
        database = "test_\(UInt32.random(in: 0 ... .max))"
        server.sql("CREATE DATABASE \(database) TEMPLATE \(RunningServer.template)")
        // The template is as old as the run, and a batch counts as old after ten minutes.
        server.sql("UPDATE push_batches SET at = clock_timestamp()", database: database)
    }

    func engine(
        _ node: String = "a", _ role: EngineRole = .log, _ durability: EngineDurability = .engine,
        time: Duration = .seconds(5), address: String? = nil, chain: KnownChain = KnownChain(), claim: NameClaim? = nil
    ) throws -> PostgreSQLEngine {
        PostgreSQLEngine(
            EngineOptions(
                address: try ConnectionString(address ?? server.address(database)), durability: durability, node: node,
                role: role, time: time, chain: chain, claim: claim))
    }

    /// A session for statements that no engine sends.
    func session(_ name: String) throws -> PostgreSQL.Connection {
        let address = try ConnectionString(server.address(database))
        return try PostgreSQL.Connection.open(
            address.parameters(for: address.hosts[0], session: SessionSettings(applicationName: name)),
            until: Deadline(after: .seconds(5)))
    }

    /// A session with an uncommitted insert of the first batch.
    func holder(_ name: String) throws -> PostgreSQL.Connection {
        var session = try session(name)
        let insert = """
            INSERT INTO push_batches (shard, number, id, prev, epoch, version, boot, mono_ns, rows, total)
            SELECT 0, 1, gen_random_uuid(), id, 1, 1, id, 0, '', 0 FROM push_batches WHERE number = 0
            """
        let (_, problem) = session.run(
            [[Statement("begin", "BEGIN")()], [Statement("insert", insert)()]], until: Deadline(after: .seconds(5)))
        #expect(problem == nil)
        return session
    }

    /// Waits until a session with a name waits for a standby.
    func waitUntilWaiting(_ name: String) {
        server.wait(
            """
            SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)' AND wait_event = 'SyncRep'
            AND datname = '\(database)'
            """, for: "1")
    }

    /// Calls a function of the server on the sessions with a name.
    func signal(_ function: String, _ name: String) {
        server.sql(
            """
            SELECT \(function) FROM pg_stat_activity WHERE application_name = '\(name)' AND datname = '\(database)'
            """)
    }
}

/// A batch behind another, in the first term by default.
func batch(
    _ id: UInt64, behind last: BatchReference = .start, epoch: Int64 = 1, bytes: [UInt8] = [0, 1, 255]
) -> ChainBatch {
    ChainBatch(
        reference: BatchReference(number: last.number + 1, id: UUID128(high: 7, low: id)), previous: last.id,
        epoch: epoch, boot: UUID128(high: 3, low: 4), handedOver: Instant(nanoseconds: 123_456_789), lastCursor: 9,
        bytes: bytes)
}

/// The result of a body that runs on its own thread.
final class Future<Value: Sendable>: Sendable {
    private let result = Monitor<Value?>(nil)

    init(_ body: @escaping @Sendable () -> Value) throws {
        let result = result
        try WorkerThread("test") {
            let value = body()
            result.update { $0 = value }
        }.detach()
    }

    func value() throws -> Value { try #require(result.wait(atMost: .seconds(20)) { $0 }) }
}

/// The running time of a body.
func elapsed(_ body: () throws -> Void) rethrows -> Duration {
    let start = SystemClock.monotonicNanoseconds
    try body()
    return .nanoseconds(SystemClock.monotonicNanoseconds - start)
}

extension AppendResult {
    /// Why a batch is in doubt.
    var uncertainty: String? {
        guard case .uncertain(let why) = self else { return nil }
        return why
    }

    /// Why the fate of a batch is unknown.
    var problem: EngineProblem? {
        guard case .unknown(let problem) = self else { return nil }
        return problem
    }
}
