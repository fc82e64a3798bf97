import PushFleet
import Synchronization

/// What has to have a batch before it is acknowledged (`[Store] Durability=`).
public enum EngineDurability: String, Sendable {
    /// A second server of PostgreSQL's: nothing is acknowledged while no synchronous standby is named.
    case standby
    /// The engine alone: the administrator says that the service survives a machine by itself.
    case engine
}

/// The chain that the first session of a process found: a later one that finds another is refused, as the name of the
/// engine leads to another database by now.
public final class KnownChain: Sendable {
    private let state = Mutex<ShardIdentity?>(nil)

    /// None yet.
    public init() {}

    var identity: ShardIdentity? { state.withLock(\.self) }

    func found(_ identity: ShardIdentity) { state.withLock { $0 = $0 ?? identity } }
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
        time: Duration, chain: KnownChain = KnownChain(), nodeAddress: String? = nil
    ) {
        self.chain = chain
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
