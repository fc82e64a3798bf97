import LinuxSystem
public import PushModel
import Synchronization

/// The servers that must have a batch before it is acknowledged (`[Store] Durability=`).
public enum EngineDurability: String, Sendable {
    /// The engine and a synchronous standby: nothing is acknowledged while none is named.
    case standby
    /// The engine alone: the administrator asserts that the service survives the loss of a machine.
    case engine
}

/// The chain that the first session of a process found. A later session that finds another chain is refused: the name
/// of the engine leads to another database by now. Also knows whether the process has had the name of its node.
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

/// The process that claims the name of a node.
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
    /// The process that claims the name for itself; `nil`: the session does not check the name.
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

extension PostgreSQLEngine {
    /// Makes sure that this process has the name of its node. The connection must not have ended any session before.
    ///
    /// - Parameter watch: the other process with the name, as earlier attempts saw it.
    /// - Returns: whether this process has the name; `false`: it had the name, and another process has taken it. Then
    ///   the lease, or the next note, ends this process.
    /// - Throws: `.unreachable` while it is unknown whether the other process lives; `.wrongDatabase` if that process
    ///   lives.
    static func claimName(
        _ connection: inout Connection, _ options: EngineOptions, _ watch: inout NameWatch?, until deadline: Deadline
    ) throws(EngineProblem) -> Bool {
        guard let claim = options.claim else { return true }
        for (has, creation) in [
            (Statements.hasNodes, FleetSchema.createNodes), (Statements.hasActs, FleetSchema.createActs),
        ] where try connection.run(has(), until: deadline).first?.bool(0) != true {
            _ = try connection.run(creation(), until: deadline)
        }
        var gone: NameHolder?
        repeat {
            if try take(&connection, options, claim, from: gone, until: deadline) {
                options.chain.noteHasName()
                watch = nil
                return true
            }
            // A process that lost its name because it gave no signs does not claim the name again, and ends.
            guard !options.chain.hasHadName else { return false }
            let rows = try connection.run(
                Statements.nameHolder(.number(options.shard), .text(options.node)), until: deadline)
            guard let row = rows.first else { continue }
            let holder = try holder(row)
            var seen = watch ?? NameWatch(patience: claim.patience)
            let finding = seen.observe(holder, at: Instant(nanoseconds: SystemClock.bootNanoseconds))
            watch = seen
            switch finding {
            // Tries to take the name: of two processes that find the holder gone, one gets it.
            case .gone where gone != holder: gone = holder
            case .gone, .unknown:
                throw EngineProblem(
                    .unreachable,
                    message: "\(holder.place.host) used the name \(options.node) a moment ago, and may still run")
            case .lives: throw taken(holder, options, claim)
            }
        } while true
    }

    private static func take(
        _ connection: inout Connection, _ options: EngineOptions, _ claim: NameClaim, from gone: NameHolder?,
        until deadline: Deadline
    ) throws(EngineProblem) -> Bool {
        let call = Statements.claimName(
            .number(options.shard), .text(options.node), .uuid(claim.incarnation), .text(claim.place.host),
            .uuid(claim.place.machine), .uuid(claim.place.boot), .text(claim.place.directory),
            .optional(gone?.incarnation), .optional(gone?.signs))
        let (answers, problem) = connection.run([[Statements.withoutWaiting(), call]], until: deadline)
        if let problem { throw problem }
        return answers[0].rows[1].count == 1
    }

    private static func holder(_ row: Row) throws(EngineProblem) -> NameHolder {
        NameHolder(
            place: NodePlace(
                host: try row.text(1), machine: try row.uuid(2), boot: try row.uuid(3), directory: try row.text(4)),
            incarnation: try row.uuid(0), signs: try row.integer(5))
    }

    /// Why a process ends that has lost its name.
    ///
    /// - Parameter rows: of the process that has it.
    func lostName(_ rows: [Row]) throws(EngineProblem) -> EngineProblem {
        guard let claim = options.claim, let row = rows.first else {
            return EngineProblem(.unreachable, message: "the name \(options.node) is gone from the database")
        }
        return Self.taken(try Self.holder(row), options, claim)
    }

    private static func taken(_ holder: NameHolder, _ options: EngineOptions, _ claim: NameClaim) -> EngineProblem {
        func text(_ place: NodePlace) -> String { "\(place.host) (boot \(place.boot), \(place.directory))" }
        return EngineProblem(
            .wrongDatabase,
            message: """
                two machines have the name \(options.node): \(text(holder.place)), which runs, and this one, \
                \(text(claim.place)); give each machine a [Store] Node= of its own
                """)
    }
}
