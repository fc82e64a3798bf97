public import PushCustomData
public import PushDispatch
public import PushModel
public import PushTracking

/// What the router decides by: the validated configuration, as far as routing needs it.
///
/// A value: a reload makes a new one and swaps it; invocations in flight keep what picked them.
public struct RoutingTable: Sendable {
    /// In whose place the router stands.
    public var mode: DispatchMode
    /// The time an invocation has, unless its route gives less.
    public var budget: Duration = .seconds(9)
    /// The routes in the order in which they apply: the first that matches wins.
    public var routes: [Route]
    /// The handlers by name. Every route's handler is in it.
    public var handlers: [String: Handler] {
        didSet { sharedHandlers = handlers.mapValues { Indirect($0) } }
    }
    /// The same, for invocations: each refers to the one that has it.
    private(set) var sharedHandlers: [String: Indirect<Handler>]
    /// What routing never exceeds.
    public var limits = RoutingLimits()
    /// In `relay` mode: how long to wait before a handler that asked for it is tried again.
    public var retry = RetryRules()
    /// Whose payload it is: the rules of the providers.
    public var detection = DetectionSettings()
    /// What completes a callback where nobody says.
    public var completion = CompletionRules()
    /// What the app has registered for interactions.
    public var interaction = InteractionRules()
    /// How opens and sessions are counted.
    public var tracking = TrackerRules()
    /// How custom data is kept and flushed.
    public var customData = CustomDataRules()
    /// What is told to `/users/track` of pushes, by name: each that matches applies.
    public var tracks: [TrackRule] = []
    /// The rules for tokens that nobody registered, by name: the first that matches applies.
    public var registrations: [RegistrationRule] = []

    /// A table of these routes; all else is as shipped.
    public init(mode: DispatchMode = .device, routes: [Route], handlers: [String: Handler]) {
        self.mode = mode
        self.routes = routes
        self.handlers = handlers
        sharedHandlers = handlers.mapValues { Indirect($0) }
    }
}

/// What routing never exceeds; over a limit a request is refused with `overloaded`, never dropped. The defaults are the
/// shipped ones.
public struct RoutingLimits: Hashable, Sendable {
    /// Handlers running at once, observers aside.
    public var handlers = 64
    /// Handlers of observing routes running at once: places of their own, so that they never keep an owner waiting.
    public var observers = 16
    /// Requests in flight in all.
    public var inFlight = 50_000
    /// Requests in flight of one account.
    public var inFlightPerPeer = 20_000
    /// Bytes of the lines of requests in flight, in all: the disk holds them.
    public var unfinishedBytes = 1 << 30
    /// The same of one peer.
    public var unfinishedBytesPerPeer = 512 << 20
    /// Bytes of request lines that are kept in memory for invocations that wait. The ledger has the others.
    public var payloadMemory = 32 << 20
    /// Bytes of memory that invocations in flight take beside those lines and their payloads, about, in all.
    public var invocationMemory = 56 << 20
    /// The same of one peer.
    public var invocationMemoryPerPeer = 28 << 20
    /// Bytes of what is last known of devices, about; beyond them the one is forgotten that was not used for longest.
    public var deviceMemory = 512 << 20
    /// Devices that one publish may reach.
    public var fanOut = 10_000
}
