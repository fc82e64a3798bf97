public import PushFleet
public import PushModel

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
