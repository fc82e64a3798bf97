public import PushFleet
public import PushModel

/// What a fleet's database says of itself (`pushctl store status`).
public struct FleetStatus: Sendable {
    /// Drawn when the database was set up.
    public var fleet: UUID128
    /// The version of its tables.
    public var schema: Int64
    /// When it was set up, by the engine's clock.
    public var created: WallTime
    /// The engine.
    public var engine: Engine
    /// The standbys that are connected; what this user may not see is `nil` in them.
    public var standbys: [Standby]
    /// The shards, in order.
    public var shards: [Shard]
    /// What may stop it some day.
    public var health: Health
    /// The bytes of all batches in the engine, indexes included.
    public var batchesSize: Int64

    /// The server and its settings.
    public struct Engine: Sendable {
        /// As it names it: `15.20 (Debian 15.20-0+deb12u1)`.
        public var version: String
        /// Which cluster of databases it is: a copy of its files has the same.
        public var systemIdentifier: Int64?
        /// The address that it was reached at; `nil`: a local socket.
        public var address: String?
        /// The port of that address.
        public var port: Int64?
        /// `synchronous_standby_names`; empty: commits wait for nobody.
        public var standbyNames: String
        /// `synchronous_commit` of a session of ours.
        public var synchronousCommit: String
        /// Whether commits are synced to its disk.
        public var fsync: Bool
        /// Whether a page that a crash tore is repaired.
        public var fullPageWrites: Bool
        /// How far its clock is ahead of this machine's.
        public var clockAhead: Duration
        /// How wrong `clockAhead` is at most: half the time of the question.
        public var clockError: Duration
        /// How old the oldest transaction is of those that this user may see; `nil`: none.
        public var longestTransaction: Duration?
    }

    /// A standby.
    public struct Standby: Hashable, Sendable {
        /// Its `application_name`.
        public var name: String
        /// `streaming` when all is well.
        public var state: String?
        /// `sync`, `quorum`, `potential` or `async`.
        public var sync: String?
    }

    /// A shard.
    public struct Shard: Sendable {
        /// Its number.
        public var number: Int64
        /// The id of the ledger that every copy has.
        public var state: UUID128
        /// Who leads.
        public var lease: LeaseRow
        /// Where the leader's producers connect; `nil`: not told.
        public var address: String?
        /// The last batch.
        public var tail: ChainTail
        /// The version of what it holds.
        public var version: Int
        /// How long ago it was inserted.
        public var age: Duration
        /// The nodes' copies, by name.
        public var copies: [CopyNote]
        /// The first batch that the chain still has.
        public var first: UInt64 = 0
        /// The snapshots that count, the newest first.
        public var snapshots: [StoredSnapshot] = []
    }
}
