public import PushModel

/// The rules for the time and the writer of the next snapshot of a shard.
public struct SnapshotPlan: Hashable, Sendable {
    /// The age limit of the newest snapshot.
    public var interval: Duration
    /// The limit of bytes of batches behind the newest snapshot.
    public static let bytesBehind: Int64 = 8 << 30
    /// The time without a note after which a copy does not count as a writer.
    public static let silence: Duration = .seconds(60)

    /// - Parameter interval: the age limit of the newest snapshot.
    public init(interval: Duration) { self.interval = interval }

    /// Whether another snapshot is due.
    ///
    /// After an erasure, a snapshot is due until all snapshots that the engine keeps include the erasure.
    ///
    /// - Parameter erasure: the batch with the newest erasure; `nil` if there was none.
    public func isDue(_ state: SnapshotState, erasure: UInt64? = nil) -> Bool {
        guard let newest = state.snapshots.first else { return state.last > 0 }
        if let erasure {
            let kept = state.snapshots.prefix(Snapshot.kept)
            // A single snapshot from before the erasure would keep the erased rows until the next one.
            if kept.contains(where: { $0.snapshot.reference.number < erasure }) { return true }
        }
        guard newest.snapshot.reference.number < state.last else { return false }
        return Self.distance(newest.age) >= interval || newest.bytesBehind >= Self.bytesBehind
    }

    /// Whether this node writes the due snapshot: a follower does. The leader does if no node follows, or if the
    /// snapshot is overdue by another ``interval``.
    ///
    /// - Parameters:
    ///   - leads: whether this node leads.
    ///   - node: this node's name.
    public func isWriter(_ state: SnapshotState, leads: Bool, node: String) -> Bool {
        if let newest = state.snapshots.first, Self.distance(newest.age) >= interval * 2 { return true }
        return !leads || !state.copies.contains { $0.key != node && Self.distance($0.value) < Self.silence }
    }

    /// How far a time is from now. One that lies ahead was written before the engine's clock was set back: by its age alone
    /// nothing would be due until the clock has made up for that.
    private static func distance(_ age: Duration) -> Duration { max(age, .zero - age) }
}

/// An unfinished snapshot as another node sees it: the node replaces one that made no step for a time by its own clock.
///
/// Times are of `CLOCK_BOOTTIME`.
public struct ClaimWatch: Hashable, Sendable {
    private let patience: Duration
    private var seen: SnapshotClaim?
    private var since = Instant(nanoseconds: 0)

    /// - Parameter patience: the time without a step after which a snapshot counts as abandoned.
    public init(patience: Duration) { self.patience = patience }

    /// Takes a reading of the claim.
    ///
    /// - Returns: whether this node may begin a snapshot in place of the claimed one.
    public mutating func mayBegin(_ claim: SnapshotClaim?, at now: Instant) -> Bool {
        guard let claim else {
            seen = nil
            return true
        }
        if claim != seen { (seen, since) = (claim, now) }
        return now - since >= patience
    }
}
