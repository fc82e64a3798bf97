public import PushCustomData
public import PushModel
public import PushRouting
import SettingsSyntax

/// The validated configuration: every value is in its range, every name it refers to exists.
public struct Settings: Sendable {
    /// What the router decides by: `[Dispatch]`, `[Deadline]`, `[Braze]`, `[Tracker]`, what of `[UsersTrack]` is not about
    /// sending, the handlers, the routes and the tracks.
    public var routing: RoutingTable
    /// `[Daemon]`.
    public var daemon: DaemonSettings
    /// `[Store]`.
    public var store: StoreSettings
    /// `[Journal]`.
    public var journal: JournalSettings
    /// `[UsersTrack]`: how the forwarder sends.
    public var usersTrack: ForwardingSettings
    /// `[Tracker] CampaignIdRule=`: how reports group campaigns.
    public var campaignIDRule = CampaignIDRule.raw

    /// `[Deadline] Objective=`: the share of the due that must keep the deadline; `nil`: reports have no objective.
    public var objective: Percent?

    /// The file from which the forwarder reads the API key; `nil`: it sends nothing, or has a credential.
    public var keyFileInUse: String? { usersTrack.endpoint == nil ? nil : usersTrack.keyFile }

    /// What holds where no file says otherwise; without handlers and routes, which only files give.
    public init() {
        routing = RoutingTable(routes: [], handlers: [:])
        daemon = DaemonSettings()
        store = StoreSettings()
        journal = JournalSettings()
        usersTrack = ForwardingSettings()
    }

    /// Keeps the values in force of the keys that a reload cannot change.
    ///
    /// - Returns: a sentence for each of them whose value is another one.
    public mutating func keepUntilRestart(of inForce: Settings) -> [String] {
        Schema.main.keep(of: inForce, in: &self).map {
            "\($0.name)= in [\($0.section)] has changed; the value in force stays until pushrouterd is started again"
        }
    }
}

/// `[Daemon]`: the sockets, and what one client may ask of them.
public struct DaemonSettings: Hashable, Sendable {
    /// The longest request, in bytes, without its line feed.
    public var requestLengthMax = 256 << 10
    /// How deep a request may nest.
    public var jsonDepthMax = 32
    /// What the JSON of a request may have. An ordinary one has a value for each dozen bytes; one of nothing but small numbers
    /// would have one for each two, and cost as much.
    public var jsonLimits: JSONLimits { JSONLimits(depth: jsonDepthMax, values: requestLengthMax / 4) }
    /// Connections at once, on each of the sockets.
    public var connectionsMax = 1024
    /// Connections at once of one peer (its uid), on each of the sockets.
    public var connectionsMaxPerPeer = 512
    /// How many bytes of requests that have come and are not worked yet are held, on each of the sockets.
    public var inputSizeMax = 16 << 20
    /// The same of one peer.
    public var inputSizeMaxPerPeer = 8 << 20
    /// How many bytes are held that clients are owed and have not taken, on each of the sockets.
    public var outputSizeMax = 16 << 20
    /// The same of one peer.
    public var outputSizeMaxPerPeer = 8 << 20
    /// How long a line may take from its first byte to its end.
    public var lineTimeout: Duration = .seconds(30)
    /// How long a client may leave what it is owed before its connection is closed.
    public var writeTimeout: Duration = .seconds(30)
    /// How long a connection may be idle; zero: for ever.
    public var idleTimeout: Duration = .zero
    /// `inject.sock`, for producers.
    public var injectSocket = SocketSettings()
    /// `control.sock`, for all that reads or administers.
    public var controlSocket = SocketSettings()
    /// `read.sock`, for what changes nothing.
    public var readSocket = SocketSettings()
    /// The sockets of the programs of bridges, by the names of these, where they are services.
    public var serviceSockets: [String: String] = [:]

    /// The shipped values.
    public init() {}
}

/// Who may connect to a socket.
public struct SocketSettings: Hashable, Sendable {
    /// The permission bits of the socket file.
    public var mode: UInt32 = 0o660
    /// The name or number of the group that owns the socket file; `nil`: the daemon's own.
    public var group: String?

    /// The shipped values.
    public init() {}
}

/// `[Store]`: the ledger, and the log before it.
public struct StoreSettings: Hashable, Sendable {
    /// How long the ledger keeps a request after its acceptance, and with it the request's `id`.
    public var retention: Duration = .seconds(30 * 86_400)
    /// How large the ledger may become, in bytes: beyond it the oldest finished requests go before their retention is over;
    /// `nil`: as large as the disk lets it.
    public var sizeMax: Int?
    /// How long a dead letter stays one, and its request in the ledger.
    public var deadLetterRetention: Duration = .seconds(30 * 86_400)
    /// How many bytes the request lines of dead letters may have together.
    public var deadLetterSizeMax = 64 << 20
    /// How long figures stay of minutes whose requests went.
    public var figuresRetention: Duration = .seconds(400 * 86_400)
    /// How large the log before the ledger may become, in bytes.
    public var logSizeMax = 256 << 20
    /// A commit that takes longer is told of.
    public var slowCommit: Duration = .seconds(1)
    /// The log that several machines share.
    public var shared = SharedLogSettings()

    /// The shipped values.
    public init() {}
}

/// The keys of `[Store]` that make a machine one of several that share a log.
public struct SharedLogSettings: Hashable, Sendable {
    /// The copy that keeps an acknowledged request when the database's machine is lost. The raw values are the configuration's.
    public enum Durability: String, Hashable, Sendable, CaseIterable {
        /// A synchronous standby: the daemon leads only while the database has one.
        case standby
        /// The database service itself, by the administrator's word.
        case engine
    }

    /// The database, as a connection URI; `nil`: the log is this machine's own.
    public var database: String?
    /// The copy that keeps an acknowledged request when the database's machine is lost.
    public var durability = Durability.standby
    /// The name of this machine among those that share the log; `nil`: its host name.
    public var node: String?
    /// How long a leader leads without a word of the database, and how long the others wait before one of them takes over.
    public var lease: Duration = .seconds(3)
    /// How old the newest snapshot in the database may become.
    public var snapshotInterval: Duration = .seconds(86_400)
    /// How many bytes of a snapshot are sent in a second, at most.
    public var snapshotRate = 16 << 20

    /// A log of this machine's own.
    public init() {}
}

/// `[Journal]`: the log.
public struct JournalSettings: Hashable, Sendable {
    /// A priority of the journal. The raw values are the configuration's.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        case info, debug
    }

    /// The priority of an outcome that is no failure.
    public var successLevel: Level = .info
    /// How many entries wait for a slow journal before new ones are dropped, and counted.
    public var queueMax = 10_000

    /// The shipped values.
    public init() {}
}
