import PushModel

extension DeadLetterLimits {
    /// The statement that takes out those that are too old, so many at most.
    func deletionByAge(limit: Int) -> String {
        """
        DELETE FROM dead_letters WHERE (seq, n) IN (
            SELECT seq, n FROM dead_letters WHERE at < \(cutoff.milliseconds) ORDER BY at, seq, n LIMIT \(limit))
        """
    }

    /// The statement that takes out the oldest ones that are too many, of so many at most. One sum looks at all rows, some
    /// milliseconds for 300,000; the rest looks at those that may go.
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

/// What a slice of pruning took out.
struct Pruned: Hashable {
    var requests = 0
    var deadLetters = 0
    /// When the last of the requests was accepted; `nil` without any.
    var newest: WallTime?
    /// Whether there may be more to take.
    var isPartial = false
}
