public import PushModel

/// A copy of a shard's ledger in the engine, in parts: with the batches behind it, it is all that the shard has.
public struct Snapshot: Hashable, Sendable {
    /// The id that its writer drew.
    public var id: UUID128
    /// The last batch that the ledger has.
    public var reference: BatchReference
    /// The schema of the ledger: an older program cannot read a newer one.
    public var schema: Int64
    /// The length of all parts, in bytes.
    public var length: Int64
    /// The CRC-32C of all parts.
    public var checksum: UInt32

    /// The length of each part but the last, in bytes.
    public static let partLength = 1 << 20
    /// How many snapshots the engine keeps: the batches behind the oldest of them stay.
    public static let kept = 2

    /// Joins the parts.
    public init(id: UUID128, reference: BatchReference, schema: Int64, length: Int64, checksum: UInt32) {
        (self.id, self.reference) = (id, reference)
        (self.schema, self.length, self.checksum) = (schema, length, checksum)
    }

    /// How many parts it has.
    public var parts: Int { Int((length + Int64(Self.partLength) - 1) / Int64(Self.partLength)) }

    /// The length of a part, in bytes.
    public func length(ofPart part: Int) -> Int {
        Int(min(Int64(Self.partLength), length - Int64(part) * Int64(Self.partLength)))
    }
}

/// A snapshot that counts: each of its parts was read back.
public struct StoredSnapshot: Hashable, Sendable {
    /// The snapshot.
    public var snapshot: Snapshot
    /// How long ago it was finished, by the engine's clock.
    public var age: Duration
    /// How many bytes the batches behind it have.
    public var bytesBehind: Int64

    /// Joins the parts.
    public init(_ snapshot: Snapshot, age: Duration, bytesBehind: Int64) {
        (self.snapshot, self.age, self.bytesBehind) = (snapshot, age, bytesBehind)
    }
}

/// A snapshot that somebody writes, or died over. Each step of its writer moves it.
public struct SnapshotClaim: Hashable, Sendable {
    /// The id of the snapshot.
    public var id: UUID128
    /// The node of its writer.
    public var node: String
    /// How many steps its writer made.
    public var moves: Int64

    /// Joins the parts.
    public init(id: UUID128, node: String, moves: Int64) { (self.id, self.node, self.moves) = (id, node, moves) }
}

/// How a shard is with its snapshots.
public struct SnapshotState: Hashable, Sendable {
    /// The snapshots that count, the newest first.
    public var snapshots: [StoredSnapshot]
    /// The one that is being written.
    public var claim: SnapshotClaim?
    /// The first batch that the chain still has.
    public var first: UInt64
    /// The last batch of the chain.
    public var last: UInt64
    /// How long ago each node last said how far its copy is, by the engine's clock.
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
