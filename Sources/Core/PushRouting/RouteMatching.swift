public import PushDispatch
public import PushModel

/// The facts for the conditions of routes.
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
}

extension RouteMatch {
    /// The word that stands for a payload of no known provider in `Provider=`.
    public static let noProvider = "none"

    /// Whether all given conditions hold.
    public func holds(for facts: RouteFacts) -> Bool {
        var (facts, text) = (facts, TextRead())
        if !keyValues.isEmpty { facts.keys?.readKeyValues() }
        return holds(for: facts, &text)
    }

    /// Whether all given conditions hold, with the key-values already read.
    ///
    /// - Parameter text: the last text that was read, of the same keys.
    fileprivate func holds(for facts: RouteFacts, _ text: inout TextRead) -> Bool {
        guard mayHold(for: facts) else { return false }
        if data.isEmpty, keyValues.isEmpty { return true }
        guard let keys = facts.keys else { return false }
        return data.allSatisfy { keys.hasData($0.key, matching: $0.pattern, &text) }
            && keyValues.allSatisfy { keys.hasKeyValue($0.key, matching: $0.pattern, &text) }
    }

    /// Whether all conditions hold that need no key of the payload.
    func mayHold(for facts: RouteFacts) -> Bool {
        if !providers.isEmpty, !providers.contains(facts.provider ?? Self.noProvider) { return false }
        if !platforms.isEmpty, !platforms.contains(facts.platform) { return false }
        if !callbacks.isEmpty, !callbacks.contains(facts.callback) { return false }
        return apps.isEmpty || apps.contains { $0.matches(facts.app ?? "") }
    }
}

extension RouteFacts {
    /// Returns the facts with the dashboard's key-values read, if a route needs them: once for all routes.
    fileprivate func read(for table: RoutingTable) -> RouteFacts {
        guard table.looksAtKeyValues else { return self }
        var facts = self
        facts.keys?.readKeyValues()
        return facts
    }
}

extension PayloadKeys? {
    /// Returns the keys with the dashboard's key-values read, if a route or track needs them: once for all of them.
    func read(for table: RoutingTable) -> PayloadKeys? {
        guard table.looksAtKeyValues, var keys = self else { return self }
        keys.readKeyValues()
        return keys
    }
}

extension RoutingTable {
    /// Whether any route looks at the payload's keys.
    var looksAtKeys: Bool { routes.contains { !$0.match.data.isEmpty || !$0.match.keyValues.isEmpty } }

    /// Whether any route or track looks at the dashboard's key-values.
    var looksAtKeyValues: Bool { !tracks.isEmpty || routes.contains { !$0.match.keyValues.isEmpty } }

    /// Returns the position of the first route at or after `position` that matches and does not observe.
    func owner(of facts: RouteFacts, from position: Int = 0) -> Int? {
        let facts = facts.read(for: self)
        var text = TextRead()
        return routes[position...].firstIndex { !$0.observes && $0.match.holds(for: facts, &text) }
    }

    /// Returns the positions of all matching routes: of observing ones, or of the others.
    func positions(for facts: RouteFacts, observing: Bool) -> [Int] {
        let facts = facts.read(for: self)
        var text = TextRead()
        return routes.indices.filter { routes[$0].observes == observing && routes[$0].match.holds(for: facts, &text) }
    }

    /// Returns the routes that an invocation goes to before any handler declines: the first match, or for a broadcast
    /// callback every match.
    public func owners(of facts: RouteFacts) -> [Route] {
        guard !facts.callback.isBroadcast else { return positions(for: facts, observing: false).map { routes[$0] } }
        return owner(of: facts).map { [routes[$0]] } ?? []
    }

    /// Whether an observing route may match, whatever keys the payload has.
    func mayObserve(_ facts: RouteFacts) -> Bool { routes.contains { $0.observes && $0.match.mayHold(for: facts) } }

    /// Returns the observing routes that match.
    public func observers(of facts: RouteFacts) -> [Route] {
        positions(for: facts, observing: true).map { routes[$0] }
    }
}
