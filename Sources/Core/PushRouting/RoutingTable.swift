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
    public var budget: Duration
    /// The routes in the order in which they apply: the first that matches wins.
    public var routes: [Route]
    /// The handlers by name. Every route's handler is in it.
    public var handlers: [String: Handler]
    /// What routing never exceeds.
    public var limits: RoutingLimits
    /// In `relay` mode: how long to wait before a handler that asked for it is tried again.
    public var retryDelay: Duration
    /// Whose payload it is: the rules of the providers.
    public var detection: DetectionSettings
    /// What completes a callback where nobody says.
    public var completion: CompletionRules
    /// What the app has registered for interactions.
    public var interaction: InteractionRules
    /// How opens and sessions are counted.
    public var tracking: TrackerRules
    /// How custom data is kept and flushed.
    public var customData: CustomDataRules
    /// What is told to `/users/track` of pushes, by name: each that matches applies.
    public var tracks: [TrackRule]

    /// Joins the parts.
    public init(
        mode: DispatchMode = .device, budget: Duration = .seconds(9), routes: [Route], handlers: [String: Handler],
        limits: RoutingLimits = RoutingLimits(), retryDelay: Duration = .milliseconds(200),
        detection: DetectionSettings = DetectionSettings(), completion: CompletionRules = CompletionRules(),
        interaction: InteractionRules = InteractionRules(), tracking: TrackerRules = TrackerRules(),
        customData: CustomDataRules = CustomDataRules(), tracks: [TrackRule] = []
    ) {
        self.mode = mode
        self.budget = budget
        self.routes = routes
        self.handlers = handlers
        self.limits = limits
        self.retryDelay = retryDelay
        self.detection = detection
        self.completion = completion
        self.interaction = interaction
        self.tracking = tracking
        self.customData = customData
        self.tracks = tracks
    }
}

/// What routing never exceeds; over a limit a request is refused with `overloaded`, never dropped.
public struct RoutingLimits: Hashable, Sendable {
    /// Handlers running at once, observers aside.
    public var handlers: Int
    /// Handlers of observing routes running at once: places of their own, so that they never keep an owner waiting.
    public var observers: Int
    /// Requests in flight in all.
    public var inFlight: Int
    /// Requests in flight of one peer (its uid).
    public var inFlightPerPeer: Int
    /// Bytes of the lines of requests in flight, in all: the disk holds them.
    public var unfinishedBytes: Int
    /// The same of one peer.
    public var unfinishedBytesPerPeer: Int
    /// Bytes of request lines that are kept in memory for invocations that wait. The ledger has the others.
    public var payloadMemory: Int
    /// Bytes of what is last known of devices, about; beyond them the one is forgotten that was not used for longest.
    public var deviceMemory: Int

    /// Joins the parts; the defaults are the shipped ones.
    public init(
        handlers: Int = 64, observers: Int = 16, inFlight: Int = 50_000, inFlightPerPeer: Int = 20_000,
        unfinishedBytes: Int = 1 << 30, unfinishedBytesPerPeer: Int = 512 << 20, payloadMemory: Int = 32 << 20,
        deviceMemory: Int = 512 << 20
    ) {
        self.handlers = handlers
        self.observers = observers
        self.inFlight = inFlight
        self.inFlightPerPeer = inFlightPerPeer
        self.unfinishedBytes = unfinishedBytes
        self.unfinishedBytesPerPeer = unfinishedBytesPerPeer
        self.payloadMemory = payloadMemory
        self.deviceMemory = deviceMemory
    }
}

/// Who does the work: one `.handler` file.
public struct Handler: Hashable, Sendable {
    /// What it is.
    public enum Kind: Hashable, Sendable {
        /// A program, run once per invocation.
        case exec(Command)
        /// A program that stays, and gets and answers invocations by lines.
        indirect case worker(Command, InstanceRules)
        /// The Unix socket of another service, by its absolute path, which gets and answers the same lines.
        indirect case socket(path: String, InstanceRules)
        /// Built in: an entry in the journal.
        case journal
        /// Built in: nothing.
        case discard
    }

    /// The program of an `exec` or a `worker` handler.
    public struct Command: Hashable, Sendable {
        /// The program's absolute path and its arguments, split as systemd splits `ExecStart=`; never empty.
        public var arguments: [String]
        /// Variables added to the program's environment, which otherwise has only `PATH` and `PUSH_*`.
        public var environment: [String: String]
        /// Where it runs; `/` when `nil`.
        public var workingDirectory: String?

        /// Joins the parts.
        public init(arguments: [String], environment: [String: String] = [:], workingDirectory: String? = nil) {
            self.arguments = arguments
            self.environment = environment
            self.workingDirectory = workingDirectory
        }
    }

    /// The file's stem.
    public var name: String
    /// What it is.
    public var kind: Kind
    /// Whether running it twice for one invocation is harmless: then a crash runs it again.
    public var idempotent: Bool
    /// How long before the deadline it gets SIGTERM; `nil`: it does not.
    public var grace: Duration?
    /// How many invocations it runs at once; `nil`: as many as there are places.
    public var maxConcurrent: Int?

    /// Joins the parts.
    public init(
        name: String, kind: Kind, idempotent: Bool = false, grace: Duration? = nil, maxConcurrent: Int? = nil
    ) {
        self.name = name
        self.kind = kind
        self.idempotent = idempotent
        self.grace = grace
        self.maxConcurrent = maxConcurrent
    }
}

/// Which invocations go to which handler: one `.route` file.
public struct Route: Hashable, Sendable {
    /// The file's stem; routes apply in the order of their names.
    public var name: String
    /// Which invocations.
    public var match: RouteMatch
    /// The handler's name.
    public var handler: String
    /// The time the invocation has; `nil`: the configured budget. Never more than it.
    public var budget: Duration?
    /// Whether it only gets a copy of what it matches, whoever owns it.
    public var observes: Bool

    /// Joins the parts.
    public init(
        name: String, match: RouteMatch, handler: String, budget: Duration? = nil, observes: Bool = false
    ) {
        self.name = name
        self.match = match
        self.handler = handler
        self.budget = budget
        self.observes = observes
    }
}

/// The conditions of a route. Each one given must hold; a list holds when one of its entries does.
public struct RouteMatch: Hashable, Sendable {
    /// One condition on a key: present, or present with a value that a pattern matches.
    public struct KeyCondition: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The pattern of its value; `nil`: any value.
        public var pattern: Glob?

        /// Joins the parts.
        public init(key: String, pattern: Glob?) {
            self.key = key
            self.pattern = pattern
        }
    }

    /// `Provider=`: the owner; the word `none` stands for a payload of no known provider. Empty: any.
    public var providers: [String]
    /// `Platform=`. Empty: any.
    public var platforms: [Platform]
    /// `Callback=`. Empty: any.
    public var callbacks: [Callback]
    /// `App=`: patterns of the package name or bundle id. Empty: any.
    public var apps: [Glob]
    /// `Data=`: all must hold, of the payload's own keys.
    public var data: [KeyCondition]
    /// `KeyValue=`: all must hold, of the dashboard's key-values, wherever the platform puts them.
    public var keyValues: [KeyCondition]

    /// Joins the parts; without any it matches everything.
    public init(
        providers: [String] = [], platforms: [Platform] = [], callbacks: [Callback] = [], apps: [Glob] = [],
        data: [KeyCondition] = [], keyValues: [KeyCondition] = []
    ) {
        self.providers = providers
        self.platforms = platforms
        self.callbacks = callbacks
        self.apps = apps
        self.data = data
        self.keyValues = keyValues
    }
}
