/// The result of an append, as the engine reported it.
public enum AppendResult: Hashable, Sendable {
    /// The engine reported the end of the commit without a warning, while the batch had the required protection.
    case committed
    /// The commit ended, but the engine may still lose it, for the reason in the text.
    case uncertain(String)
    /// Nothing was inserted: another batch has the number, or the previous batch is missing.
    case conflict
    /// The engine gave no final answer: the batch may exist, or may still appear.
    case unknown(EngineProblem)
}

/// The reason why the database gave no answer.
public struct EngineProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds that callers handle differently.
    public enum Kind: Hashable, Sendable {
        /// No connection, a lost one, a timeout, or a conflict: the same call may succeed at once.
        case unreachable
        /// The engine itself fails: its disk is full, or its files are damaged.
        case failing
        /// The engine answers and has no synchronous standby: it may lose a commit.
        case unprotected
        /// The database lacks a right, a table, a column or a row that the shard needs: it was never set up, or somebody
        /// works on it.
        case lacking
        /// The database is none for this node, and no waiting changes that: it belongs to another fleet, or another
        /// machine has the node's name.
        case wrongDatabase
        /// A newer version of the program wrote the database.
        case newer
    }

    /// The kind.
    public var kind: Kind
    /// The engine's own code, for PostgreSQL the SQLSTATE; empty if it gave none.
    public var code: String
    /// The message of the engine or the library.
    public var message: String

    /// Joins the parts.
    public init(_ kind: Kind, code: String = "", message: String) {
        (self.kind, self.code, self.message) = (kind, code, message)
    }

    public var description: String { code.isEmpty ? message : "\(message) (SQLSTATE \(code))" }
}

/// The row of a shard with its lease.
public struct LeaseRow: Hashable, Sendable {
    /// The leading node and the id of its process; `nil` if no node leads.
    public var owner: NodeIncarnation?
    /// The term; each node that takes the lease writes a higher one.
    public var epoch: Int64
    /// A counter that each renewal raises.
    public var renewals: Int64
    /// The node that leads next, by a person's order; `nil`: any. The node that takes the lease clears it.
    public var successor: String?
    /// The nodes that may not lead, by a person's order.
    public var drained: Set<String>
    /// The lowest version of batches among those that the copies read, by notes of the last day; `nil` if there are
    /// none.
    public var leastReader: Int?

    /// Joins the parts.
    public init(
        owner: NodeIncarnation?, epoch: Int64, renewals: Int64, successor: String? = nil, drained: Set<String> = [],
        leastReader: Int? = nil
    ) {
        (self.owner, self.epoch, self.renewals) = (owner, epoch, renewals)
        (self.successor, self.drained, self.leastReader) = (successor, drained, leastReader)
    }

    /// The lease alone, which taking compares and renewing changes. Orders of people do not renew a lease.
    public var withoutOrders: LeaseRow { LeaseRow(owner: owner, epoch: epoch, renewals: renewals) }

    /// Whether a leading node has to hand over.
    public func asksToHandOver(_ node: String) -> Bool {
        drained.contains(node) || successor.map { $0 != node } ?? false
    }

    /// Whether the lease was given back, and this node may take it.
    func isReleased(to node: String) -> Bool { owner == nil && (successor ?? node) == node }
}

/// A person's order to the nodes as an administrative act, until the leader's ledger has its row.
public struct OrderedAct: Hashable, Sendable {
    /// Its number in the engine.
    public var number: Int64
    /// Its record.
    public var record: AuditRecord

    /// Joins the two.
    public init(number: Int64, _ record: AuditRecord) { (self.number, self.record) = (number, record) }
}

/// A renewal of a lease.
public struct LeaseRenewal: Hashable, Sendable {
    /// The row after the renewal.
    public var row: LeaseRow
    /// The engine's wall clock, for times that people read; no lease and no deadline depends on it.
    public var wall: WallTime

    /// Joins the two.
    public init(_ row: LeaseRow, wall: WallTime) { (self.row, self.wall) = (row, wall) }
}

/// One process of a node. A restart has another id, so it never mistakes the earlier process's lease for its own.
public struct NodeIncarnation: Hashable, Sendable {
    /// The node's name, unique within the fleet.
    public var node: String
    /// The random id of the process.
    public var id: UUID128

    /// Joins the two.
    public init(node: String, id: UUID128) { (self.node, self.id) = (node, id) }
}

/// The identity of a database, independent of its address: a promoted standby keeps it, a clone has another.
public struct DatabasePlace: Hashable, Sendable {
    /// The cluster of databases; `nil` if the engine does not tell.
    public var cluster: Int64?
    /// The database within it; `nil` if the engine does not tell.
    public var database: Int64?

    /// Joins the two.
    public init(cluster: Int64? = nil, database: Int64? = nil) { (self.cluster, self.database) = (cluster, database) }

    /// Whether another place may be the same, as far as both are known.
    public func admits(_ other: DatabasePlace) -> Bool {
        (cluster == nil || other.cluster == nil || cluster == other.cluster)
            && (database == nil || other.database == nil || database == other.database)
    }
}

