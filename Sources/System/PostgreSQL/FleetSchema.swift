import PushModel

/// The tables of a fleet's database.
enum FleetSchema {
    /// The version of the tables; raised with each change that an older program must not write beside.
    static let version: Int64 = 1

    /// Drops all tables, and `push_slots`, which an older program made and nothing read.
    static let removal = Statement(
        "remove_tables",
        """
        DROP TABLE IF EXISTS push_fleet, push_shards, push_slots, push_batches, push_copies, push_snapshots,
            push_snapshot_parts, push_confirmations, push_nodes, push_acts
        """)

    /// The table of the processes that have the nodes' names. A database of an older program lacks it, and the first
    /// connection of a node adds it: an older program does not read it.
    static let createNodes = Statement(
        "create_nodes",
        """
        CREATE TABLE IF NOT EXISTS push_nodes (
            shard int4 NOT NULL,
            node text NOT NULL,
            incarnation uuid NOT NULL,
            host text NOT NULL,
            machine uuid NOT NULL,
            boot uuid NOT NULL,
            directory text NOT NULL,
            signs int8 NOT NULL DEFAULT 0,
            seen timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (shard, node)) WITH (fillfactor = 50)
        """)

    /// The table of people's orders as acts, until a ledger has their rows. A database of an older program lacks it, as
    /// it lacks `push_nodes`.
    static let createActs = Statement(
        "create_acts",
        """
        CREATE TABLE IF NOT EXISTS push_acts (
            shard int4 NOT NULL,
            number int8 GENERATED ALWAYS AS IDENTITY,
            at timestamptz NOT NULL DEFAULT clock_timestamp(),
            act text NOT NULL,
            what text,
            uid int8 NOT NULL,
            pid int8 NOT NULL,
            node text NOT NULL,
            PRIMARY KEY (shard, number))
        """)

    /// The statements that create the tables, in order.
    static let creation: [Statement] = [
        Statement(
            "create_fleet",
            """
            CREATE TABLE push_fleet (
                one int4 PRIMARY KEY CHECK (one = 1),
                fleet uuid NOT NULL,
                schema int4 NOT NULL,
                created timestamptz NOT NULL DEFAULT clock_timestamp())
            """),
        // The leader of a shard. The row is written each second: the low fill factor lets updates stay in the page, so
        // that no index grows.
        Statement(
            "create_shards",
            """
            CREATE TABLE push_shards (
                shard int4 PRIMARY KEY,
                state uuid NOT NULL,
                owner text,
                incarnation uuid,
                address text,
                epoch int8 NOT NULL DEFAULT 0,
                renewals int8 NOT NULL DEFAULT 0,
                successor text,
                CHECK ((owner IS NULL) = (incarnation IS NULL))) WITH (fillfactor = 50)
            """),
        // The chains. at is the engine's clock: an age is a difference of two of its times. total is the bytes of all
        // rows up to this batch, including deleted ones.
        Statement(
            "create_batches",
            """
            CREATE TABLE push_batches (
                shard int4 NOT NULL,
                number int8 NOT NULL,
                id uuid NOT NULL,
                prev uuid NOT NULL,
                epoch int8 NOT NULL,
                at timestamptz NOT NULL DEFAULT clock_timestamp(),
                version int4 NOT NULL,
                boot uuid NOT NULL,
                mono_ns int8 NOT NULL,
                last_cursor int8,
                total int8 NOT NULL,
                rows bytea NOT NULL,
                PRIMARY KEY (shard, number))
            """),
        // EXTERNAL turns off compression, which would cost the appender time.
        Statement("store_batches", "ALTER TABLE push_batches ALTER rows SET STORAGE EXTERNAL"),
        Statement(
            "create_copies",
            """
            CREATE TABLE push_copies (
                shard int4 NOT NULL,
                node text NOT NULL,
                applied int8 NOT NULL,
                seen timestamptz NOT NULL,
                drained boolean NOT NULL DEFAULT false,
                reads int4 NOT NULL,
                program text NOT NULL,
                PRIMARY KEY (shard, node)) WITH (fillfactor = 50)
            """),
        // Snapshots of a ledger: each belongs to a batch, and counts once it has one. Its writer raises moves.
        Statement(
            "create_snapshots",
            """
            CREATE TABLE push_snapshots (
                shard int4 NOT NULL,
                snapshot uuid NOT NULL,
                state text NOT NULL CHECK (state IN ('written', 'counts', 'goes')),
                node text NOT NULL,
                moves int8 NOT NULL DEFAULT 0,
                number int8,
                id uuid,
                schema int8,
                length int8,
                checksum int8,
                at timestamptz NOT NULL DEFAULT clock_timestamp(),
                PRIMARY KEY (shard, snapshot),
                CHECK (state <> 'counts' OR num_nulls(number, id, schema, length, checksum) = 0))
            """),
        Statement(
            "one_snapshot_at_a_time",
            "CREATE UNIQUE INDEX push_snapshots_written ON push_snapshots (shard) WHERE state = 'written'"),
        Statement(
            "create_parts",
            """
            CREATE TABLE push_snapshot_parts (
                shard int4 NOT NULL,
                snapshot uuid NOT NULL,
                part int4 NOT NULL,
                bytes bytea NOT NULL,
                PRIMARY KEY (shard, snapshot, part))
            """),
        Statement("store_parts", "ALTER TABLE push_snapshot_parts ALTER bytes SET STORAGE EXTERNAL"),
        // A commit after a batch, for a batch whose own commit is in doubt.
        Statement(
            "create_confirmations",
            """
            CREATE TABLE push_confirmations (
                shard int4 PRIMARY KEY,
                number int8 NOT NULL,
                id uuid NOT NULL,
                times int8 NOT NULL) WITH (fillfactor = 50)
            """),
        createNodes, createActs,
    ]
}
