/// A copy of a shard's ledger in the engine, in parts. A snapshot and the batches behind it are all data of the shard.
public struct Snapshot: Hashable, Sendable {
    /// The random id that its writer drew.
    public var id: UUID128
    /// The last batch that the ledger has.
    public var reference: BatchReference
    /// The schema version of the ledger: an older program cannot read a newer one.
    public var schema: Int64
    /// The length of all parts, in bytes.
    public var length: Int64
    /// The CRC-32C of all parts.
    public var checksum: UInt32

    /// The length of each part except the last, in bytes.
    public static let partLength = 1 << 20
    /// The number of snapshots that the engine keeps; the batches behind the oldest of them stay.
    public static let kept = 2

    /// Joins the parts.
    public init(id: UUID128, reference: BatchReference, schema: Int64, length: Int64, checksum: UInt32) {
        (self.id, self.reference) = (id, reference)
        (self.schema, self.length, self.checksum) = (schema, length, checksum)
    }

    /// The number of parts.
    public var parts: Int { Int((length + Int64(Self.partLength) - 1) / Int64(Self.partLength)) }

    /// Returns the length of a part in bytes.
    public func length(ofPart part: Int) -> Int {
        Int(min(Int64(Self.partLength), length - Int64(part) * Int64(Self.partLength)))
    }
}

/// A valid snapshot: each of its parts was read back.
public struct StoredSnapshot: Hashable, Sendable {
    /// The snapshot.
    public var snapshot: Snapshot
    /// The time since it was finished, by the engine's clock.
    public var age: Duration
    /// The bytes of the batches behind it.
    public var bytesBehind: Int64

    /// Joins the parts.
    public init(_ snapshot: Snapshot, age: Duration, bytesBehind: Int64) {
        (self.snapshot, self.age, self.bytesBehind) = (snapshot, age, bytesBehind)
    }
}

/// An unfinished snapshot, whose writer may have died. Each step of its writer increments ``moves``.
public struct SnapshotClaim: Hashable, Sendable {
    /// The id of the snapshot.
    public var id: UUID128
    /// The node of its writer.
    public var node: String
    /// The number of steps of its writer.
    public var moves: Int64

    /// Joins the parts.
    public init(id: UUID128, node: String, moves: Int64) { (self.id, self.node, self.moves) = (id, node, moves) }
}

/// The state of a shard's snapshots.
public struct SnapshotState: Hashable, Sendable {
    /// The valid snapshots, the newest first.
    public var snapshots: [StoredSnapshot]
    /// The unfinished one.
    public var claim: SnapshotClaim?
    /// The first batch that is still in the chain.
    public var first: UInt64
    /// The last batch of the chain.
    public var last: UInt64
    /// The time since each node last noted the progress of its copy, by the engine's clock.
    public var copies: [String: Duration]

    /// Joins the parts.
    public init(
        snapshots: [StoredSnapshot], claim: SnapshotClaim? = nil, first: UInt64, last: UInt64,
        copies: [String: Duration] = [:]
    ) {
        (self.snapshots, self.claim, self.first, self.last) = (snapshots, claim, first, last)
        self.copies = copies
    }
}

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

    /// Whether this node writes the due snapshot. A follower does. The leader does if no node follows, if the snapshot
    /// is overdue by another ``interval``, or if it began one before it led, because all others wait for that one.
    ///
    /// - Parameters:
    ///   - leads: whether this node leads.
    ///   - node: this node's name.
    public func isWriter(_ state: SnapshotState, leads: Bool, node: String) -> Bool {
        if let newest = state.snapshots.first, Self.distance(newest.age) >= interval * 2 { return true }
        if state.claim?.node == node { return true }
        return !leads || !state.copies.contains { $0.key != node && Self.distance($0.value) < Self.silence }
    }

    /// The distance of a time from now in either direction. A time lies ahead if the engine's clock was set back after
    /// it was written. Its age is then negative, and nothing would be due until the clock reaches the time.
    private static func distance(_ age: Duration) -> Duration { max(age, .zero - age) }
}

/// The pace of the copy of a ledger for a snapshot. The copy is one transaction, which keeps SQLite from emptying the
/// WAL. A ledger with a WAL at its limit waits for the copy, and the clients of a leader wait for the ledger.
public enum CopyPace: Hashable, Sendable {
    /// At the rate of the settings.
    case paced
    /// As fast as it can.
    case unpaced
    /// It ends, and begins again later.
    case givesWay

    /// - Parameters:
    ///   - walLength: the length of the WAL, in bytes.
    ///   - walLimit: the length at which the ledger waits for readers.
    ///   - leads: whether this node leads.
    public init(walLength: Int, walLimit: Int, leads: Bool) {
        let quarter = walLimit / 4
        self = walLength < quarter ? .paced : leads && walLength >= 3 * quarter ? .givesWay : .unpaced
    }
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
