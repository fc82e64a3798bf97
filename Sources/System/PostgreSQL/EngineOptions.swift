public import PushFleet
public import PushModel
import Synchronization

/// What has to have a batch before it is acknowledged (`[Store] Durability=`).
public enum EngineDurability: String, Sendable {
    /// A second server of PostgreSQL's: nothing is acknowledged while no synchronous standby is named.
    case standby
    /// The engine alone: the administrator says that the service survives a machine by itself.
    case engine
}

/// The chain that the first session of a process found: a later one that finds another is refused, as the name of the
/// engine leads to another database by now. And whether the process has had its node's name.
public final class KnownChain: Sendable {
    private let state = Mutex<(identity: ShardIdentity?, hasName: Bool)>((nil, false))

    /// None yet.
    public init() {}

    var identity: ShardIdentity? { state.withLock(\.identity) }

    func found(_ identity: ShardIdentity) { state.withLock { $0.identity = $0.identity ?? identity } }

    /// Whether the process has had its name: one that lost it since does not take it back.
    var hasHadName: Bool { state.withLock(\.hasName) }

    func gotName() { state.withLock { $0.hasName = true } }
}

/// The process that a node's name is to be of.
public struct NameClaim: Sendable {
    /// The id that the process drew.
    public var incarnation: UUID128
    /// Where it runs.
    public var place: NodePlace
    /// How long another process of the name may give no sign before the name is taken from it.
    public var patience: Duration

    /// Joins the parts.
    public init(incarnation: UUID128, place: NodePlace, patience: Duration) {
        (self.incarnation, self.place, self.patience) = (incarnation, place, patience)
    }
}

/// What a session is for. Sessions of different purposes do not wait for each other.
public enum EngineRole: String, Sendable {
    /// Appends and confirms.
    case log
    /// Takes and renews the lease.
    case lease
    /// Reads the chain, and notes how far the copy is.
    case read
    /// Writes snapshots, and deletes what is behind them.
    case snapshot
}

/// What a session with the engine is made with.
public struct EngineOptions: Sendable {
    /// Where the engine is.
    public var address: ConnectionString
    /// The shard.
    public var shard: Int32
    /// What has to have a batch before it is acknowledged.
    public var durability: EngineDurability
    /// The name of this node, unique within the fleet.
    public var node: String
    /// The process that has the name to itself; `nil`: nobody looks at that.
    public var claim: NameClaim?
    /// What the session is for.
    public var role: EngineRole
    /// How long a call takes at most, the connecting included.
    public var time: Duration
    /// The chain that all sessions of this process have to do with.
    public var chain: KnownChain
    /// Where this node's producers connect, for people; `nil`: not told.
    public var nodeAddress: String?

    /// Joins the parts.
    public init(
        address: ConnectionString, shard: Int32 = 0, durability: EngineDurability, node: String, role: EngineRole,
        time: Duration, chain: KnownChain = KnownChain(), nodeAddress: String? = nil, claim: NameClaim? = nil
    ) {
        (self.chain, self.claim) = (chain, claim)
        (self.address, self.shard, self.durability) = (address, shard, durability)
        (self.node, self.role, self.time, self.nodeAddress) = (node, role, time, nodeAddress)
    }

    /// The most bytes of a node's name: a session's name has 63 (NAMEDATALEN), and a longer one is cut.
    public static let nodeNameLimit = 63 - "pushrouterd-snapshot/4095/".utf8.count

    /// The name that other sessions know this one by.
    var applicationName: String { Self.namePrefix(role, shard) + node }

    /// What the names of all nodes' sessions of a role begin with.
    static func namePrefix(_ role: EngineRole, _ shard: Int32) -> String { "pushrouterd-\(role.rawValue)/\(shard)/" }
}
