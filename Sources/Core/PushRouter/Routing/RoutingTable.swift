public import PushModel

/// The part of the validated configuration that the router needs.
///
/// A reload replaces the value; invocations in flight keep the table of their acceptance.
public struct RoutingTable: Sendable {
    /// The mode, `device` or `relay`.
    public var mode: DispatchMode
    /// The time limit of an invocation unless its route has a shorter one.
    public var budget: Duration = .seconds(9)
    /// The longest time of a publish: afterwards the router makes none of its deliveries any more.
    public var publishTimeMax: Duration = .seconds(3600)
    /// The routes in order: the first match wins.
    public var routes: [Route]
    /// The handlers by name, with every handler that a route names.
    public var handlers: [String: Handler] {
        didSet { sharedHandlers = handlers.mapValues { Indirect($0) } }
    }
    /// The handlers in shared storage: each invocation holds a reference to its handler.
    private(set) var sharedHandlers: [String: Indirect<Handler>]
    /// The limits of routing.
    public var limits = RoutingLimits()
    /// In `relay` mode: the delays before retries.
    public var retry = RetryRules()
    /// The rules that find a payload's provider.
    public var detection = DetectionSettings()
    /// The defaults for a callback that no owner completes.
    public var completion = CompletionRules()
    /// The app's registrations for interactions.
    public var interaction = InteractionRules()
    /// The rules for counting opens and sessions.
    public var tracking = TrackerRules()
    /// The rules for storing and flushing custom data.
    public var customData = CustomDataRules()
    /// The tracks in order of their names; every match sends an entry to `/users/track`.
    public var tracks: [TrackRule] = []
    /// The rules for tokens that no device registered, in order of their names; the first match applies.
    public var registrations: [RegistrationRule] = []

    /// A table of these routes, with shipped defaults.
    public init(mode: DispatchMode = .device, routes: [Route], handlers: [String: Handler]) {
        self.mode = mode
        self.routes = routes
        self.handlers = handlers
        sharedHandlers = handlers.mapValues { Indirect($0) }
    }
}

/// The limits of routing; above a limit the router refuses a request with `overloaded` and never drops it. The defaults
/// are the shipped ones.
public struct RoutingLimits: Hashable, Sendable {
    /// Concurrent invocations with a handler place, observers excluded.
    public var handlers = 64
    /// Concurrent invocations of observing routes: separate places, so that an observer never delays an owner.
    public var observers = 16
    /// Requests in flight.
    public var inFlight = 50_000
    /// Requests in flight of one account.
    public var inFlightPerPeer = 20_000
    /// Bytes of the lines of all requests in flight, which are on disk.
    public var unfinishedBytes = 1 << 30
    /// Bytes of the lines of one peer's requests in flight.
    public var unfinishedBytesPerPeer = 512 << 20
    /// Bytes of request lines in memory for waiting invocations. The ledger has the others.
    public var payloadMemory = 32 << 20
    /// Approximate bytes of memory of all invocations in flight, without lines and payloads.
    public var invocationMemory = 56 << 20
    /// Approximate bytes of memory of one peer's invocations in flight, without lines and payloads.
    public var invocationMemoryPerPeer = 28 << 20
    /// Approximate bytes of the facts about devices; above it the router forgets the least recently used device.
    public var deviceMemory = 512 << 20
    /// The most bytes of rows that one request may have: those of a batch of the log.
    public var batchLength = BatchLimits.longestRows(requestLength: 256 << 10)
    /// Devices of one publish.
    public var fanOut = 10_000
}
