import PushModel

/// The statements of a shard's engine.
enum Statements {
    // MARK: Once for each connection

    /// Selects the identity of the database, and the settings that the session depends on.
    static let identity = Statement(
        "identity", [.int4],
        """
        SELECT f.fleet, f.schema, s.state, current_setting('synchronous_commit'), current_setting('client_min_messages')
        FROM push_fleet f LEFT JOIN push_shards s ON s.shard = $1
        """)

    /// Selects the database, and whether this user may read the cluster's system identifier: a provider may forbid it.
    static let database = Statement(
        "database",
        """
        SELECT oid::int8, has_function_privilege('pg_control_system()', 'EXECUTE') FROM pg_database
        WHERE datname = current_database()
        """)

    static let cluster = Statement("cluster", "SELECT system_identifier FROM pg_control_system()")

    /// Selects the version of the tables alone: a newer version may have other columns.
    static let schema = Statement("schema", "SELECT schema FROM push_fleet")

    /// Terminates the other sessions with a name, which this node lost. A session that waits for a standby does not
    /// notice that its client is gone.
    static let endLost = Statement(
        "end_lost", [.text],
        """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE application_name = $1 AND pid <> pg_backend_pid()
        AND datname = current_database() AND usename = current_user
        """)

    // MARK: Names

    static let hasNodes = Statement("has_nodes", "SELECT to_regclass('push_nodes') IS NOT NULL")
    static let hasActs = Statement("has_acts", "SELECT to_regclass('push_acts') IS NOT NULL")

    /// Takes a node's name for a process, or gives a sign of the process that has it. Takes a name that nobody has, the
    /// name of a process of the same place, and the name of a process that gave no sign since the one that was seen.
    static let claimName = Statement(
        "claim_name", [.int4, .text, .uuid, .text, .uuid, .uuid, .text, .uuid, .int8],
        """
        INSERT INTO push_nodes AS n (shard, node, incarnation, host, machine, boot, directory)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (shard, node) DO UPDATE SET incarnation = excluded.incarnation, host = excluded.host,
            machine = excluded.machine, boot = excluded.boot, directory = excluded.directory,
            signs = n.signs + 1, seen = clock_timestamp()
        WHERE n.incarnation = excluded.incarnation
        OR (n.host, n.machine, n.boot, n.directory)
            = (excluded.host, excluded.machine, excluded.boot, excluded.directory)
        OR (n.incarnation = $8 AND n.signs = $9)
        RETURNING node
        """)

    /// Gives a sign of the process that has a node's name.
    static let keepName = Statement(
        "keep_name", [.int4, .text, .uuid],
        """
        UPDATE push_nodes SET signs = signs + 1, seen = clock_timestamp()
        WHERE shard = $1 AND node = $2 AND incarnation = $3 RETURNING node
        """)

    static let nameHolder = Statement(
        "name_holder", [.int4, .text],
        """
        SELECT incarnation, host, machine, boot, directory, signs FROM push_nodes WHERE shard = $1 AND node = $2
        """)

    // MARK: The chain

    /// Inserts a batch after the one it names: compare-and-append. The primary key decides between two writers.
    static let append = Statement(
        "append", [.int4, .int8, .uuid, .uuid, .int8, .int4, .uuid, .int8, .int8, .bytes],
        """
        INSERT INTO push_batches (shard, number, id, prev, epoch, version, boot, mono_ns, last_cursor, rows, total)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, last.total + octet_length($10) FROM push_batches last
        WHERE last.shard = $1 AND last.number = $2 - 1 AND last.id = $4 AND last.epoch <= $5
        ON CONFLICT DO NOTHING RETURNING number
        """)

    /// Writes a row after a batch, if that batch is the last one.
    static let confirm = Statement(
        "confirm", [.int4, .int8, .uuid],
        """
        UPDATE push_confirmations SET number = $2, id = $3, times = times + 1
        WHERE shard = $1
        AND EXISTS (SELECT FROM push_batches WHERE shard = $1 AND number = $2 AND id = $3)
        AND NOT EXISTS (SELECT FROM push_batches WHERE shard = $1 AND number = $2 + 1)
        RETURNING number
        """)

    /// Selects whether the commit before it waited for a standby, in the same round trip. The checkpointer, which turns
    /// the waiting on, reads the settings a little later than this session: a change of the last moment may not be in
    /// force yet.
    static let protection = Statement(
        "protection",
        """
        SELECT current_setting('synchronous_standby_names'), current_setting('synchronous_commit'),
            clock_timestamp() - pg_conf_load_time() BETWEEN interval '0' AND interval '1 second'
        """)

    /// Selects the same before a commit, and whether a synchronous standby is connected. A role without pg_monitor sees
    /// the rows of pg_stat_replication without their values: each may be one.
    static let hasStandby = Statement(
        "has_standby",
        """
        SELECT current_setting('synchronous_standby_names'), current_setting('synchronous_commit'),
            EXISTS (SELECT FROM pg_stat_replication
                WHERE sync_state IS NULL OR sync_state IN ('sync', 'quorum'))
        """)

