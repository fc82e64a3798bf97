public import PushModel

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
