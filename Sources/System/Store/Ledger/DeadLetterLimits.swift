public import PushModel

/// How long dead letters stay, and how many: their requests go with the others once they are dead letters no more.
public struct DeadLetterLimits: Hashable, Sendable {
    /// Those that became dead letters before then go.
    public var cutoff: WallTime
    /// How many bytes the request lines of those that stay may have together; the oldest go first.
    public var byteCountMax: Int

    /// Joins the two.
    public init(cutoff: WallTime, byteCountMax: Int) {
        self.cutoff = cutoff
        self.byteCountMax = byteCountMax
    }

    /// The statement that takes out so many of them at most.
    func deletion(limit: Int) -> String {
        """
        DELETE FROM dead_letters WHERE (seq, n) IN (
            SELECT seq, n FROM (
                SELECT seq, n, at, sum(bytes) OVER (ORDER BY seq DESC, n DESC) AS newer FROM dead_letters)
            WHERE at < \(cutoff.milliseconds) OR newer > \(byteCountMax) LIMIT \(limit))
        """
    }
}

/// What a slice of pruning took out.
struct Pruned: Hashable {
    var requests = 0
    var deadLetters = 0
    /// Whether there may be more to take.
    var isPartial = false
}
