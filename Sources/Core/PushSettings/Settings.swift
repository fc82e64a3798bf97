package import PushCustomData
package import PushModel
package import PushRouting

/// The validated configuration: every value is in its range, every name it refers to exists.
package struct Settings: Sendable {
    /// What the router decides by: `[Dispatch]`, `[Deadline]`, `[Braze]`, `[Tracker]`, what of `[UsersTrack]` is not about
    /// sending, the handlers, the routes and the tracks.
    package var routing: RoutingTable
    /// `[Daemon]`.
    package var daemon: DaemonSettings
    /// `[Store]`.
    package var store: StoreSettings
    /// `[Journal]`.
    package var journal: JournalSettings
    /// `[UsersTrack]`: how the forwarder sends.
    package var usersTrack: ForwardingSettings
    /// `[Tracker] CampaignIdRule=`: how reports group campaigns.
    package var campaignIDRule = CampaignIDRule.raw

    /// What holds where no file says otherwise; without handlers and routes, which only files give.
    package init() {
        routing = RoutingTable(routes: [], handlers: [:])
        daemon = DaemonSettings()
        store = StoreSettings()
        journal = JournalSettings()
        usersTrack = ForwardingSettings()
    }
}

/// `[Daemon]`: the sockets, and what one client may ask of them.
package struct DaemonSettings: Hashable, Sendable {
    /// The longest request, in bytes, without its line feed.
    package var requestLengthMax = 256 << 10
    /// How deep a request may nest.
    package var jsonDepthMax = 32
    /// Connections at once, on each of the sockets.
    package var connectionsMax = 1024
    /// Connections at once of one peer (its uid), on each of the sockets.
    package var connectionsMaxPerPeer = 512
    /// How many bytes of requests that have come and are not worked yet are held, on each of the sockets.
    package var inputSizeMax = 16 << 20
    /// The same of one peer.
    package var inputSizeMaxPerPeer = 8 << 20
    /// How many bytes are held that clients are owed and have not taken, on each of the sockets.
    package var outputSizeMax = 16 << 20
    /// The same of one peer.
    package var outputSizeMaxPerPeer = 8 << 20
    /// How long a line may take from its first byte to its end.
    package var lineTimeout: Duration = .seconds(30)
    /// How long a client may leave what it is owed before its connection is closed.
    package var writeTimeout: Duration = .seconds(30)
    /// How long a connection may be idle; zero: for ever.
    package var idleTimeout: Duration = .zero
    /// `inject.sock`, for producers.
    package var injectSocket = SocketSettings()
    /// `control.sock`, for all that reads or administers.
    package var controlSocket = SocketSettings()

    /// The shipped values.
    package init() {}
}

/// Who may connect to a socket.
package struct SocketSettings: Hashable, Sendable {
    /// The permission bits of the socket file.
    package var mode: UInt32 = 0o660
    /// The name or number of the group that owns the socket file; `nil`: the daemon's own.
    package var group: String?

    /// The shipped values.
    package init() {}
}

/// `[Store]`: the ledger, and the log before it.
package struct StoreSettings: Hashable, Sendable {
    /// How long the ledger keeps a request after its acceptance, and with it the request's `id`.
    package var retention: Duration = .seconds(30 * 86_400)
    /// How large the log before the ledger may become, in bytes.
    package var logSizeMax = 256 << 20
    /// A commit that takes longer is told of.
    package var slowCommit: Duration = .seconds(1)

    /// The shipped values.
    package init() {}
}

/// `[Journal]`: the log.
package struct JournalSettings: Hashable, Sendable {
    /// A priority of the journal. The raw values are the configuration's.
    package enum Level: String, Hashable, Sendable, CaseIterable {
        case info, debug
    }

    /// The priority of an outcome that is no failure.
    package var successLevel: Level = .info
    /// How many entries wait for a slow journal before new ones are dropped, and counted.
    package var queueMax = 10_000

    /// The shipped values.
    package init() {}
}
