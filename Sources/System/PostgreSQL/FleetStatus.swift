public import PushFleet
public import PushModel

/// The status of a fleet's database (`pushctl store status`).
public struct FleetStatus: Sendable {
    /// The id drawn when the database was set up.
    public var fleet: UUID128
    /// The version of its tables.
    public var schema: Int64
    /// The time of the set-up, by the engine's clock.
    public var created: WallTime
    /// The engine.
    public var engine: Engine
    /// The connected standbys; a field that this user may not see is `nil`.
    public var standbys: [Standby]
    /// The shards, in order.
    public var shards: [Shard]
    /// Facts that warn of a database that may stop later.
    public var health: Health
    /// The bytes of all batches in the engine, with indexes.
    public var batchesSize: Int64

    /// The longest age of the last sign of a node that runs: each gives one a second.
    public static let silenceLimit: Duration = .seconds(10)

    /// The server and its settings.
    public struct Engine: Sendable {
        /// The version as the server names it: `15.20 (Debian 15.20-0+deb12u1)`.
        public var version: String
        /// The system identifier of the cluster; a copy of its files has the same one.
        public var systemIdentifier: Int64?
        /// The server's address of this connection; `nil` for a local socket.
        public var address: String?
        /// The port of that address.
        public var port: Int64?
        /// `synchronous_standby_names`; if it is empty, commits wait for no standby.
        public var standbyNames: String
        /// `synchronous_commit` of this program's sessions.
        public var synchronousCommit: String
        /// Whether commits are synced to the server's disk (`fsync`).
        public var fsync: Bool
        /// Whether the server can repair a page that a crash tore (`full_page_writes`).
        public var fullPageWrites: Bool
        /// The difference of its clock to this machine's; positive if it is ahead.
        public var clockAhead: Duration
        /// The largest error of `clockAhead`: half the time of the question.
        public var clockError: Duration
        /// The age of the oldest transaction that this user may see; `nil` if there is none.
        public var longestTransaction: Duration?
    }

    /// A standby.
    public struct Standby: Hashable, Sendable {
        /// Its `application_name`.
        public var name: String
        /// `streaming` in normal operation.
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
        /// The lease, with the leader.
        public var lease: LeaseRow
        /// The time since the last sign of the leader; `nil` if no node leads.
        public var silence: Duration?
        /// The same for a leader that counts as stopped; otherwise `nil`.
        public var longSilence: Duration? { silence.flatMap { $0 > FleetStatus.silenceLimit ? $0 : nil } }
        /// The address for the leader's producers; `nil` if it is not configured.
        public var address: String?
        /// The last batch.
        public var tail: ChainTail
        /// The version of the tail batch.
        public var version: Int
        /// The age of the tail batch.
        public var age: Duration
        /// The nodes' copies, by name.
        public var copies: [CopyNote]
        /// The first batch that is still in the chain.
        public var first: UInt64 = 0
        /// The complete snapshots, the newest first.
        public var snapshots: [StoredSnapshot] = []
    }
}
