public import PushModel

extension LedgerReader {
    /// The gaps of the daemon of which any part is in a window, in the order in which they were noticed.
    ///
    /// - Parameters:
    ///   - start: the first instant of the window; `nil`: it has no begin.
    ///   - end: the first instant behind it; `nil`: it has no end.
    /// - Throws: `corrupt` for a kind that this version does not know; SQLite's errors.
    public func gaps(from start: WallTime? = nil, to end: WallTime? = nil) throws(StoreError) -> [DaemonGap] {
        let rows = try database.prepare("SELECT \(DaemonGap.table.values()) FROM gaps ORDER BY number")
        var gaps: [DaemonGap] = []
        while try rows.step() {
            let gap: DaemonGap = try rows.value()
            if gap.touches(since: start, until: end) { gaps.append(gap) }
        }
        return gaps
    }

    /// When a daemon was last known to be alive: its last sign of life, or the last request after that; `nil` where none
    /// ever was.
    public func lastAlive() throws(StoreError) -> WallTime? {
        let sign = try database.prepare(
            """
            SELECT coalesce(
                (SELECT accepted_at FROM request_rows WHERE request_rows.seq > life.seq
                    ORDER BY request_rows.seq DESC LIMIT 1), seen_at)
            FROM life
            """)
        guard try sign.step() else { return nil }
        return try sign.value(0)
    }

    /// When a daemon last gave a sign of life by a clock that it believed; `nil` where none ever did.
    public func lastBelieved() throws(StoreError) -> WallTime? {
        let sign = try database.prepare("SELECT believed_at FROM life WHERE believed_at IS NOT NULL")
        return try sign.step() ? try sign.value(0) : nil
    }
}
