public import PushModel
public import PushRouter

/// The validated configuration: every value is in its range, and every referenced name exists.
public struct Settings: Sendable {
    /// The router's settings: `[Dispatch]`, `[Deadline]`, `[Braze]`, `[Tracker]`, the keys of `[UsersTrack]` that are
    /// not about sending, the handlers, the routes and the tracks.
    public var routing: RoutingTable
    /// `producers.d`: the rules for what producers may send.
    public var producers: [ProducerRule] = []
    /// `[Daemon]`.
    public var daemon: DaemonSettings {
        didSet {
            routing.limits.batchLength = BatchLimits.longestRows(requestLength: daemon.requestLengthMax)
        }
    }
    /// `[Store]`.
    public var store: StoreSettings
    /// `[Journal]`.
    public var journal: JournalSettings
    /// `[UsersTrack]`: how the forwarder sends.
    public var usersTrack: ForwardingSettings
    /// `[Tracker] CampaignIdRule=`: how reports group campaigns.
    public var campaignIDRule = CampaignIDRule.raw

    /// `[Deadline] Objective=`: the share of due invocations that must keep the deadline; `nil`: reports have no
    /// objective.
    public var objective: Percent?

    /// The file with the forwarder's API key; `nil`: the forwarder sends no requests, or has a credential.
    public var keyFileInUse: String? { usersTrack.endpoint == nil ? nil : usersTrack.keyFile }

    /// The defaults, without handlers and routes: only files define those.
    public init() {
        routing = RoutingTable(routes: [], handlers: [:])
        daemon = DaemonSettings()
        store = StoreSettings()
        journal = JournalSettings()
        usersTrack = ForwardingSettings()
    }

    /// Keeps the current values of the keys that a reload cannot change.
    ///
    /// - Returns: a sentence for each of them with a new value.
    public mutating func keepUntilRestart(of inForce: Settings) -> [String] {
        Schema.main.keep(of: inForce, in: &self).map {
            "\($0.name)= in [\($0.section)] has changed; the value in force stays until pushrouterd is started again"
        }
    }
}

/// `[Daemon]`: the sockets, and the limits of clients.
public struct DaemonSettings: Hashable, Sendable {
    /// The longest request, in bytes, without its line feed.
    public var requestLengthMax = 256 << 10
    /// The deepest nesting of a request.
    var jsonDepthMax = 32
    /// The limits of a request's JSON. A typical request has a value for each dozen bytes. A request of small numbers
    /// only could have one for each two, at the cost of as many values.
    public var jsonLimits: JSONLimits { JSONLimits(depth: jsonDepthMax, values: requestLengthMax / 4) }
    /// The most connections at once on each socket.
    public var connectionsMax = 1024
    /// The most connections at once of one peer (uid) on each socket.
    public var connectionsMaxPerPeer = 512
    /// The most bytes of received and unprocessed requests on each socket.
    public var inputSizeMax = 16 << 20
    /// The most bytes of received and unprocessed requests of one peer.
    public var inputSizeMaxPerPeer = 8 << 20
    /// The most bytes of unread replies on each socket.
    public var outputSizeMax = 16 << 20
    /// The most bytes of unread replies of one peer.
    public var outputSizeMaxPerPeer = 8 << 20
    /// The timeout of a line, from its first byte to its end.
    public var lineTimeout: Duration = .seconds(30)
    /// The timeout for reading replies; then the connection is closed.
    public var writeTimeout: Duration = .seconds(30)
    /// The longest idle time of a connection; zero: unlimited.
    public var idleTimeout: Duration = .zero
    /// `inject.sock`, for producers.
    public var injectSocket = SocketSettings()
    /// `control.sock`, for reading and administration.
    public var controlSocket = SocketSettings()
    /// `read.sock`, for reading only.
    public var readSocket = SocketSettings()
    /// The sockets of bridges' programs that run as services, by bridge name.
    var serviceSockets: [String: String] = [:]

    /// The defaults.
    init() {}
}

/// The permissions of a socket file.
public struct SocketSettings: Hashable, Sendable {
    /// The permission bits of the socket file.
    public var mode: UInt32 = 0o660
    /// The name or number of the group that owns the socket file; `nil`: the daemon's own.
    public var group: String?

    /// The defaults.
    init() {}
}

/// `[Store]`: the log and the ledger.
public struct StoreSettings: Hashable, Sendable {
    /// The time that the ledger keeps a request and its `id` after acceptance.
    public var retention: Duration = .seconds(30 * 86_400)
    /// The largest size of the ledger in bytes: above it the oldest finished requests are deleted before their
    /// retention ends; `nil`: no limit.
    public var sizeMax: Int?
    /// The time that a dead letter, and its request in the ledger, are kept.
    public var deadLetterRetention: Duration = .seconds(30 * 86_400)
    /// The most bytes of all dead letters' request lines.
    public var deadLetterSizeMax = 64 << 20
    /// The time that the figures of deleted requests are kept.
    public var figuresRetention: Duration = .seconds(400 * 86_400)
    /// The largest size of the log in bytes.
    var logSizeMax = 256 << 20
    /// The largest size of the log in bytes, with room for the longest batches of any `RequestLengthMax=`, which a reload
    /// may raise.
    public var logLength: Int { max(logSizeMax, BatchLimits.shortestLog) }
    /// The duration from which a commit is reported as slow.
    public var slowCommit: Duration = .seconds(1)
    /// The log that several machines share.
    public var shared = SharedLogSettings()

