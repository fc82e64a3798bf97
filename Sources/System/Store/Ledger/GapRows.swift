import PushModel

/// Applies the rows that tell of gaps of the daemon and of its being alive. For one thread.
final class GapRows {
    /// How many gaps the ledger keeps: the oldest go.
    static let most: Int64 = 4096

    private var insert: Statement
    private var deleteOldest: Statement
    private var replaceSign: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        insert = try database.prepare("INSERT INTO gaps VALUES (NULL, ?1, ?2, ?3)")
        deleteOldest = try database.prepare(
            "DELETE FROM gaps WHERE number <= (SELECT max(number) FROM gaps) - \(Self.most)")
        replaceSign = try database.prepare("INSERT OR REPLACE INTO life VALUES (1, ?1, ?2, ?3)")
    }

    func apply(_ kind: RowKind, _ values: RowValues) throws(StoreError) {
        switch kind {
        case .gap:
            try insert.run(values, count: 3)
            try deleteOldest.run()
        case .lifeSign: try replaceSign.run(values, count: 3)
        default: preconditionFailure("a row of the kind \(kind) tells of no gap")
        }
    }

    /// Deletes gaps that were over before a time.
    static func deletion(before cutoff: WallTime) -> String {
        "DELETE FROM gaps WHERE max(begin_at, end_at) < \(cutoff.milliseconds)"
    }
}
