public import PushModel
import Synchronization

/// The servers that must have a batch before it is acknowledged (`[Store] Durability=`).
public enum EngineDurability: String, Sendable {
    /// The engine and a synchronous standby: nothing is acknowledged while none is named.
    case standby
    /// The engine alone: the administrator asserts that the service survives the loss of a machine.
    case engine
}

/// The chain that the first session of a process found: a later one that finds another is refused, as the name of the
/// engine leads to another database by now. And whether the process has had its node's name.
public final class KnownChain: Sendable {
    private let state = Mutex<(identity: ShardIdentity?, hasName: Bool)>((nil, false))

    /// No chain yet.
    public init() {}

    var identity: ShardIdentity? { state.withLock(\.identity) }

    func found(_ identity: ShardIdentity) { state.withLock { $0.identity = $0.identity ?? identity } }

    /// Whether the process has had its name: one that lost it since does not take it back.
    var hasHadName: Bool { state.withLock(\.hasName) }

    func noteHasName() { state.withLock { $0.hasName = true } }
}

/// The process that a node's name is to be of.
public struct NameClaim: Sendable {
    /// The id that the process drew.
    public var incarnation: UUID128
    /// The place of the process.
    public var place: NodePlace
    /// How long another process of the name may give no sign before the name is taken from it.
    public var patience: Duration

    /// Joins the parts.
    public init(incarnation: UUID128, place: NodePlace, patience: Duration) {
        (self.incarnation, self.place, self.patience) = (incarnation, place, patience)
    }
}

/// The purpose of a session. Sessions of different purposes do not wait for each other.
public enum EngineRole: String, Sendable {
    /// Appends and confirms.
    case log
    /// Takes and renews the lease.
    case lease
    /// Reads the chain, and stores the progress of the node's copy.
    case read
    /// Writes snapshots, and deletes the batches behind them.
    case snapshot
}

/// The options of a session with the engine.
public struct EngineOptions: Sendable {
    /// The engine's address.
    public var address: ConnectionString
    /// The shard.
    public var shard: Int32
    /// The servers that must have a batch before it is acknowledged.
    public var durability: EngineDurability
    /// The name of this node, unique within the fleet.
    public var node: String
    /// The process that has the name to itself; `nil`: nobody looks at that.
    public var claim: NameClaim?
    /// The role of the session.
    public var role: EngineRole
    /// The longest time of a call, including the connection.
    public var time: Duration
    /// The chain that all sessions of this process share.
    public var chain: KnownChain
    /// The address for this node's producers, shown to people; `nil` if it is not configured.
    var nodeAddress: String?

    /// Joins the parts.
    public init(
        address: ConnectionString, shard: Int32 = 0, durability: EngineDurability, node: String, role: EngineRole,
        time: Duration, chain: KnownChain = KnownChain(), nodeAddress: String? = nil, claim: NameClaim? = nil
    ) {
        (self.chain, self.claim) = (chain, claim)
        (self.address, self.shard, self.durability) = (address, shard, durability)
        (self.node, self.role, self.time, self.nodeAddress) = (node, role, time, nodeAddress)
    }

    /// The longest node name, in bytes: an `application_name` has 63 (NAMEDATALEN), and the server cuts a longer one.
    static let nodeNameLimit = 63 - "pushrouterd-snapshot/4095/".utf8.count

    /// The `application_name` of the session.
    var applicationName: String { Self.namePrefix(role, shard) + node }

    /// Returns the prefix of the `application_name` of all nodes' sessions with a role.
    static func namePrefix(_ role: EngineRole, _ shard: Int32) -> String { "pushrouterd-\(role.rawValue)/\(shard)/" }
}
