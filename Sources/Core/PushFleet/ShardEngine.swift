public import PushModel

/// The result of an append, as the engine reports it.
public enum AppendResult: Hashable, Sendable {
    /// The engine reported the end of the commit without a warning, while the batch had the required protection.
    case there
    /// The commit ended, but the engine may still lose the batch; the text says why.
    case doubtful(String)
    /// The batch was not inserted: another batch has its number, or the batch before it is missing.
    case other
    /// The engine's answer is incomplete: the batch may be inserted, or may still be.
    case unknown(EngineProblem)
}

/// The reason why the engine gave no answer.
public struct EngineProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds that callers treat differently.
    public enum Kind: Hashable, Sendable {
        /// A failed or lost connection, a timeout, or a conflict: the same call may succeed at once.
        case unreachable
        /// The engine itself has failed: its disk is full, or its files are damaged.
        case ill
        /// The database is not set up for this shard, or belongs to another fleet.
        case notOurs
        /// The database was written by a newer version of the program.
        case newer
    }

    /// The kind.
    public var kind: Kind
    /// The engine's own code; empty if it gave none. For PostgreSQL: SQLSTATE.
    public var code: String
    /// The message of the engine or of its client library.
    public var message: String

    /// Joins the parts.
    public init(_ kind: Kind, code: String = "", message: String) {
        (self.kind, self.code, self.message) = (kind, code, message)
    }

    public var description: String { code.isEmpty ? message : "\(message) (SQLSTATE \(code))" }
}

/// The row of a shard with its leader.
public struct LeaseRow: Hashable, Sendable {
    /// The name of the leading node and the id of its process; `nil`: no node leads.
    public var owner: NodeIncarnation?
    /// The term: each new owner writes a higher one.
    public var epoch: Int64
    /// A counter that each renewal raises.
    public var renewals: Int64
    /// The node that is to lead next, by a person's order; `nil`: any. A node that takes the lease clears it.
    public var successor: String?
    /// The nodes that must not lead, by a person's order.
    public var drained: Set<String>
    /// The lowest version that a copy reads, of the copies with a note within a day; `nil`: there is no such note.
    public var leastReader: Int?

    /// Joins the parts.
    public init(
        owner: NodeIncarnation?, epoch: Int64, renewals: Int64, successor: String? = nil, drained: Set<String> = [],
        leastReader: Int? = nil
    ) {
        (self.owner, self.epoch, self.renewals) = (owner, epoch, renewals)
        (self.successor, self.drained, self.leastReader) = (successor, drained, leastReader)
    }

    /// The lease without orders of people. A taker compares this part, and a renewal changes it; an order of a person
    /// does not.
    public var withoutOrders: LeaseRow { LeaseRow(owner: owner, epoch: epoch, renewals: renewals) }

    /// Whether a leading node is to hand over.
    public func asksToHandOver(_ node: String) -> Bool {
        drained.contains(node) || successor.map { $0 != node } ?? false
    }

    /// Whether the lease was given back and this node may take it.
    public func isLeft(to node: String) -> Bool { owner == nil && (successor ?? node) == node }
}

/// A renewed lease.
public struct LeaseRenewal: Hashable, Sendable {
    /// The new row.
    public var row: LeaseRow
    /// The engine's wall clock, for times that people read; leases and deadlines do not use it.
    public var wall: WallTime

    /// Joins the two.
    public init(_ row: LeaseRow, wall: WallTime) { (self.row, self.wall) = (row, wall) }
}

/// One process of a node. A restart has another id, so it never takes the lease of the earlier process as its own.
public struct NodeIncarnation: Hashable, Sendable {
    /// The node's name, unique within the fleet.
    public var node: String
    /// The random id of the process.
    public var id: UUID128

    /// Joins the two.
    public init(node: String, id: UUID128) { (self.node, self.id) = (node, id) }
}

/// The identity of an engine's database, independent of its address: a promoted standby has the same one, a clone
/// another one.
public struct DatabasePlace: Hashable, Sendable {
    /// The database cluster; `nil`: the engine does not report it.
    public var cluster: Int64?
    /// The database within it; `nil`: the engine does not report it.
    public var database: Int64?

    /// Joins the two.
    public init(cluster: Int64? = nil, database: Int64? = nil) { (self.cluster, self.database) = (cluster, database) }

    /// Whether `other` may be the same database, as far as both are known.
    public func admits(_ other: DatabasePlace) -> Bool {
        (cluster == nil || other.cluster == nil || cluster == other.cluster)
            && (database == nil || other.database == nil || database == other.database)
    }
}

/// The identity of a database's chain.
public struct ShardIdentity: Hashable, Sendable {
    /// The random id from the setup of the database: by it a copy's owner detects another database.
    public var fleet: UUID128
    /// The id of the ledger that every copy of the shard has: event ids begin with it.
    public var state: UUID128
    /// The database.
    public var place: DatabasePlace

