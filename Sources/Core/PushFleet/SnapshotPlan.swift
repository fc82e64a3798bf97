public import PushModel

/// When a shard needs another snapshot, and which node writes it.
public struct SnapshotPlan: Hashable, Sendable {
    /// How old the newest snapshot may become.
    public var interval: Duration
    /// How many bytes of batches may be behind the newest snapshot.
    public static let bytesBehind: Int64 = 8 << 30
    /// A copy that said nothing for so long writes no snapshot.
    public static let silence: Duration = .seconds(60)

    /// - Parameter interval: how old the newest snapshot may become.
    public init(interval: Duration) { self.interval = interval }

    /// Whether another snapshot is due.
    ///
    /// After an erasure it is due until each snapshot that the engine keeps has the erasure.
    ///
    /// - Parameter erasure: the batch with the newest erasure; `nil`: there was none.
    public func isDue(_ state: SnapshotState, erasure: UInt64? = nil) -> Bool {
        guard let newest = state.snapshots.first else { return state.last > 0 }
        if let erasure {
            let kept = state.snapshots.prefix(Snapshot.kept)
            // One alone, from before, would keep what was erased until the next one comes.
            if kept.contains(where: { $0.snapshot.reference.number < erasure }) { return true }
        }
        guard newest.snapshot.reference.number < state.last else { return false }
        return Self.distance(newest.age) >= interval || newest.bytesBehind >= Self.bytesBehind
    }

    /// Whether this node writes the snapshot that is due: one that follows does, and the leader where nobody follows, or who
    /// follows has not written it for as long again.
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

/// A snapshot that is being written, as another node has seen it: one that did not move for a time by the node's own
/// clock is replaced.
///
/// Times are of `CLOCK_BOOTTIME`.
public struct ClaimWatch: Hashable, Sendable {
    private let patience: Duration
    private var seen: SnapshotClaim?
    private var since = Instant(nanoseconds: 0)

    /// - Parameter patience: how long it may stand still.
    public init(patience: Duration) { self.patience = patience }

    /// The state was read.
    ///
    /// - Returns: whether this node may begin a snapshot, in the place of what is there.
    public mutating func mayBegin(_ claim: SnapshotClaim?, at now: Instant) -> Bool {
        guard let claim else {
            seen = nil
            return true
        }
        if claim != seen { (seen, since) = (claim, now) }
        return now - since >= patience
    }
}
