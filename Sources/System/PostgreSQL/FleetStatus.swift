public import PushModel

/// The status of a fleet's database (`pushctl store status`).
public struct FleetStatus: Sendable {
    /// The id drawn when the database was set up.
    public var fleet: UUID128
    /// The version of its tables.
    public var schema: Int64
    /// The time of the set-up, by the engine's clock.
    public var created: WallTime
    /// The engine.
    public var engine: Engine
    /// The connected standbys; a field that this user may not see is `nil`.
    public var standbys: [Standby]
    /// The shards, in order.
    public var shards: [Shard]
    /// Facts that warn of a database that may stop later.
    public var health: Health
    /// The bytes of all batches in the engine, with indexes.
    public var batchesSize: Int64

    /// The longest age of the last sign of a node that runs: each gives one a second.
    public static let silenceLimit: Duration = .seconds(10)

    /// The server and its settings.
    public struct Engine: Sendable {
        /// The version as the server names it: `15.20 (Debian 15.20-0+deb12u1)`.
        public var version: String
        /// The system identifier of the cluster; a copy of its files has the same one.
        public var systemIdentifier: Int64?
        /// The server's address of this connection; `nil` for a local socket.
        public var address: String?
        /// The port of that address.
        public var port: Int64?
        /// `synchronous_standby_names`; if it is empty, commits wait for no standby.
        public var standbyNames: String
        /// `synchronous_commit` of this program's sessions.
        public var synchronousCommit: String
        /// Whether commits are synced to the server's disk (`fsync`).
        public var fsync: Bool
        /// Whether the server can repair a page that a crash tore (`full_page_writes`).
        public var fullPageWrites: Bool
        /// The difference of its clock to this machine's; positive if it is ahead.
        public var clockAhead: Duration
        /// The largest error of `clockAhead`: half the time of the question.
        public var clockError: Duration
        /// The age of the oldest transaction that this user may see; `nil` if there is none.
        public var longestTransaction: Duration?
    }

    /// A standby.
    public struct Standby: Hashable, Sendable {
        /// Its `application_name`.
        public var name: String
        /// `streaming` in normal operation.
        public var state: String?
        /// `sync`, `quorum`, `potential` or `async`.
        public var sync: String?
    }

    /// A shard.
    public struct Shard: Sendable {
        /// Its number.
        public var number: Int64
        /// The id of the ledger that every copy has.
        public var state: UUID128
        /// The lease, with the leader.
        public var lease: LeaseRow
        /// The time since the last sign of the leader; `nil` if no node leads.
        public var silence: Duration?
        /// The same for a leader that counts as stopped; otherwise `nil`.
        public var longSilence: Duration? { silence.flatMap { $0 > FleetStatus.silenceLimit ? $0 : nil } }
        /// The address for the leader's producers; `nil` if it is not configured.
        public var address: String?
        /// The last batch.
        public var tail: ChainTail
        /// The version of the tail batch.
        public var version: Int
        /// The age of the tail batch.
        public var age: Duration
        /// The nodes' copies, by name.
        public var copies: [CopyNote]
        /// The first batch that is still in the chain.
        public var first: UInt64 = 0
        /// The complete snapshots, the newest first.
        public var snapshots: [StoredSnapshot] = []
    }
}

extension FleetStatus {
    /// Facts that warn of a database that may stop later.
    public struct Health: Sendable {
        /// The connections that users without special rights may have.
        public var connectionLimit: Int64
        /// The present connections to all databases of the server.
        public var connections: Int64
        /// Whether autovacuum removes dead rows.
        public var autovacuum: Bool
        /// The time since the fleet was set up, by the engine's clock.
        public var fleetAge: Duration
        /// The replication slots without a reader that hold WAL.
        public var idleSlots: [Slot] = []
    }

    /// A replication slot without a reader.
    public struct Slot: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// The WAL that the server keeps for it, in bytes.
        public var heldBytes: Int64
    }
}

extension FleetStatus.Health {
    /// The statements whose answers `init` takes, in order.
    static let questions = [FleetStatements.health(), FleetStatements.idleSlots()]

    init(_ answers: [[Row]]) throws(EngineProblem) {
        guard answers.count == 2, let row = answers[0].first else {
            throw EngineProblem(.lacking, message: "the database has no fleet")
        }
        self.init(
            connectionLimit: try row.integer(0), connections: try row.integer(1), autovacuum: try row.bool(2),
            fleetAge: .microseconds(try row.integer(3)))
        for row in answers[1] {
            idleSlots.append(FleetStatus.Slot(name: try row.text(0), heldBytes: try row.integer(1)))
        }
    }
}

extension FleetStatements {
    /// The counts in pg_stat_database are visible to every user; other users' sessions are not.
    static let health = Statement(
        "health",
        """
        SELECT current_setting('max_connections')::int8 - current_setting('superuser_reserved_connections')::int8,
            (SELECT sum(numbackends)::int8 FROM pg_stat_database), current_setting('autovacuum')::bool,
            (extract(epoch FROM clock_timestamp() - created) * 1000000)::int8
        FROM push_fleet
        """)

    static let idleSlots = Statement(
        "idle_slots",
        """
        SELECT slot_name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::int8
        FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL ORDER BY 1
        """)
}

/// The last sign of a node's process. A process that runs gives one each second, with a connection to the database.
struct NodeSign {
    var shard: Int64
    var process: NodeIncarnation
    /// The number of its signs.
    var count: Int64
    var age: Duration

    /// Reads the last sign of each node; none in a database of an older program.
    static func all(_ session: inout Session, until deadline: Deadline) throws(EngineProblem) -> [NodeSign] {
        guard try rows(Statements.hasNodes(), &session, deadline).first?.bool(0) == true else { return [] }
        var signs: [NodeSign] = []
        for row in try rows(FleetStatements.signs(), &session, deadline) {
            signs.append(
                NodeSign(
                    shard: try row.integer(0), process: NodeIncarnation(node: try row.text(1), id: try row.uuid(2)),
                    count: try row.integer(3), age: .microseconds(try row.integer(4))))
        }
        return signs
    }

    private static func rows(
        _ call: Call, _ session: inout Session, _ deadline: Deadline
    ) throws(EngineProblem) -> [Row] {
        let (answers, problem) = session.run([[call]], until: deadline)
        if let problem { throw problem }
        return answers[0].rows[0]
    }
}
