public import PushDispatch
public import PushModel

/// What a route's conditions are held against.
public struct RouteFacts: Sendable {
    /// Whose payload it is.
    public var provider: String?
    /// The platform.
    public var platform: Platform
    /// The callback of the invocation.
    public var callback: Callback
    /// The app.
    public var app: String?
    /// The payload's keys; `nil` for an interaction that names its notification by an id.
    public var keys: PayloadKeys?

    /// Joins the parts.
    public init(provider: String?, platform: Platform, callback: Callback, app: String?, keys: PayloadKeys?) {
        self.provider = provider
        self.platform = platform
        self.callback = callback
        self.app = app
        self.keys = keys
    }
}

extension RouteMatch {
    /// The word that stands for a payload of no known provider in `Provider=`.
    public static let noProvider = "none"

    /// Whether every condition given holds.
    public func holds(for facts: RouteFacts) -> Bool {
        if !providers.isEmpty, !providers.contains(facts.provider ?? Self.noProvider) { return false }
        if !platforms.isEmpty, !platforms.contains(facts.platform) { return false }
        if !callbacks.isEmpty, !callbacks.contains(facts.callback) { return false }
        if !apps.isEmpty, !apps.contains(where: { $0.matches(facts.app ?? "") }) { return false }
        return data.allSatisfy { $0.holds(for: facts.keys?.data($0.key)) }
            && keyValues.allSatisfy { $0.holds(for: facts.keys?.keyValue($0.key)) }
    }
}

extension RouteMatch.KeyCondition {
    fileprivate func holds(for value: String?) -> Bool {
        guard let value else { return false }
        return pattern?.matches(value) ?? true
    }
}

extension RoutingTable {
    /// The first route at or after `position` that matches, and its position.
    public func route(for facts: RouteFacts, from position: Int = 0) -> (route: Route, position: Int)? {
        guard let found = routes[position...].firstIndex(where: { $0.match.holds(for: facts) }) else { return nil }
        return (routes[found], found)
    }
}
