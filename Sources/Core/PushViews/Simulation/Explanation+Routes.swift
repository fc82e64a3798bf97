import PushModel
import PushRouter

extension Explanation {
    /// A route that was tested for an invocation and does not match.
    struct UnmatchedRoute: Hashable, Sendable {
        /// The route's name.
        public var route: String
        /// The callback of the invocation.
        public var callback: Callback
        /// Whether the route observes.
        public var observes: Bool
        /// The condition that does not hold and the actual value, for people.
        public var reason: String
    }

    /// Returns the routes that were tested for each callback and do not match: those before the owner, and all
    /// observers.
    static func unmatchedRoutes(
        _ decision: Decision, platform: Platform, table: RoutingTable
    ) -> [UnmatchedRoute] {
        decision.callbacks.flatMap { callback -> [UnmatchedRoute] in
            let facts = RouteFacts(
                provider: decision.provider, platform: platform, callback: callback, app: decision.app,
                keys: decision.keys)
            let isOffered = decision.owner == .route || callback.isBroadcast
            let first = callback.isBroadcast ? nil : table.owner(of: facts)
            return table.routes.enumerated().compactMap { position, route in
                guard route.observes || isOffered && position < first ?? .max,
                    let reason = route.match.mismatch(with: facts)
                else { return nil }
                return UnmatchedRoute(route: route.name, callback: callback, observes: route.observes, reason: reason)
            }
        }
    }
}

extension RouteMatch {
    private var providerCondition: String { "Provider=\(providers.joined(separator: " "))" }
    private var platformCondition: String { "Platform=\(platforms.map(\.rawValue).joined(separator: " "))" }
    private var callbackCondition: String { "Callback=\(callbacks.map(\.rawValue).joined(separator: " "))" }
    private var appCondition: String { "App=\(apps.map(\.description).joined(separator: " "))" }

    /// All conditions, as the file of a route has them.
    var conditions: [String] {
        [
            providers.isEmpty ? nil : providerCondition, platforms.isEmpty ? nil : platformCondition,
            callbacks.isEmpty ? nil : callbackCondition, apps.isEmpty ? nil : appCondition,
        ].compactMap(\.self) + data.map { $0.text("Data") } + keyValues.map { $0.text("KeyValue") }
    }

    /// The first condition that does not hold, and what is so instead; `nil` when all hold.
    func mismatch(with facts: RouteFacts) -> String? {
        guard !holds(for: facts) else { return nil }
        let provider = facts.provider ?? Self.noProvider
        if !providers.isEmpty, !providers.contains(provider) {
            let owner = facts.provider.map { "the payload is of \($0)" } ?? "the payload is of no known provider"
            return "\(providerCondition): \(owner)"
        }
        if !platforms.isEmpty, !platforms.contains(facts.platform) {
            return "\(platformCondition): it is \(facts.platform.rawValue)"
        }
        if !callbacks.isEmpty, !callbacks.contains(facts.callback) {
            return "\(callbackCondition): it is \(facts.callback.rawValue)"
        }
        if !apps.isEmpty, !apps.contains(where: { $0.matches(facts.app ?? "") }) {
            let app = facts.app.map { "the app is \($0)" } ?? "no app is named (--app)"
            return "\(appCondition): \(app)"
        }
        return data.lazy.compactMap { $0.mismatch("Data", facts.keys?.data($0.key), "key") }.first
            ?? keyValues.lazy.compactMap { $0.mismatch("KeyValue", facts.keys?.keyValue($0.key), "key-value") }.first
    }
}

extension RouteMatch.KeyCondition {
    fileprivate func text(_ setting: String) -> String { "\(setting)=\(key)\(pattern.map { " \($0)" } ?? "")" }

    fileprivate func mismatch(_ setting: String, _ value: String?, _ noun: String) -> String? {
        let condition = text(setting)
        guard let value else { return "\(condition): the payload has no \(noun) \(key)" }
        guard let pattern, !pattern.matchesAll else { return nil }
        guard value.utf8.count <= PayloadKeys.longestMatched else {
            return "\(condition): \(key) has \(value.utf8.count) bytes, and only * matches more than "
                + "\(PayloadKeys.longestMatched)"
        }
        guard !pattern.matches(value) else { return nil }
        return "\(condition): \(key) is \"\(value.prefix(100))\(value.count > 100 ? "..." : "")\""
    }
}
