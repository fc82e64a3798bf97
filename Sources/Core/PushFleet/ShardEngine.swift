public import PushModel

/// The end of an append, as the engine told it.
public enum AppendResult: Hashable, Sendable {
    /// The engine told the end of the commit, without a warning, while the batch was protected as it has to be.
    case there
    /// The commit ended, and the engine may still lose it: the text says why.
    case doubtful(String)
    /// Nothing was inserted: another batch has the number, or the batch before it is not there.
    case other
    /// The engine did not answer to the end: the batch may be there, or may yet come.
    case unknown(EngineProblem)
}

/// Why the engine gave no answer.
public struct EngineProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds that a reader treats differently.
    public enum Kind: Hashable, Sendable {
        /// No connection, a lost one, a time that ran out, a conflict: the same call may succeed at once.
        case unreachable
        /// The engine itself is ill: its disk is full, its files are damaged.
        case ill
        /// The database is not set up for this shard, or is another fleet's.
        case notOurs
        /// The database was written by a newer version of the program.
        case newer
    }

    /// The kind.
    public var kind: Kind
    /// The engine's own code; empty where it gave none. For PostgreSQL: SQLSTATE.
    public var code: String
    /// The engine's words, or the library's.
    public var message: String

    /// Joins the parts.
    public init(_ kind: Kind, code: String = "", message: String) {
        (self.kind, self.code, self.message) = (kind, code, message)
    }

    public var description: String { code.isEmpty ? message : "\(message) (SQLSTATE \(code))" }
}

/// The row of a shard that says who leads.
public struct LeaseRow: Hashable, Sendable {
    /// The name of the node and the id of its process; `nil`: nobody leads.
    public var owner: NodeIncarnation?
    /// The term: each taker writes a higher one.
    public var epoch: Int64
    /// A counter that each renewal raises.
    public var renewals: Int64
    /// The node that is to lead next, by a person's order; `nil`: any. Who takes the lease clears it.
    public var successor: String?
    /// The nodes that are not to lead, by a person's order.
    public var drained: Set<String>
    /// The lowest of the versions that the copies read which were noted within a day; `nil`: none was.
    public var leastReader: Int?

    /// Joins the parts.
    public init(
        owner: NodeIncarnation?, epoch: Int64, renewals: Int64, successor: String? = nil, drained: Set<String> = [],
        leastReader: Int? = nil
    ) {
        (self.owner, self.epoch, self.renewals) = (owner, epoch, renewals)
        (self.successor, self.drained, self.leastReader) = (successor, drained, leastReader)
    }

    /// The lease alone: what is compared when it is taken, and what moves when it is renewed. Orders of people move no
    /// lease.
    public var withoutOrders: LeaseRow { LeaseRow(owner: owner, epoch: epoch, renewals: renewals) }

    /// Whether a node that leads is to hand over.
    public func asksToHandOver(_ node: String) -> Bool {
        drained.contains(node) || successor.map { $0 != node } ?? false
    }

    /// Whether the lease was given back, and this node is the one to take it.
    public func isLeft(to node: String) -> Bool { owner == nil && (successor ?? node) == node }
}

/// A lease that was renewed.
public struct LeaseRenewal: Hashable, Sendable {
    /// The row as it is now.
    public var row: LeaseRow
    /// The engine's wall clock, for times that people read: no lease and no deadline goes by it.
    public var wall: WallTime

    /// Joins the two.
    public init(_ row: LeaseRow, wall: WallTime) { (self.row, self.wall) = (row, wall) }
}

/// One process of a node: a restart has another id, so it never takes the lease of the process before for its own.
public struct NodeIncarnation: Hashable, Sendable {
    /// The node's name, unique within the fleet.
    public var node: String
    /// The id that the process drew.
    public var id: UUID128

    /// Joins the two.
    public init(node: String, id: UUID128) { (self.node, self.id) = (node, id) }
}

/// Which database an engine has, whatever its address: a promoted standby has the same, a clone another.
public struct DatabasePlace: Hashable, Sendable {
    /// The cluster of databases; `nil`: the engine does not tell.
    public var cluster: Int64?
    /// The database within it; `nil`: the engine does not tell.
    public var database: Int64?

    /// Joins the two.
    public init(cluster: Int64? = nil, database: Int64? = nil) { (self.cluster, self.database) = (cluster, database) }

    /// Whether another may be the same, as far as both are known.
    public func admits(_ other: DatabasePlace) -> Bool {
        (cluster == nil || other.cluster == nil || cluster == other.cluster)
            && (database == nil || other.database == nil || database == other.database)
    }
}

