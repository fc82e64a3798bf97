/// A time in which the daemon could not do its work, or in which its wall clock was wrong.
public struct DaemonGap: Hashable, Sendable {
    /// The kind of gap. The raw values are in the ledger, in the journal and in reports.
    public enum Kind: String, Sendable, CaseIterable {
        /// No daemon ran, from the last sign of life of one to the start of the next.
        case down
        /// The wall clock was set: `begin` is what it showed before, `end` what it showed after.
        case clockStepped = "clock_stepped"
        /// The machine was suspended.
        case suspended
        /// The disk accepted no write, or a write took longer than `SlowCommit=`.
        case diskStalled = "disk_stalled"
        /// The leader of several machines was lost, from its last batch until the next one was ready.
        case leaderLost = "leader_lost"
        /// The engine of a shared log did not answer the leader for longer than a second.
        case engineAway = "engine_away"
        /// The engine of a shared log answered, but no standby had the leader's writes.
        case unprotected
    }

    /// The kind of gap.
    public var kind: Kind
    /// The time when it began.
    public var begin: WallTime
    /// The time when it ended; before `begin` if the clock was set back.
    public var end: WallTime

    public init(_ kind: Kind, begin: WallTime, end: WallTime) {
        (self.kind, self.begin, self.end) = (kind, begin, end)
    }

    /// The length; negative if the clock was set back.
    public var length: Duration {
        let (milliseconds, isOver) = end.milliseconds.subtractingReportingOverflow(begin.milliseconds)
        return .milliseconds(isOver ? 0 : milliseconds)
    }

    /// Whether the gap overlaps a window.
    ///
    /// - Parameters:
    ///   - since: the first instant of the window; `nil`: the window has no begin.
    ///   - until: the first instant after the window; `nil`: the window has no end.
    public func touches(since: WallTime?, until: WallTime?) -> Bool {
        (until.map { min(begin, end) < $0 } ?? true) && (since.map { max(begin, end) >= $0 } ?? true)
    }
}

/// A sign of life of the daemon; the ledger stores the last one.
public struct LifeSign: Hashable, Sendable {
    /// The time of the sign.
    public var at: WallTime
    /// The number of the last request that was accepted by then.
    public var last: SequenceNumber
    /// The last time that the daemon was alive with a clock that it believed; `nil`: never.
    public var believed: WallTime?

    public init(at: WallTime, last: SequenceNumber, believed: WallTime?) {
        (self.at, self.last, self.believed) = (at, last, believed)
    }
}
