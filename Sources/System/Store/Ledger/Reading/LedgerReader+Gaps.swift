public import PushModel

extension LedgerReader {
    /// Returns the gaps of the daemon that overlap a window, in the order in which they were noticed.
    ///
    /// - Parameters:
    ///   - start: the first instant of the window; `nil` means no bound.
    ///   - end: the first instant behind it; `nil` means no bound.
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

    /// Returns the time at which a daemon was last known to be alive: its last sign of life, or the last request after
    /// that; `nil` if there is neither.
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

    /// Returns the time of the last sign of life by a clock that the daemon trusted; `nil` if there is none.
    public func lastBelieved() throws(StoreError) -> WallTime? {
        let sign = try database.prepare("SELECT believed_at FROM life WHERE believed_at IS NOT NULL")
        return try sign.step() ? try sign.value(0) : nil
    }
}
