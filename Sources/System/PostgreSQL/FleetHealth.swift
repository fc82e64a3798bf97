import PushFleet
import PushModel

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
