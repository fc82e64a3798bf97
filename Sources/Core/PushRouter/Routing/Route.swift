public import PushModel

/// A rule that assigns invocations to a handler: one `.route` file.
public struct Route: Hashable, Sendable {
    /// The file name without its extension; routes apply in the order of their names.
    public var name: String
    /// The conditions.
    public var match: RouteMatch
    /// The handler's name.
    public var handler: String
    /// The time limit of the invocation, at most the configured budget; `nil`: the configured budget.
    public var budget: Duration?
    /// Whether the handler only gets a copy of each matching invocation, regardless of the owner.
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

/// The conditions of a route. All given conditions must hold; a list holds if one of its entries does.
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

    /// `Provider=`: the payload's provider; the word `none` matches a payload of no known provider. Empty: any.
    public var providers: [String]
    /// `Platform=`. Empty: any.
    public var platforms: [Platform]
    /// `Callback=`. Empty: any.
    public var callbacks: [Callback]
    /// `App=`: patterns of the package name or bundle id. Empty: any.
    public var apps: [Glob]
    /// `Data=`: conditions on the payload's own keys. All must hold.
    public var data: [KeyCondition]
    /// `KeyValue=`: conditions on the dashboard's key-value pairs, wherever the platform puts them. All must hold.
    public var keyValues: [KeyCondition]

    /// Joins the parts; a match without conditions matches every invocation.
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

/// The facts of an invocation that a route's conditions test.
public struct RouteFacts: Sendable {
    /// The provider of the payload.
    public var provider: String?
    /// The platform.
    public var platform: Platform
    /// The callback of the invocation.
    public var callback: Callback
    /// The app.
    public var app: String?
    /// The payload's keys; `nil` for an interaction that names its notification by an id.
    public var keys: PayloadKeys?

    /// Joins the facts.
    public init(provider: String?, platform: Platform, callback: Callback, app: String?, keys: PayloadKeys?) {
        (self.provider, self.platform, self.callback, self.app, self.keys) = (provider, platform, callback, app, keys)
    }
}

extension RouteMatch {
    /// The word in `Provider=` for a payload of no known provider.
    public static let noProvider = "none"

    /// Whether all given conditions hold.
    public func holds(for facts: RouteFacts) -> Bool {
        var (facts, text) = (facts, TextRead())
        if !keyValues.isEmpty { facts.keys?.readKeyValues() }
        return holds(for: facts, &text)
    }

    /// Whether all given conditions hold; the key-values of `facts` must have been read.
    ///
    /// - Parameter text: the last text that was read from the same keys.
    fileprivate func holds(for facts: RouteFacts, _ text: inout TextRead) -> Bool {
        guard mayHold(for: facts) else { return false }
        if data.isEmpty, keyValues.isEmpty { return true }
        guard let keys = facts.keys else { return false }
        return data.allSatisfy { keys.hasData($0.key, matching: $0.pattern, &text) }
            && keyValues.allSatisfy { keys.hasKeyValue($0.key, matching: $0.pattern, &text) }
    }

    /// Whether all conditions hold except those on the payload's keys.
    func mayHold(for facts: RouteFacts) -> Bool {
        if !providers.isEmpty, !providers.contains(facts.provider ?? Self.noProvider) { return false }
        if !platforms.isEmpty, !platforms.contains(facts.platform) { return false }
        if !callbacks.isEmpty, !callbacks.contains(facts.callback) { return false }
        return apps.isEmpty || apps.contains { $0.matches(facts.app ?? "") }
    }
}

extension RouteFacts {
    /// Returns the facts with the dashboard's key-values read, if a route or track tests any: once for all routes.
    fileprivate func read(for table: RoutingTable) -> RouteFacts {
        guard table.looksAtKeyValues else { return self }
        var facts = self
        facts.keys?.readKeyValues()
        return facts
    }
}

extension PayloadKeys? {
    /// Returns the keys with the dashboard's key-values read, if a route or track tests any: once for all routes and
    /// tracks.
    func read(for table: RoutingTable) -> PayloadKeys? {
        guard table.looksAtKeyValues, var keys = self else { return self }
        keys.readKeyValues()
        return keys
    }
}

extension RoutingTable {
    /// Whether any route tests the payload's keys.
    var looksAtKeys: Bool { routes.contains { !$0.match.data.isEmpty || !$0.match.keyValues.isEmpty } }

    /// Whether any route or track tests the dashboard's key-values.
    var looksAtKeyValues: Bool { !tracks.isEmpty || routes.contains { !$0.match.keyValues.isEmpty } }

    /// Returns the position of the first route at or after `position` that matches and does not observe.
    public func owner(of facts: RouteFacts, from position: Int = 0) -> Int? {
        let facts = facts.read(for: self)
        var text = TextRead()
        return routes[position...].firstIndex { !$0.observes && $0.match.holds(for: facts, &text) }
    }

    /// Returns the positions of all matching routes that observe, or of those that do not.
    public func positions(for facts: RouteFacts, observing: Bool) -> [Int] {
        let facts = facts.read(for: self)
        var text = TextRead()
        return routes.indices.filter { routes[$0].observes == observing && routes[$0].match.holds(for: facts, &text) }
    }

    /// Returns the routes that an invocation goes to before any handler declines: the first match, or every match of a
    /// broadcast callback.
    public func owners(of facts: RouteFacts) -> [Route] {
        guard !facts.callback.isBroadcast else { return positions(for: facts, observing: false).map { routes[$0] } }
        return owner(of: facts).map { [routes[$0]] } ?? []
    }

    /// Whether some observing route could match, whatever keys the payload has.
    func mayObserve(_ facts: RouteFacts) -> Bool { routes.contains { $0.observes && $0.match.mayHold(for: facts) } }

    /// Returns the observing routes that match.
    public func observers(of facts: RouteFacts) -> [Route] {
        positions(for: facts, observing: true).map { routes[$0] }
    }
}

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
