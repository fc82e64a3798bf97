public import PushModel

/// A rule that sends invocations to a handler: one `.route` file.
public struct Route: Hashable, Sendable {
    /// The file's stem; routes apply in the order of their names.
    public var name: String
    /// The conditions on an invocation.
    public var match: RouteMatch
    /// The handler's name.
    public var handler: String
    /// The budget of the invocation; `nil`: the configured one, which is also the maximum.
    public var budget: Duration?
    /// Whether its handler gets only a copy of each match, whichever route owns the invocation.
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

/// The conditions of a route. All given ones must hold; a list holds if one of its entries does.
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

    /// Joins the parts; without conditions the match holds for every invocation.
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
