import PushModel
import PushRouter

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
    /// Whether the payload has the key that is wanted, in another spelling.
    public var isNear: Bool

    /// Returns the routes that were tested for each callback and do not match: those before the owner, and all
    /// observers.
    static func all(_ decision: Decision, platform: Platform, table: RoutingTable) -> [UnmatchedRoute] {
        let spellings = (own: KeySpellings(decision.keys.own), keyValues: KeySpellings(decision.keys.keyValues))
        return decision.callbacks.flatMap { callback -> [UnmatchedRoute] in
            let facts = RouteFacts(
                provider: decision.provider, platform: platform, callback: callback, app: decision.app,
                keys: decision.keys)
            let isOffered = decision.owner == .route || callback.isBroadcast
            let first = callback.isBroadcast ? nil : table.owner(of: facts)
            return table.routes.enumerated().compactMap { position, route in
                guard route.observes || isOffered && position < first ?? .max,
                    let reason = route.match.mismatch(with: facts, spellings)
                else { return nil }
                return UnmatchedRoute(
                    route: route.name, callback: callback, observes: route.observes, reason: reason,
                    isNear: route.match.data.contains {
                        facts.keys?.data($0.key) == nil && spellings.own[$0.key] != nil
                    })
            }
        }
    }
}

/// The keys of a payload by their letters and digits: `orderId` is found for `order_id`.
struct KeySpellings {
    private var names: [String: String] = [:]

    init(_ pairs: [(key: String, value: String)]) {
        for pair in pairs.reversed() { names[Self.letters(pair.key)] = pair.key }
    }

    /// The other spelling of a key that the payload has.
    subscript(key: String) -> String? { names[Self.letters(key)] }

    private static func letters(_ name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
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
    ///
    /// - Parameter spellings: the payload's keys and key-values, for a key that is spelled in another way.
    func mismatch(
        with facts: RouteFacts, _ spellings: (own: KeySpellings, keyValues: KeySpellings)
    ) -> String? {
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
        return data.lazy.compactMap { $0.mismatch("Data", facts.keys?.data($0.key), "key", spellings.own) }.first
            ?? keyValues.lazy.compactMap {
                $0.mismatch("KeyValue", facts.keys?.keyValue($0.key), "key-value", spellings.keyValues)
            }.first
    }
}

extension RouteMatch.KeyCondition {
    fileprivate func text(_ setting: String) -> String { "\(setting)=\(key)\(pattern.map { " \($0)" } ?? "")" }

    fileprivate func mismatch(
        _ setting: String, _ value: String?, _ noun: String, _ spellings: KeySpellings
    ) -> String? {
        let condition = text(setting)
        guard let value else {
            let other = spellings[key].map { "; it has \($0.prefix(100))" } ?? ""
            return "\(condition): the payload has no \(noun) \(key)\(other)"
        }
        guard let pattern, !pattern.matchesAll else { return nil }
        guard value.utf8.count <= PayloadKeys.longestMatched else {
            return "\(condition): \(key) has \(value.utf8.count) bytes, and only * matches more than "
                + "\(PayloadKeys.longestMatched)"
        }
        guard !pattern.matches(value) else { return nil }
        return "\(condition): \(key) is \"\(value.prefix(100))\(value.count > 100 ? "..." : "")\""
    }
}
