public import PushCustomData
public import PushDispatch
public import PushModel
public import PushTracking

/// The rules of the router: the part of the validated configuration that routing needs.
///
/// A value: a reload swaps in a new one; an invocation in flight keeps the table under which it was accepted.
public struct RoutingTable: Sendable {
    /// The dispatch mode: `device` or `relay`.
    public var mode: DispatchMode
    /// The budget of an invocation, unless its route gives less.
    public var budget: Duration = .seconds(9)
    /// The routes in order: the first match applies.
    public var routes: [Route]
    /// The handlers by name, those of all routes included.
    public var handlers: [String: Handler] {
        didSet { sharedHandlers = handlers.mapValues { Indirect($0) } }
    }
    /// The handlers, shared with the invocations that they run.
    private(set) var sharedHandlers: [String: Indirect<Handler>]
    /// The limits of routing.
    public var limits = RoutingLimits()
    /// The wait before another attempt, in `relay` mode.
    public var retry = RetryRules()
    /// The rules of the providers.
    public var detection = DetectionSettings()
    /// The completions of callbacks that nothing else determines.
    public var completion = CompletionRules()
    /// The app's registrations for interactions.
    public var interaction = InteractionRules()
    /// The rules for opens and sessions.
    public var tracking = TrackerRules()
    /// The rules for storing and flushing custom data.
    public var customData = CustomDataRules()
    /// The tracks, by name, which make entries for `/users/track` of pushes: every match applies.
    public var tracks: [TrackRule] = []
    /// The rules for unregistered tokens, by name: the first match applies.
    public var registrations: [RegistrationRule] = []

    /// Creates a table with these routes and the shipped defaults.
    public init(mode: DispatchMode = .device, routes: [Route], handlers: [String: Handler]) {
        self.mode = mode
        self.routes = routes
        self.handlers = handlers
        sharedHandlers = handlers.mapValues { Indirect($0) }
    }
}

/// The limits of routing. Beyond a limit the router refuses a request with `overloaded`, and never drops one. The
/// defaults are the shipped ones.
public struct RoutingLimits: Hashable, Sendable {
    /// Running handlers, without observers.
    public var handlers = 64
    /// Running handlers of observing routes: separate places, so that no observer delays an owner.
    public var observers = 16
    /// Requests in flight, of all peers.
    public var inFlight = 50_000
    /// Requests in flight of one account.
    public var inFlightPerPeer = 20_000
    /// The size of the lines of requests in flight, in bytes: they are on disk.
    public var unfinishedBytes = 1 << 30
    /// The same of one account.
    public var unfinishedBytesPerPeer = 512 << 20
    /// The size of the request lines kept in memory for waiting invocations, in bytes. The ledger has the others.
    public var payloadMemory = 32 << 20
    /// The memory of invocations in flight beside those lines and their payloads, in bytes, about.
    public var invocationMemory = 56 << 20
    /// The same of one account.
    public var invocationMemoryPerPeer = 28 << 20
    /// The memory of known devices in bytes, about; beyond it the router forgets those that were unused for longest.
    public var deviceMemory = 512 << 20
    /// Devices of one publish.
    public var fanOut = 10_000
}