/// The identity of the chain in a database.
public struct ShardIdentity: Hashable, Sendable {
    /// A random id from the setup of the database, by which a node notices another database than its copy's.
    public var fleet: UUID128
    /// The id of the ledger that every copy of the shard has; event ids contain it.
    public var state: UUID128
    /// Which database it is: a clone has another place, a promoted standby the same.
    public var place: DatabasePlace

    /// Joins the parts.
    public init(fleet: UUID128, state: UUID128, place: DatabasePlace = DatabasePlace()) {
        (self.fleet, self.state, self.place) = (fleet, state, place)
    }
}

/// The engine of a shard, which several machines share: the chain, and the row of the lease. The protocol has no SQL,
/// no clock and no lock.
///
/// An instance is one session, used by one thread at a time. Each call blocks, and ends within the time limit of the
/// session. After a failure the next call connects again, and first ends the sessions that this process lost.
public protocol ShardEngine: AnyObject, Sendable {
    /// Reads the identity of the database's chain.
    func identity() throws(EngineProblem) -> ShardIdentity

    /// Inserts a batch behind the one with the number and the id that it names, if that is the last one and no term
    /// above the batch's has begun.
    func append(_ batch: ChainBatch) -> AppendResult

    /// Commits a change behind a batch, if that is the last one of the chain: this makes the batch as safe as the
    /// commit.
    func confirm(_ reference: BatchReference) -> AppendResult

    /// Returns why no commit ends: the engine waits for a standby, and none is there; `nil`: commits wait for none, or one
    /// is there.
    func absentStandby() throws(EngineProblem) -> String?

    /// Reads the last batch.
    func tail() throws(EngineProblem) -> ChainTail

    /// Reads batches in order from a number on, inclusive.
    func batches(from number: UInt64, atMost count: Int) throws(EngineProblem) -> [StoredBatch]

    /// Reads the row of the lease.
    func lease() throws(EngineProblem) -> LeaseRow

    /// Increments the renewals of the lease of a term.
    ///
    /// - Returns: its row, if the owner still has the lease.
    func renew(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem) -> LeaseRenewal?

    /// Takes the lease if its row still equals the one that was seen, with a term above those of the row and of the
    /// tail, clears the successor, and ends the sessions of other nodes that write this shard.
    ///
    /// A commit that a promotion may lose takes no lease, since a term would be assigned twice: a commit with a
    /// warning, or without the protection that an append needs, is a problem of kind `unreachable`.
    ///
    /// - Returns: the new term; `nil` if the row has changed.
    func take(_ seen: LeaseRow, for owner: NodeIncarnation) throws(EngineProblem) -> Int64?

    /// Removes the acts up to a number, whose rows the ledger has, and reads the oldest of the later ones, in order.
    func acts(after number: Int64) throws(EngineProblem) -> [OrderedAct]

    /// Gives the lease back, if the owner still has it. Keeps the successor.
    func release(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem)

    /// Notes the progress of a node's copy.
    ///
    /// - Parameters:
    ///   - number: the last batch of the copy.
    ///   - version: the highest version of batches that it reads.
    ///   - program: the version of its program, for people.
    /// - Returns: the engine's wall clock.
    @discardableResult
    func note(
        _ owner: NodeIncarnation, applied number: UInt64, reads version: Int, program: String
    ) throws(EngineProblem) -> WallTime

    /// Reads the state of the shard's snapshots.
    func snapshots() throws(EngineProblem) -> SnapshotState

    /// Begins a snapshot. It is valid only once it is finished; the engine allows one unfinished snapshot at a time.
    ///
    /// - Parameters:
    ///   - id: the random id of the snapshot.
    ///   - node: the node's name.
    ///   - seen: the unfinished snapshot that this one replaces, unless it has advanced since.
    /// - Returns: whether the snapshot was begun.
    func beginSnapshot(_ id: UUID128, by node: String, replacing seen: SnapshotClaim?) throws(EngineProblem) -> Bool

    /// Notes that the writer of a snapshot is alive.
    ///
    /// - Returns: whether the snapshot is still the unfinished one.
    func moveSnapshot(_ id: UUID128) throws(EngineProblem) -> Bool

    /// Writes a part of a snapshot. After a lost answer the caller repeats the call with the same bytes.
    ///
    /// - Returns: whether the snapshot is still the unfinished one.
    func putPart(_ part: Int, of id: UUID128, _ bytes: [UInt8]) throws(EngineProblem) -> Bool

    /// Reads a part of a finished or unfinished snapshot; `nil` if it is missing.
    func part(_ part: Int, of id: UUID128) throws(EngineProblem) -> [UInt8]?

    /// Makes a snapshot valid after its parts were read back.
    ///
    /// - Returns: whether the snapshot is valid now.
    func finishSnapshot(_ snapshot: Snapshot) throws(EngineProblem) -> Bool

    /// Removes parts of abandoned snapshots, and of those beyond the newest `Snapshot.kept`.
    ///
    /// - Returns: whether there are more to remove.
    func removeSnapshots(partsAtMost count: Int) throws(EngineProblem) -> Bool

    /// Deletes batches in order, the oldest first (rule R8): those before the batch of the oldest of `Snapshot.kept`
    /// valid snapshots, if these and all before them are older than ten minutes by the engine's clock.
    ///
    /// - Returns: the number of deleted batches.
    func trim(atMost count: Int) throws(EngineProblem) -> Int
}
