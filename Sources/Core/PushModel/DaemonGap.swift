/// A time in which the daemon could not do its work, or of which its clock does not tell the truth.
public struct DaemonGap: Hashable, Sendable {
    /// What it was; the raw values are in the ledger, in the journal and in reports.
    public enum Kind: String, Sendable, CaseIterable {
        /// No daemon ran, from the last sign of life of one to the start of the next.
        case down
        /// The wall clock was set: `begin` is what it showed before, `end` what it showed after.
        case clockStepped = "clock_stepped"
        /// The machine was suspended.
        case suspended
        /// Nothing could be written, or a write took longer than `SlowCommit=`.
        case diskStalled = "disk_stalled"
        /// The leader of several machines was lost, from its last batch until the next one was ready.
        case leaderLost = "leader_lost"
        /// The engine of a shared log gave the leader no answer for longer than a second.
        case engineAway = "engine_away"
        /// The engine of a shared log answered, and no standby had what the leader wrote.
        case unprotected
    }

    /// What it was.
    public var kind: Kind
    /// When it began.
    public var begin: WallTime
    /// When it was over; before `begin` where the clock was set back.
    public var end: WallTime

    public init(_ kind: Kind, begin: WallTime, end: WallTime) {
        (self.kind, self.begin, self.end) = (kind, begin, end)
    }

    /// How long it was; negative where the clock was set back.
    public var length: Duration {
        let (milliseconds, isOver) = end.milliseconds.subtractingReportingOverflow(begin.milliseconds)
        return .milliseconds(isOver ? 0 : milliseconds)
    }

    /// Whether any of it is in a window.
    ///
    /// - Parameters:
    ///   - since: the first instant of the window; `nil`: it has no begin.
    ///   - until: the first instant behind the window; `nil`: it has no end.
    public func touches(since: WallTime?, until: WallTime?) -> Bool {
        (until.map { min(begin, end) < $0 } ?? true) && (since.map { max(begin, end) >= $0 } ?? true)
    }
}

/// That the daemon was alive: the ledger keeps the last one.
public struct LifeSign: Hashable, Sendable {
    /// When it was alive.
    public var at: WallTime
    /// The number of the last request that was accepted by then.
    public var last: SequenceNumber
    /// When it was last alive by a clock that it believed; `nil`: never.
    public var believed: WallTime?

    public init(at: WallTime, last: SequenceNumber, believed: WallTime?) {
        (self.at, self.last, self.believed) = (at, last, believed)
    }
}
