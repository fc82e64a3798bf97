import Glibc
import LinuxSystem
public import PushModel

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

extension FleetDatabase {
    /// Creates the tables of a new fleet with one shard, whose ledger is empty.
    ///
    /// - Parameters:
    ///   - address: the address, with a role that may create tables in the database.
    ///   - state: the ledger id for every copy of the shard.
    ///   - time: the longest time of the call.
    /// - Returns: the new fleet.
    /// - Throws: as the function below.
    public static func initialise(
        _ address: ConnectionString, state: UUID128, time: Duration = .seconds(10)
    ) throws(EngineProblem) -> ShardIdentity {
        try initialise(address, ChainStart(state: state), as: newFleet(), time: time) { _ in nil }
    }

    /// Draws an id for a fleet.
    public static func newFleet() -> UUID128 {
        UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }

    /// Creates the tables of a new fleet with one shard. The fleet gets its name last, so that no node uses an
    /// unfinished one; the next call removes the tables of an unfinished one.
    ///
    /// - Parameters:
    ///   - address: the address, with a role that may create tables in the database.
    ///   - start: the beginning of the chain.
    ///   - fleet: the id drawn for the fleet.
    ///   - time: the longest time of each step.
    ///   - beforeName: called when only the name is missing.
    ///   - part: returns a part of the snapshot; `nil` if it cannot be read.
    /// - Returns: the new fleet.
    /// - Throws: `.wrongDatabase` if the database has a fleet already. `.unreachable` if the database did not answer to
    ///   the end: the fleet may exist then, and the next call reads whether it does.
    public static func initialise(
        _ address: ConnectionString, _ start: ChainStart, as fleet: UUID128, time: Duration = .seconds(10),
        beforeName: () throws(EngineProblem) -> Void = {}, part: (Int) -> [UInt8]?
    ) throws(EngineProblem) -> ShardIdentity {
        var session = try connect(address, until: Deadline(after: time))
        try makeRoom(&session, time)
        let shard = Value.integer(0)
        let batch = start.batch
        let number = Value.number(Int64(clamping: batch.reference.number))
        let rows = [
            FleetStatements.addShard(shard, .uuid(start.state)),
            FleetStatements.addStart(
                shard, number, .uuid(batch.reference.id), .uuid(batch.previous), .number(batch.version),
                .uuid(batch.boot), .number(batch.handedOver.nanoseconds), .bytes(batch.bytes)),
            FleetStatements.addConfirmation(shard, number, .uuid(batch.reference.id)),
        ]
        let name = FleetStatements.nameFleet(.uuid(fleet), .integer(FleetSchema.version))
        var last = [name]
        // The server prepares each statement after the ones before have run, so the tables exist when the rows are
        // prepared.
        var first = FleetSchema.creation.map { $0() } + rows
        if let snapshot = start.snapshot {
            first.append(SnapshotStatements.begin(shard, .uuid(snapshot.id), .text("init")))
            last.insert(SnapshotStatements.finish(of: snapshot, shard), at: 0)
        } else {
            first += last
            last = []
        }
        do throws(EngineProblem) {
            _ = try run(&session, first, time)
        } catch {
            throw error.code == "42P07" ? hasTables(error) : error
        }
        if let snapshot = start.snapshot {
            try put(snapshot, shard, &session, time, part)
            try beforeName()
            guard try run(&session, last, time)[0].count == 1 else { throw interrupted }
        }
        return ShardIdentity(fleet: fleet, state: start.state)
    }

    /// Makes a new fleet of a database that was copied from another one, or moved: its chain and its snapshots
    /// continue.
    ///
    /// - Returns: the id of the new fleet.
    public static func adopt(
        _ address: ConnectionString, time: Duration = .seconds(10)
    ) throws(EngineProblem) -> UUID128 {
        var session = try connect(address, until: Deadline(after: time))
        try checkSchema(try run(&session, [Statements.schema()], time)[0])
        let signs = try requireSilence(&session, time)
        let fleet = newFleet()
        _ = try run(
            &session,
            [
                FleetStatements.renameFleet(.uuid(fleet)), FleetStatements.forgetCopies(),
                FleetStatements.forgetLeaders(),
            ] + (signs.isEmpty ? [] : [FleetStatements.forgetNodes()]), time)
        return fleet
    }

    /// Refuses a database that a node uses. A clone has recent signs, too, but gets no further ones.
    ///
    /// - Returns: the last signs of all nodes.
    private static func requireSilence(
        _ session: inout Session, _ time: Duration
    ) throws(EngineProblem) -> [NodeSign] {
        let signs = try NodeSign.all(&session, until: Deadline(after: time))
        guard signs.contains(where: { $0.age <= FleetStatus.silenceLimit }) else { return signs }
        usleep(UInt32(proofTime.milliseconds * 1000))
        let running = try NodeSign.all(&session, until: Deadline(after: time)).filter { later in
            !signs.contains { $0.process == later.process && $0.count == later.count }
        }
        guard running.isEmpty else {
            let names = running.map(\.process.node).joined(separator: ", ")
            throw EngineProblem(
                .wrongDatabase, message: "machines use this database now (\(names)): stop all machines first")
        }
        return signs
    }

    // MARK: Steps

    /// Stores all parts of a snapshot, and compares them with the engine's copies.
    private static func put(
        _ snapshot: Snapshot, _ shard: Value, _ session: inout Session, _ time: Duration, _ part: (Int) -> [UInt8]?
    ) throws(EngineProblem) {
        for number in 0..<snapshot.parts {
            guard let bytes = part(number) else {
                throw EngineProblem(.failing, message: "the copy of the ledger cannot be read")
            }
            let put = SnapshotStatements.putPart(shard, .uuid(snapshot.id), .number(number), .bytes(bytes))
            guard try run(&session, [put], time)[0].count == 1 else { throw interrupted }
            let read = SnapshotStatements.part(shard, .uuid(snapshot.id), .number(number))
            guard try run(&session, [read], time)[0].first?.bytes(0) == bytes else {
                throw EngineProblem(.failing, message: "the database returns other bytes than were written")
            }
        }
    }

    /// Refuses a database with a fleet, and removes the tables of an unfinished one.
    private static func makeRoom(_ session: inout Session, _ time: Duration) throws(EngineProblem) {
        guard try run(&session, [FleetStatements.exists()], time)[0].first?.bool(0) == true else { return }
        if let row = try run(&session, [FleetStatements.fleet()], time)[0].first {
            throw EngineProblem(.wrongDatabase, message: "the database has the fleet \(try row.uuid(0)) already")
        }
        _ = try run(&session, [FleetSchema.removal()], time)
    }

    private static func hasTables(_ failure: EngineProblem) -> EngineProblem {
        EngineProblem(
            .wrongDatabase, code: failure.code,
            message: "the database has tables of a fleet already: \(failure.message)")
    }

    private static let interrupted = EngineProblem(
        .unreachable, message: "another \"pushctl store init\" sets up this database now")

    /// Runs one transaction; returns the rows of each statement.
    private static func run(
        _ session: inout Session, _ calls: [Call], _ time: Duration
    ) throws(EngineProblem) -> [[Row]] {
        let (answers, problem) = session.run([calls], until: Deadline(after: time))
        if let problem { throw problem }
        return answers[0].rows
    }
}