    /// The defaults.
    init() {}
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
    /// The time that a leader leads without an answer of the database, and that followers wait before a takeover.
    public var lease: Duration = .seconds(3)
    /// The age at which a new snapshot is written to the database.
    public var snapshotInterval: Duration = .seconds(86_400)
    /// The most bytes of a snapshot to send per second.
    public var snapshotRate = 16 << 20

    /// The settings of a machine with a log of its own.
    init() {}
}

/// `[Journal]`: the entries in the journal.
public struct JournalSettings: Hashable, Sendable {
    /// A priority of the journal. The raw values are the configuration's.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        case info, debug
    }

    /// The priority of successful outcomes.
    public var successLevel: Level = .info
    /// Whether the standard error of handlers that do not say otherwise goes into the journal.
    public var hasHandlerOutput = false
    /// The most entries that wait for a slow journal; the daemon drops and counts further ones.
    public var queueMax = 10_000

    /// The defaults.
    init() {}
}

extension ConfigurationSources {
    /// The settings of one file, or of a main file with its drop-ins.
    public struct FileInForce: Sendable {
        /// `pushrouterd.conf`, or the path of the file.
        public let name: String
        /// Its settings in the order of their declaration.
        public let settings: [SettingInForce]

        /// Reads a main file and its drop-ins.
        ///
        /// - Parameters:
        ///   - name: the name of the main file.
        ///   - files: the files in their order.
        ///   - schema: their keys.
        public init<Target>(_ name: String, _ files: [ConfigurationFile], _ schema: Schema<Target>) {
            self.name = name
            settings = schema.settingsInForce(files.map { ($0.path, $0.bytes) }, hasUnset: true)
        }

        fileprivate init<Target>(
            _ file: ConfigurationFile, _ schema: Schema<Target>, applies: (Key<Target>) -> Bool = { _ in true }
        ) {
            name = file.path
            settings = schema.settingsInForce([(file.path, file.bytes)], hasUnset: false, applies: applies)
        }
    }

    /// Returns the settings in force, file by file in the order of their reading.
    ///
    /// - Parameter hasProviders: whether the providers are among them.
    public func settingsInForce(hasProviders: Bool) -> [FileInForce] {
        [FileInForce("pushrouterd.conf", main, Schema.main)]
            + (hasProviders ? providersInForce.map { FileInForce($0, Schema.provider) } : [])
            + handlers.inOrder.map(handlerInForce) + routes.inOrder.map { FileInForce($0, Schema.route) }
            + tracks.inOrder.map { FileInForce($0, Schema.track) }
            + registrations.inOrder.map { FileInForce($0, Schema.registration) }
            + producers.inOrder.map { FileInForce($0, Schema.producer) }
    }

    /// The settings of a handler: those that have a meaning for its `Type=`.
    private func handlerInForce(_ file: ConfigurationFile) -> FileInForce {
        let type = FileInForce(file, Schema.handler) { $0.name == "Type" }.settings.first?.value
        return FileInForce(file, Schema.handler) { key in
            key.kinds.isEmpty || key.kinds.contains { "\($0)" == type }
        }
    }
}

/// `[UsersTrack]`: the settings of requests to `/users/track`. The defaults are the provider's own limits (docs of
/// `POST /users/track` and of its rate limits).
public struct ForwardingSettings: Hashable, Sendable {
    /// `Endpoint=`, with its path: `https://rest.fra-01.braze.eu/users/track`; `nil`: the forwarder sends no requests.
    public var endpoint: String?
    /// `BatchSize=`: the most events in one request, and the most attribute objects.
    public var batchSize = 75
    /// `CombinedLimit=`: the most events and attribute objects together; `nil`: only `batchSize` counts. 50 on some
    /// plans.
    public var combinedLimit: Int?
    /// `Flush=`: how long the first entry of a request waits for others.
    public var flush: Duration = .seconds(1)
    /// `RateLimit=`: the most requests in `rateInterval`.
    public var rateLimit = 3000
    /// The interval of `rateLimit`.
    public var rateInterval: Duration = .seconds(3)
    /// `Timeout=`: how long a request may take, from the connection to the end of its answer.
    public var timeout: Duration = .seconds(30)
    /// `Connections=`: requests under way at once.
    public var connections = 2
    /// `KeyFile=`: the file with the API key, which only its owner can read; `nil`: the credential `users-track-key`.
    public var keyFile: String?

    /// The defaults.
    init() {}

    /// The command by which the forwarder takes a changed configuration and a changed key. A credential is a copy of the
    /// start: only a restart makes another.
    public var remedyCommand: String {
        "systemctl \(keyFile == nil ? "restart" : "reload") pushrouter-forward"
    }
}
