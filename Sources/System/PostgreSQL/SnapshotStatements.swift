public import PushModel

/// The statements for snapshots, and for the deletion of what they replace.
enum SnapshotStatements {
    // MARK: What is there

    /// Selects the complete snapshots, the newest first.
    static let snapshots = Statement(
        "snapshots", [.int4],
        """
        SELECT s.snapshot, s.number, s.id, s.schema, s.length, s.checksum,
            (extract(epoch FROM clock_timestamp() - s.at) * 1000000)::int8, coalesce(t.total - b.total, 0)
        FROM push_snapshots s
        LEFT JOIN push_batches b ON b.shard = s.shard AND b.number = s.number
        CROSS JOIN LATERAL (
            SELECT total FROM push_batches WHERE shard = s.shard ORDER BY number DESC LIMIT 1) t
        WHERE s.shard = $1 AND s.state = 'counts' ORDER BY s.number DESC, s.at DESC, s.snapshot
        """)

    /// Selects the snapshot that is being written.
    static let claim = Statement(
        "claim", [.int4],
        "SELECT snapshot, node, moves FROM push_snapshots WHERE shard = $1 AND state = 'written'")

    static let ends = Statement(
        "ends", [.int4],
        """
        SELECT (SELECT number FROM push_batches WHERE shard = $1 ORDER BY number LIMIT 1),
            (SELECT number FROM push_batches WHERE shard = $1 ORDER BY number DESC LIMIT 1)
        """)

    static let copies = Statement(
        "seen_copies", [.int4],
        """
        SELECT node, (extract(epoch FROM clock_timestamp() - seen) * 1000000)::int8
        FROM push_copies WHERE shard = $1
        """)

    // MARK: Writing

    /// Gives up a snapshot whose writer made no progress.
    static let giveUp = Statement(
        "give_up", [.int4, .uuid, .int8],
        """
        UPDATE push_snapshots SET state = 'goes' WHERE shard = $1 AND snapshot = $2 AND moves = $3
        AND state = 'written'
        """)

    /// Begins a snapshot, if none is being written: a unique index decides between two writers.
    static let begin = Statement(
        "begin_snapshot", [.int4, .uuid, .text],
        """
        INSERT INTO push_snapshots (shard, snapshot, state, node) VALUES ($1, $2, 'written', $3)
        ON CONFLICT DO NOTHING RETURNING shard
        """)

    static let move = Statement(
        "move_snapshot", [.int4, .uuid],
        """
        UPDATE push_snapshots SET moves = moves + 1 WHERE shard = $1 AND snapshot = $2 AND state = 'written'
        RETURNING shard
        """)

    /// Stores a part, if the snapshot is still being written: the UPDATE locks its row against a node that gives it up.
    static let putPart = Statement(
        "put_part", [.int4, .uuid, .int4, .bytes],
        """
        WITH claim AS (
            UPDATE push_snapshots SET moves = moves + 1 WHERE shard = $1 AND snapshot = $2 AND state = 'written'
            RETURNING shard),
        put AS (
            INSERT INTO push_snapshot_parts (shard, snapshot, part, bytes) SELECT shard, $2, $3, $4 FROM claim
            ON CONFLICT DO NOTHING)
        SELECT shard FROM claim
        """)

    static let part = Statement(
        "part", [.int4, .uuid, .int4],
        "SELECT bytes FROM push_snapshot_parts WHERE shard = $1 AND snapshot = $2 AND part = $3")

    static let finish = Statement(
        "finish_snapshot", [.int4, .uuid, .int8, .uuid, .int8, .int8, .int8],
        """
        UPDATE push_snapshots SET state = 'counts', number = $3, id = $4, schema = $5, length = $6, checksum = $7,
            at = clock_timestamp()
        WHERE shard = $1 AND snapshot = $2 AND state IN ('written', 'counts') RETURNING shard
        """)

    static func finish(of snapshot: Snapshot, _ shard: Value) -> Call {
        finish(
            shard, .uuid(snapshot.id), .number(Int64(clamping: snapshot.reference.number)),
            .uuid(snapshot.reference.id), .integer(snapshot.schema), .integer(snapshot.length),
            .number(snapshot.checksum))
    }

    // MARK: Deleting

    static let outdate = Statement(
        "outdate", [.int4, .int4],
        """
        UPDATE push_snapshots SET state = 'goes' WHERE shard = $1 AND state = 'counts' AND snapshot NOT IN (
            SELECT snapshot FROM push_snapshots WHERE shard = $1 AND state = 'counts'
            ORDER BY number DESC, at DESC, snapshot LIMIT $2)
        """)

    static let deleteParts = Statement(
        "delete_parts", [.int4, .int4],
        """
        DELETE FROM push_snapshot_parts WHERE (shard, snapshot, part) IN (
            SELECT p.shard, p.snapshot, p.part
            FROM push_snapshots s JOIN push_snapshot_parts p ON p.shard = s.shard AND p.snapshot = s.snapshot
            WHERE s.shard = $1 AND s.state = 'goes' LIMIT $2)
        """)

    static let deleteEmpty = Statement(
        "delete_empty", [.int4],
        """
        DELETE FROM push_snapshots s WHERE s.shard = $1 AND s.state = 'goes' AND NOT EXISTS (
            SELECT FROM push_snapshot_parts p WHERE p.shard = s.shard AND p.snapshot = s.snapshot)
        """)