/// Which chain a database has.
public struct ShardIdentity: Hashable, Sendable {
    /// Drawn when the database was set up: a copy's owner sees by it that the database is another one.
    public var fleet: UUID128
    /// The id of the ledger that every copy of the shard has: event ids begin with it.
    public var state: UUID128
    /// Which database it is.
    public var place: DatabasePlace

    /// Joins the parts.
    public init(fleet: UUID128, state: UUID128, place: DatabasePlace = DatabasePlace()) {
        (self.fleet, self.state, self.place) = (fleet, state, place)
    }
}

/// The engine of a shard, which several machines share: the chain, and the row that says who leads. It has no
/// SQL, no clock and no lock.
///
/// A value is one session, used by one thread at a time. Each call blocks, and each ends within the time that the
/// session was made with. After a failure the next call connects again, and first ends the sessions that this process
/// lost.
public protocol ShardEngine: AnyObject, Sendable {
    /// Which chain the database has.
    func identity() throws(EngineProblem) -> ShardIdentity

    /// Inserts a batch behind the one whose number and id it names, if that is the last one and no term above the
    /// batch's has begun.
    func append(_ batch: ChainBatch) -> AppendResult

    /// Commits something behind a batch, if that is the last one of the chain: with it the batch is as safe.
    func confirm(_ reference: BatchReference) -> AppendResult

    /// The last batch.
    func tail() throws(EngineProblem) -> ChainTail

    /// Batches in order from a number on, that one included.
    func batches(from number: UInt64, atMost count: Int) throws(EngineProblem) -> [StoredBatch]

    /// The row that says who leads.
    func lease() throws(EngineProblem) -> LeaseRow

    /// Raises the renewals of the lease of a term.
    ///
    /// - Returns: its row, if the owner still has it.
    func renew(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem) -> LeaseRenewal?

    /// Takes the lease if its row is still the one that was seen, with a term above that of the row and of the tail,
    /// and ends the sessions of other nodes that write this shard. No successor is named any more.
    ///
    /// A taking that a promotion may lose is none, or a term would be given twice: a commit with a warning, or without
    /// the protection that an append needs, is a problem of kind `unreachable`.
    ///
    /// - Returns: the new term; `nil`: the row has changed.
    func take(_ seen: LeaseRow, for owner: NodeIncarnation) throws(EngineProblem) -> Int64?

    /// Gives the lease back, if the owner still has it. A successor stays named.
    func release(_ owner: NodeIncarnation, epoch: Int64) throws(EngineProblem)

    /// Notes how far a node's copy is.
    ///
    /// - Parameters:
    ///   - number: the last batch that it has.
    ///   - version: the highest version of batches that it reads.
    ///   - program: the version of its program, for people.
    /// - Returns: the engine's wall clock.
    @discardableResult
    func note(
        _ owner: NodeIncarnation, applied number: UInt64, reads version: Int, program: String
    ) throws(EngineProblem) -> WallTime

    /// How the shard is with its snapshots.
    func snapshots() throws(EngineProblem) -> SnapshotState

    /// Begins a snapshot. It does not count before it is finished, and one at a time is being written.
    ///
    /// - Parameters:
    ///   - id: the id that was drawn for it.
    ///   - node: the node's name.
    ///   - seen: what was being written; it is given up, if it did not move since.
    /// - Returns: whether the snapshot was begun.
    func beginSnapshot(_ id: UUID128, by node: String, replacing seen: SnapshotClaim?) throws(EngineProblem) -> Bool

    /// Says that the writer of a snapshot is alive.
    ///
    /// - Returns: whether the snapshot is still being written.
    func moveSnapshot(_ id: UUID128) throws(EngineProblem) -> Bool

    /// Puts a part of a snapshot, once more with the same bytes where the answer did not come.
    ///
    /// - Returns: whether the snapshot is still being written.
    func putPart(_ part: Int, of id: UUID128, _ bytes: [UInt8]) throws(EngineProblem) -> Bool

    /// A part of a snapshot that counts or is being written; `nil`: it is not there.
    func part(_ part: Int, of id: UUID128) throws(EngineProblem) -> [UInt8]?

    /// Has a snapshot count, whose parts were read back.
    ///
    /// - Returns: whether it does.
    func finishSnapshot(_ snapshot: Snapshot) throws(EngineProblem) -> Bool

    /// Removes parts of snapshots that were given up, and of those beyond the newest `Snapshot.kept`.
    ///
    /// - Returns: whether there are more.
    func removeSnapshots(partsAtMost count: Int) throws(EngineProblem) -> Bool

    /// Deletes batches in order, the oldest first (rule R8): those before the batch of the oldest of `Snapshot.kept`
    /// snapshots that count, if all before them and they are older than ten minutes by the engine's clock.
    ///
    /// - Returns: how many were deleted.
    func trim(atMost count: Int) throws(EngineProblem) -> Int
}
