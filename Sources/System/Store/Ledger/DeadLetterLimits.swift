import PushModel

extension DeadLetterLimits {
    /// Returns the statement that deletes dead letters older than the cutoff, at most `limit` of them.
    func deletionByAge(limit: Int) -> String {
        """
        DELETE FROM dead_letters WHERE (seq, n) IN (
            SELECT seq, n FROM dead_letters WHERE at < \(cutoff.milliseconds) ORDER BY at, seq, n LIMIT \(limit))
        """
    }

    /// Returns the statement that deletes the oldest dead letters beyond the size limit, among the `limit` oldest. One
    /// sum reads all rows, some milliseconds for 300,000; the rest reads only those `limit` rows.
    func deletionBySize(limit: Int) -> String {
        """
        DELETE FROM dead_letters WHERE (seq, n) IN (
            SELECT seq, n FROM (
                SELECT seq, n, sum(bytes) OVER (ORDER BY seq, n ROWS UNBOUNDED PRECEDING) - bytes AS older
                FROM (SELECT seq, n, bytes FROM dead_letters ORDER BY seq, n LIMIT \(limit)))
            WHERE (SELECT sum(bytes) FROM dead_letters) - older > \(byteCountMax))
        """
    }
}

/// The rows that a slice of pruning removed.
struct Pruned: Hashable {
    var requests = 0
    var deadLetters = 0
    /// The time of acceptance of the last of the requests; `nil` if there are none.
    var newest: WallTime?
    /// Whether there may be more to remove.
    var isPartial = false
}
