public import PushModel

/// A batch of a shard's chain, by its number and by the random id of its writer. Two writers never draw the same id, so
/// equal references mean the same bytes.
public struct BatchReference: Hashable, Sendable {
    /// The place in the chain; 0 before the first batch.
    public var number: UInt64
    /// The id.
    public var id: UUID128

    /// The reference before the first batch.
    public static let start = BatchReference(number: 0, id: UUID128(high: 0, low: 0))

    /// Joins the two.
    public init(number: UInt64, id: UUID128) { (self.number, self.id) = (number, id) }
}

/// A batch as a writer hands it to the engine. Its bytes never change afterwards.
public struct ChainBatch: Hashable, Sendable {
    /// The highest version of batches that this program reads and writes.
    public static let currentVersion = RowKind.newestVersion

    /// Its number and its id.
    public var reference: BatchReference
    /// The id of the batch before it.
    public var previous: UUID128
    /// The term of the leader that wrote it.
    public var epoch: Int64
    /// The version of its contents.
    public var version = currentVersion
    /// The boot of the writer's machine; `handedOver` is valid within it.
    public var boot: UUID128
    /// `CLOCK_MONOTONIC` of the writer at the hand-over.
    public var handedOver: Instant
    /// The cursor of the last event up to this batch, by which each copy checks that it assigns the same cursors; `nil`
    /// if the writer did not tell.
    public var lastCursor: Int64?
    /// The header and the rows, in the format of the log of one machine.
    public var bytes: [UInt8]

    /// Joins the parts.
    public init(
        reference: BatchReference, previous: UUID128, epoch: Int64, boot: UUID128, handedOver: Instant,
        lastCursor: Int64? = nil, bytes: [UInt8]
    ) {
        (self.reference, self.previous, self.epoch) = (reference, previous, epoch)
        (self.boot, self.handedOver, self.lastCursor, self.bytes) = (boot, handedOver, lastCursor, bytes)
    }
}

/// A batch as the engine returns it.
public struct StoredBatch: Hashable, Sendable {
    /// The batch.
    public var batch: ChainBatch
    /// The time since its insertion, by the engine's clock at the time of the reading.
    public var age: Duration

    /// Joins the two.
    public init(batch: ChainBatch, age: Duration) { (self.batch, self.age) = (batch, age) }
}

/// The last batch of a chain.
public struct ChainTail: Hashable, Sendable {
    /// Its number and its id.
    public var reference: BatchReference
    /// The term of its writer.
    public var epoch: Int64

    /// Joins the two.
    public init(_ reference: BatchReference, epoch: Int64) { (self.reference, self.epoch) = (reference, epoch) }
}
