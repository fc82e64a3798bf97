import LinuxSystem
public import PushFleet
import PushModel

/// Creates, checks and inspects a fleet's database.
public enum FleetDatabase {
    /// The lowest version of PostgreSQL that these statements support.
    static let leastVersion = 140_000

    /// Reads the status of a fleet's engine and its shards.
    ///
    /// - Parameters:
    ///   - address: the same address as the nodes'.
    ///   - time: the longest time of the call.
    public static func status(
        _ address: ConnectionString, time: Duration = .seconds(5)
    ) throws(EngineProblem) -> FleetStatus {
        let deadline = Deadline(after: time)
        var session = try connect(address, until: deadline)
        let (checked, problem) = session.run([[Statements.schema()]], until: deadline)
        if let problem { throw problem }
        try checkSchema(checked[0].rows[0])

        let (sent, wall) = (SystemClock.monotonicNanoseconds, SystemClock.wallMilliseconds)
        let (asked, failure) = session.run([[FleetStatements.engine()]], until: deadline)
        if let failure { throw failure }
        let taken = Duration.nanoseconds(SystemClock.monotonicNanoseconds - sent)

        let questions =
            [
                FleetStatements.fleet(), FleetStatements.standbys(), FleetStatements.shards(), FleetStatements.copies(),
            ] + FleetStatus.Health.questions
        let (answers, other) = session.run(questions.map { [$0] }, until: deadline)
        if let other { throw other }
        let rows = answers.map { $0.rows[0] }
        guard let engine = asked[0].rows[0].first, let fleet = rows[0].first else {
            throw EngineProblem(.lacking, message: "the database has no fleet")
        }
        let signs = try NodeSign.all(&session, until: deadline)
        var shards: [FleetStatus.Shard] = []
        for row in rows[2] {
            var shard = try shard(row, copies: rows[3])
            shard.silence = signs.first { $0.shard == shard.number && $0.process == shard.lease.owner }?.age
            let number = Value.integer(shard.number)
            let (answers, problem) = session.run(
                [[SnapshotStatements.snapshots(number)], [SnapshotStatements.ends(number)]], until: deadline)
            if let problem { throw problem }
            for row in answers[0].rows[0] { shard.snapshots.append(try PostgreSQLEngine.stored(row)) }
            if let ends = answers[1].rows[0].first { shard.first = UInt64(clamping: try ends.integer(0)) }
            shards.append(shard)
        }
        var standbys: [FleetStatus.Standby] = []
        for row in rows[1] {
            standbys.append(
                FleetStatus.Standby(
                    name: try row.text(0), state: try row.optionalText(1), sync: try row.optionalText(2)))
        }
        return FleetStatus(
            fleet: try fleet.uuid(0), schema: try fleet.integer(1),
            created: WallTime(milliseconds: try fleet.integer(2)),
            engine: try self.engine(engine, wall: .milliseconds(wall), taken: taken), standbys: standbys,
            shards: shards, health: try FleetStatus.Health(Array(rows.dropFirst(4))),
            batchesSize: try engine.integer(10))
    }

    /// - Parameters:
    ///   - wall: this machine's time at the question.
    ///   - taken: the time until the answer.
    private static func engine(
        _ row: Row, wall: Duration, taken: Duration
    ) throws(EngineProblem) -> FleetStatus.Engine {
        FleetStatus.Engine(
            version: try row.text(1), systemIdentifier: try row.optionalInteger(8), address: try row.optionalText(6),
            port: try row.optionalInteger(7), standbyNames: try row.text(2), synchronousCommit: try row.text(3),
            fsync: try row.bool(4), fullPageWrites: try row.bool(5),
            clockAhead: .microseconds(try row.integer(0)) - (wall + taken / 2), clockError: taken / 2,
            longestTransaction: try row.optionalInteger(9).map { .microseconds($0) })
    }

    private static func shard(
        _ row: Row, copies: [Row]
    ) throws(EngineProblem) -> FleetStatus.Shard {
        let number = try row.integer(0)
        let tail = ChainTail(try PostgreSQLEngine.reference(row, at: 3), epoch: try row.integer(5))
        var notes: [CopyNote] = []
        for copy in copies where try copy.integer(0) == number { notes.append(try note(copy, tail: tail)) }
        return FleetStatus.Shard(
            number: number, state: try row.uuid(1), lease: try PostgreSQLEngine.leaseRow(row, at: 8),
            address: try row.optionalText(2), tail: tail, version: Int(try row.integer(7)),
            age: .microseconds(try row.integer(6)),
            copies: notes)
    }

    /// Decodes a row of `FleetStatements.copies`.
    private static func note(_ row: Row, tail: ChainTail) throws(EngineProblem) -> CopyNote {
        let applied = UInt64(clamping: try row.integer(2))
        // The batch after the copy's last one may have been deleted.
        let lag = try row.optionalInteger(5).map { Duration.microseconds($0) }
        return CopyNote(
            node: try row.text(1), applied: applied, age: .microseconds(try row.integer(3)),
            lag: lag ?? (applied >= tail.reference.number ? .zero : nil), isDrained: try row.bool(4),
            reads: Int(try row.integer(6)), program: try row.text(7))
    }

    /// Refuses tables of a newer program, and tables without a fleet.
    static func checkSchema(_ rows: [Row]) throws(EngineProblem) {
        guard let row = rows.first else { throw EngineProblem(.lacking, message: "the database has no fleet") }
        let version = try row.integer(0)
        guard version <= FleetSchema.version else {
            throw EngineProblem(
                .newer,
                message:
                    "the database has tables of version \(version); this program knows up to \(FleetSchema.version): upgrade it"
            )
        }
    }

    static func connect(
        _ address: ConnectionString, until deadline: Deadline
    ) throws(EngineProblem) -> Session {
        var session = Session()
        try connect(&session, address, until: deadline)
        return session
    }

    /// Connects, unless there is a connection.
    static func connect(
        _ session: inout Session, _ address: ConnectionString, until deadline: Deadline
    ) throws(EngineProblem) {
        try session.connect(address, SessionSettings(applicationName: "pushctl-store"), until: deadline) {
            (connection) throws(EngineProblem) in
            try checkVersion(connection.serverVersion)
        }
    }

    /// Refuses a server that is too old.
    static func checkVersion(_ version: Int) throws(EngineProblem) {
        guard version >= leastVersion else {
            throw EngineProblem(
                .wrongDatabase,
                message: "the database is PostgreSQL \(version / 10_000), and must be \(leastVersion / 10_000) or newer"
            )
        }
    }
}
