/// A time in which the daemon could not do its work, or for which its clock was wrong.
public struct DaemonGap: Hashable, Sendable {
    /// The kind of gap. The raw values are in the ledger, in the journal and in reports.
    public enum Kind: String, Sendable, CaseIterable {
        /// No daemon ran, from the last sign of life of one daemon to the start of the next.
        case down
        /// The wall clock was set: `begin` is the time before the step, `end` the time after it.
        case clockStepped = "clock_stepped"
        /// The machine was suspended.
        case suspended
        /// The disk accepted no write, or a write took longer than `SlowCommit=`.
        case diskStalled = "disk_stalled"
        /// A pair or group of machines had lost its leader, from the leader's last batch until its successor was ready.
        case leaderLost = "leader_lost"
        /// The engine of a shared log committed nothing of the leader for longer than a second: it was away, or slow.
        case engineAway = "engine_away"
        /// The engine of a shared log answered, but no standby had the leader's writes.
        case unprotected
    }

    /// The kind.
    public var kind: Kind
    /// The beginning of the gap.
    public var begin: WallTime
    /// The end of the gap; before `begin` if the clock was set back.
    public var end: WallTime

    public init(_ kind: Kind, begin: WallTime, end: WallTime) {
        (self.kind, self.begin, self.end) = (kind, begin, end)
    }

    /// The length of the gap; negative if the clock was set back.
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

/// A time at which the daemon was alive; the ledger keeps the last one.
public struct LifeSign: Hashable, Sendable {
    /// The time.
    public var at: WallTime
    /// The number of the last request that was accepted before.
    public var last: SequenceNumber
    /// The last time at which the daemon was alive and trusted its clock; `nil`: never.
    public var believed: WallTime?

    public init(at: WallTime, last: SequenceNumber, believed: WallTime?) {
        (self.at, self.last, self.believed) = (at, last, believed)
    }
}