    static let hasUnfinished = Statement(
        "has_going", [.int4],
        "SELECT EXISTS (SELECT FROM push_snapshots WHERE shard = $1 AND state = 'goes')")

    /// Deletes the first batches, without a gap, that are older than a snapshot and old enough. The batch of the
    /// snapshot itself stays: it serves to check a ledger made from the snapshot. A promoted standby with this commit
    /// also has every earlier commit, and so the snapshots.
    ///
    /// Old enough means ten minutes: a late copy of an append that saw its number before the deletion has ended long
    /// before (`statement_timeout` of `SessionSettings`).
    static let trim = Statement(
        "trim", [.int4, .int4, .int4],
        """
        DELETE FROM push_batches WHERE shard = $1 AND number IN (
            SELECT number FROM (
                SELECT number,
                    bool_or(at >= clock_timestamp() - interval '10 minutes') OVER (ORDER BY number) AS is_young
                FROM (
                    SELECT number, at FROM push_batches WHERE shard = $1 ORDER BY number LIMIT $2) AS slice
            ) AS marked
            WHERE NOT is_young AND number < (
                SELECT number FROM push_snapshots WHERE shard = $1 AND state = 'counts'
                ORDER BY number DESC, at DESC, snapshot LIMIT 1 OFFSET $3))
        RETURNING number
        """)
}

extension PostgreSQLEngine {
    private var shard: Value { .number(options.shard) }

    public func snapshots() throws(EngineProblem) -> SnapshotState {
        // One transaction reads one state of the database, so each snapshot has its batch.
        let rows = try askAll(
            SnapshotStatements.snapshots(shard), SnapshotStatements.claim(shard), SnapshotStatements.ends(shard),
            SnapshotStatements.copies(shard))
        guard let ends = rows[2].first, !ends.isNull(1) else { throw Self.notSetUp(options.shard) }
        var state = SnapshotState(
            snapshots: [], first: UInt64(clamping: try ends.integer(0)), last: UInt64(clamping: try ends.integer(1)))
        for row in rows[0] { state.snapshots.append(try Self.stored(row)) }
        if let row = rows[1].first {
            state.claim = SnapshotClaim(id: try row.uuid(0), node: try row.text(1), moves: try row.integer(2))
        }
        for row in rows[3] { state.copies[try row.text(0)] = .microseconds(try row.integer(1)) }
        return state
    }

    /// Decodes a row of `SnapshotStatements.snapshots`.
    static func stored(_ row: Row) throws(EngineProblem) -> StoredSnapshot {
        StoredSnapshot(
            Snapshot(
                id: try row.uuid(0), reference: try reference(row, at: 1), schema: try row.integer(3),
                length: try row.integer(4), checksum: UInt32(truncatingIfNeeded: try row.integer(5))),
            age: .microseconds(try row.integer(6)), bytesBehind: try row.integer(7))
    }

    public func beginSnapshot(
        _ id: UUID128, by node: String, replacing seen: SnapshotClaim?
    ) throws(EngineProblem) -> Bool {
        let begin = SnapshotStatements.begin(shard, .uuid(id), .text(node))
        guard let seen else { return try !ask(begin).isEmpty }
        return try !ask(SnapshotStatements.giveUp(shard, .uuid(seen.id), .integer(seen.moves)), begin).isEmpty
    }

    public func moveSnapshot(_ id: UUID128) throws(EngineProblem) -> Bool {
        try !ask(Statements.withoutWaiting(), SnapshotStatements.move(shard, .uuid(id))).isEmpty
    }

    /// Stores a part without waiting for a standby: the commit that completes the snapshot waits, and covers its parts.
    public func putPart(_ part: Int, of id: UUID128, _ bytes: [UInt8]) throws(EngineProblem) -> Bool {
        try !ask(
            Statements.withoutWaiting(),
            SnapshotStatements.putPart(shard, .uuid(id), .number(part), .bytes(bytes))
        ).isEmpty
    }

    public func part(_ part: Int, of id: UUID128) throws(EngineProblem) -> [UInt8]? {
        guard let row = try ask(SnapshotStatements.part(shard, .uuid(id), .number(part))).first else { return nil }
        return try row.bytes(0)
    }

    public func finishSnapshot(_ snapshot: Snapshot) throws(EngineProblem) -> Bool {
        try !ask(SnapshotStatements.finish(of: snapshot, shard)).isEmpty
    }

    public func removeSnapshots(partsAtMost count: Int) throws(EngineProblem) -> Bool {
        let rows = try ask(
            Statements.withoutWaiting(), SnapshotStatements.outdate(shard, .number(Snapshot.kept)),
            SnapshotStatements.deleteParts(shard, .number(count)), SnapshotStatements.deleteEmpty(shard),
            SnapshotStatements.hasUnfinished(shard))
        return try rows.first?.bool(0) ?? false
    }

    public func trim(atMost count: Int) throws(EngineProblem) -> Int {
        try ask(
            Statements.withoutWaiting(),
            SnapshotStatements.trim(shard, .number(count), .number(Snapshot.kept - 1))
        ).count
    }
}
