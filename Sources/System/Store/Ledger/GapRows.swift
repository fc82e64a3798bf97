import PushModel

/// The statements that write gaps of the daemon. For one thread.
final class GapRows {
    /// The number of gaps that the ledger keeps; the oldest are deleted.
    static let most: Int64 = 4096

    private var insert: RowStatement
    private var deleteOldest: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        insert = try RowStatement(DaemonGap.table.insertion(), of: DaemonGap.table, database)
        deleteOldest = try database.prepare(
            "DELETE FROM gaps WHERE number <= (SELECT max(number) FROM gaps) - \(Self.most)")
    }

    func add(_ values: RowValues) throws(StoreError) {
        try insert.run(values)
        try deleteOldest.run()
    }

    /// Returns the statement that deletes gaps that ended before a time.
    static func deletion(before cutoff: WallTime) -> String {
        "DELETE FROM gaps WHERE max(begin_at, end_at) < \(cutoff.milliseconds)"
    }
}