    static let tail = Statement(
        "tail", [.int4],
        "SELECT number, id, epoch FROM push_batches WHERE shard = $1 ORDER BY number DESC LIMIT 1")

    /// Selects batches in order, with limits for their number and their bytes; the first batch may exceed the bytes.
    static let batches = Statement(
        "batches", [.int4, .int8, .int8, .int8],
        """
        SELECT number, id, prev, epoch, version, boot, mono_ns, last_cursor, rows,
            (extract(epoch FROM clock_timestamp() - at) * 1000000)::int8
        FROM (
            SELECT *, sum(octet_length(rows)) OVER (ORDER BY number) - octet_length(rows) AS before
            FROM (SELECT * FROM push_batches WHERE shard = $1 AND number >= $2 ORDER BY number LIMIT $3) AS part
        ) AS counted
        WHERE before < $4 ORDER BY number
        """)

    // MARK: The lease

    /// The columns of the lease's row, of a shard `s`.
    static let leaseColumns = """
        s.owner, s.incarnation, s.epoch, s.renewals, s.successor,
            (SELECT string_agg(node, ' ') FROM push_copies WHERE shard = s.shard AND drained),
            (SELECT min(reads) FROM push_copies
                WHERE shard = s.shard AND seen > clock_timestamp() - interval '1 day')
        """

    static let lease = Statement(
        "lease", [.int4], "SELECT \(leaseColumns) FROM push_shards s WHERE s.shard = $1")

    /// Renews the lease of a node that has its name.
    static let renew = Statement(
        "renew", [.int4, .text, .uuid, .int8],
        """
        UPDATE push_shards s SET renewals = renewals + 1
        WHERE shard = $1 AND owner = $2 AND incarnation = $3 AND epoch = $4
        AND NOT EXISTS (SELECT FROM push_nodes WHERE shard = $1 AND node = $2 AND incarnation <> $3)
        RETURNING \(wall), \(leaseColumns)
        """)

    /// The engine's wall clock, in Unix milliseconds.
    private static let wall = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"

    /// Takes the lease if its row is still the one that was read.
    static let take = Statement(
        "take", [.int4, .text, .uuid, .text, .text, .uuid, .int8, .int8],
        """
        UPDATE push_shards SET owner = $2, incarnation = $3, address = $4, successor = NULL, renewals = renewals + 1,
            epoch = 1 + greatest(push_shards.epoch, (
                SELECT b.epoch FROM push_batches b WHERE b.shard = $1 ORDER BY b.number DESC LIMIT 1))
        WHERE shard = $1 AND owner IS NOT DISTINCT FROM $5 AND incarnation IS NOT DISTINCT FROM $6
        AND epoch = $7 AND renewals = $8 RETURNING epoch
        """)

    /// Terminates the sessions that write a shard, except those with one name, if an owner has the lease.
    static let endWriters = Statement(
        "end_writers", [.text, .text, .int4, .text, .uuid],
        """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE starts_with(application_name, $1) AND application_name <> $2
        AND datname = current_database() AND usename = current_user
        AND EXISTS (SELECT FROM push_shards WHERE shard = $3 AND owner = $4 AND incarnation = $5)
        """)

    static let release = Statement(
        "release", [.int4, .text, .uuid, .int8],
        """
        UPDATE push_shards SET owner = NULL, incarnation = NULL, address = NULL, renewals = renewals + 1
        WHERE shard = $1 AND owner = $2 AND incarnation = $3 AND epoch = $4
        """)

    // MARK: Acts

    static let forgetActs = Statement(
        "forget_acts", [.int4, .int8], "DELETE FROM push_acts WHERE shard = $1 AND number <= $2")

    static let acts = Statement(
        "acts", [.int4],
        """
        SELECT number, (extract(epoch FROM at) * 1000)::int8, act, what, uid, pid, node FROM push_acts
        WHERE shard = $1 ORDER BY number LIMIT 100
        """)

    // MARK: Copies

    /// Turns off waiting for a standby: the progress of a copy must be stored while there is no standby, too.
    static let withoutWaiting = Statement(
        "without_waiting", "SELECT set_config('synchronous_commit', 'off', true)")

    static let note = Statement(
        "note", [.int4, .text, .int8, .int4, .text],
        """
        INSERT INTO push_copies (shard, node, applied, reads, program, seen)
        VALUES ($1, $2, $3, $4, $5, clock_timestamp())
        ON CONFLICT (shard, node) DO UPDATE SET applied = excluded.applied, reads = excluded.reads,
            program = excluded.program, seen = excluded.seen RETURNING \(wall)
        """)
}

/// The statements that set up a fleet, inspect it and give it orders.
enum FleetStatements {
    /// Selects whether the database has a fleet, before any of its tables is read.
    static let exists = Statement("exists", "SELECT to_regclass('push_fleet') IS NOT NULL")

    static let nameFleet = Statement(
        "name_fleet", [.uuid, .int4],
        "INSERT INTO push_fleet (one, fleet, schema) VALUES (1, $1, $2) RETURNING fleet")

    /// Makes a new fleet of a database that was copied.
    static let renameFleet = Statement("rename_fleet", [.uuid], "UPDATE push_fleet SET fleet = $1 RETURNING fleet")