    /// Joins the parts.
    public init(fleet: UUID128, state: UUID128, place: DatabasePlace = DatabasePlace()) {
        (self.fleet, self.state, self.place) = (fleet, state, place)
    }
}

/// The engine of a shard, which several machines share: the chain, and the row with the leader. This interface has no
/// SQL, no clock and no lock.
///
/// A value is one session, used by one thread at a time. Each call blocks, and ends within the session's time limit.
/// After a failure the next call reconnects, and first ends the lost sessions of this process.
public protocol ShardEngine: AnyObject, Sendable {
    /// Returns the identity of the database's chain.
    func identity() throws(EngineProblem) -> ShardIdentity

    /// Inserts a batch after its predecessor, if that is the last batch and no term above the batch's has begun.
    func append(_ batch: ChainBatch) -> AppendResult

    /// Commits another row after a batch, if that is the last one of the chain. Its protection then holds for the batch
    /// too.
    func confirm(_ reference: BatchReference) -> AppendResult

    /// Returns the last batch.
    func tail() throws(EngineProblem) -> ChainTail

    /// Returns batches in order from a number on, inclusive.
    func batches(from number: UInt64, atMost count: Int) throws(EngineProblem) -> [StoredBatch]

    /// Returns the row with the leader.
    func lease() throws(EngineProblem) -> LeaseRow

    /// Increments the renewals of the lease of a term.
    ///
    /// - Returns: the row, if the owner still has the lease.
    func renew(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem) -> LeaseRenewal?

    /// Takes the lease if its row still equals `seen`, with a term above those of the row and of the tail. Ends the
    /// sessions of other nodes that write this shard, and clears the successor.
    ///
    /// If a promotion could lose this commit, a term would be given twice. A commit with a warning, or without the
    /// protection that an append needs, is therefore a problem of kind `unreachable`.
    ///
    /// - Returns: the new term; `nil` if the row has changed.
    func take(_ seen: LeaseRow, for owner: NodeIncarnation) throws(EngineProblem) -> Int64?

    /// Gives the lease back if the owner still has it. Keeps the successor.
    func release(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem)

    /// Writes the position of a node's copy.
    ///
    /// - Parameters:
    ///   - number: the last batch that the copy has.
    ///   - version: the highest batch version that the node reads.
    ///   - program: the version of its program, for people.
    /// - Returns: the engine's wall clock.
    @discardableResult
    func note(
        _ owner: NodeIncarnation, applied number: UInt64, reads version: Int, program: String
    ) throws(EngineProblem) -> WallTime

    /// Returns the state of the shard's snapshots.
    func snapshots() throws(EngineProblem) -> SnapshotState

    /// Begins a snapshot. It is valid only once it is finished, and only one is written at a time.
    ///
    /// - Parameters:
    ///   - id: the random id of the snapshot.
    ///   - node: the node's name.
    ///   - seen: an unfinished snapshot, which is given up if its writer has not moved it since.
    /// - Returns: whether the new snapshot was begun.
    func beginSnapshot(_ id: UUID128, by node: String, replacing seen: SnapshotClaim?) throws(EngineProblem) -> Bool

    /// Reports that the writer of a snapshot is alive.
    ///
    /// - Returns: whether the snapshot is still being written, not given up.
    func moveSnapshot(_ id: UUID128) throws(EngineProblem) -> Bool

    /// Writes a part of a snapshot; a repetition after a missing answer has the same bytes.
    ///
    /// - Returns: whether the snapshot is still being written, not given up.
    func putPart(_ part: Int, of id: UUID128, _ bytes: [UInt8]) throws(EngineProblem) -> Bool

    /// Returns a part of a finished or unfinished snapshot; `nil` if it is missing.
    func part(_ part: Int, of id: UUID128) throws(EngineProblem) -> [UInt8]?

    /// Finishes a snapshot after all its parts were read back.
    ///
    /// - Returns: whether the snapshot is now valid.
    func finishSnapshot(_ snapshot: Snapshot) throws(EngineProblem) -> Bool

    /// Removes parts of given-up snapshots, and of snapshots beyond the newest `Snapshot.kept`.
    ///
    /// - Returns: whether there are more.
    func removeSnapshots(partsAtMost count: Int) throws(EngineProblem) -> Bool

    /// Deletes batches, the oldest first (rule R8). A batch may go if it is before the batch of the oldest of
    /// `Snapshot.kept` finished snapshots, and if it and all earlier batches are older than ten minutes by the engine's
    /// clock.
    /// - Returns: the number of deleted batches.
    func trim(atMost count: Int) throws(EngineProblem) -> Int
}
