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