    /// Deletes the copies, and below the leaders, of the fleet that a database was copied from.
    static let forgetCopies = Statement("forget_copies", "DELETE FROM push_copies")
    static let forgetLeaders = Statement(
        "forget_leaders",
        "UPDATE push_shards SET owner = NULL, incarnation = NULL, address = NULL, renewals = renewals + 1")

    static let addShard = Statement(
        "add_shard", [.int4, .uuid], "INSERT INTO push_shards (shard, state) VALUES ($1, $2)")

    static let addStart = Statement(
        "add_start", [.int4, .int8, .uuid, .uuid, .int4, .uuid, .int8, .bytes],
        """
        INSERT INTO push_batches (shard, number, id, prev, epoch, version, boot, mono_ns, rows, total)
        VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, 0)
        """)

    static let addConfirmation = Statement(
        "add_confirmation", [.int4, .int8, .uuid],
        "INSERT INTO push_confirmations (shard, number, id, times) VALUES ($1, $2, $3, 0)")

    // MARK: Orders

    /// Names the next leader, if the lease is still the one that was read.
    static let nameSuccessor = Statement(
        "name_successor", [.int4, .text, .text, .uuid, .int8],
        """
        UPDATE push_shards SET successor = $2
        WHERE shard = $1 AND owner IS NOT DISTINCT FROM $3 AND incarnation IS NOT DISTINCT FROM $4 AND epoch = $5
        RETURNING epoch
        """)

    /// Notes an order as an act, for the leader's ledger.
    static let addAct = Statement(
        "add_act", [.int4, .text, .text, .int8, .int8, .text],
        "INSERT INTO push_acts (shard, act, what, uid, pid, node) VALUES ($1, $2, $3, $4, $5, $6)")

    static let dropSuccessor = Statement(
        "drop_successor", [.int4, .text],
        "UPDATE push_shards SET successor = NULL WHERE shard = $1 AND successor = $2")

    static let drain = Statement(
        "drain", [.int4, .text, .int4],
        "UPDATE push_copies SET drained = $3 <> 0 WHERE shard = $1 AND node = $2 RETURNING node")

    /// Selects the leader of a later term, once that term has a batch, and the time without batches before it.
    static let laterTerm = Statement(
        "later_term", [.int4, .int8],
        """
        SELECT s.owner, s.epoch, (extract(epoch FROM f.at - l.at) * 1000000)::int8
        FROM push_shards s CROSS JOIN LATERAL (
            SELECT number, at FROM push_batches WHERE shard = s.shard AND epoch < s.epoch
            ORDER BY number DESC LIMIT 1) l
        JOIN push_batches f ON f.shard = s.shard AND f.number = l.number + 1
        WHERE s.shard = $1 AND s.epoch > $2 AND s.owner IS NOT NULL
        """)

    // MARK: Looking

    static let fleet = Statement(
        "fleet", "SELECT fleet, schema, (extract(epoch FROM created) * 1000)::int8 FROM push_fleet")

    static let engine = Statement(
        "engine",
        """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8,
            current_setting('server_version'), current_setting('synchronous_standby_names'),
            current_setting('synchronous_commit'), current_setting('fsync')::bool,
            current_setting('full_page_writes')::bool,
            host(inet_server_addr()), inet_server_port(),
            (SELECT system_identifier FROM pg_control_system()),
            (SELECT (extract(epoch FROM clock_timestamp() - min(xact_start)) * 1000000)::int8
                FROM pg_stat_activity WHERE pid <> pg_backend_pid()),
            pg_total_relation_size('push_batches')
        """)

    static let standbys = Statement(
        "standbys", "SELECT application_name, state, sync_state FROM pg_stat_replication ORDER BY 1")

    static let shards = Statement(
        "shards",
        """
        SELECT s.shard, s.state, s.address, b.number, b.id, b.epoch,
            (extract(epoch FROM clock_timestamp() - b.at) * 1000000)::int8, b.version, \(Statements.leaseColumns)
        FROM push_shards s CROSS JOIN LATERAL (
            SELECT * FROM push_batches WHERE shard = s.shard ORDER BY number DESC LIMIT 1) b
        ORDER BY s.shard
        """)

    /// Selects the age of the last sign of each node's process, and its number.
    static let signs = Statement(
        "signs",
        """
        SELECT shard, node, incarnation, signs, (extract(epoch FROM clock_timestamp() - seen) * 1000000)::int8
        FROM push_nodes ORDER BY shard, node
        """)

    static let forgetNodes = Statement("forget_nodes", "DELETE FROM push_nodes")

    static let copies = Statement(
        "copies",
        """
        SELECT c.shard, c.node, c.applied, (extract(epoch FROM clock_timestamp() - c.seen) * 1000000)::int8, c.drained,
            CASE WHEN n.at > c.seen THEN 0 ELSE (extract(epoch FROM c.seen - n.at) * 1000000)::int8 END,
            c.reads, c.program
        FROM push_copies c LEFT JOIN push_batches n ON n.shard = c.shard AND n.number = c.applied + 1
        ORDER BY c.shard, c.node
        """)
}
