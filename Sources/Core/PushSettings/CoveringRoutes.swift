import PushModel
import PushRouter

/// The routes that leave nothing to a later route with the same or more conditions.
///
/// A later route that is covered has one known condition of the covering route, so the search looks only at the routes
/// with this condition: its time grows with the number of routes, not with its square.
struct CoveringRoutes {
    private struct Candidate {
        let name: String
        let match: RouteMatch
        let signature: Signature
    }

    /// A condition by which a covering route is found.
    private enum Key: Hashable {
        case data(RouteMatch.KeyCondition)
        case keyValue(RouteMatch.KeyCondition)
        case app(Glob)
        case provider(String)
        /// The route has none of these conditions.
        case nothing
    }

    /// In the order of the routes.
    private var candidates: [Candidate] = []
    /// The places in `candidates`, in ascending order.
    private var places: [Key: [Int]] = [:]

    /// Returns the name of the first route that covers `match`; adds `route`, if it is given, for later matches.
    ///
    /// A route that is covered itself is not added: the route that covers it comes first, and covers all that it covers.
    mutating func first(covering match: RouteMatch, adding route: Route?) -> String? {
        let signature = Signature(match)
        if let place = first(covering: match, signature) { return candidates[place].name }
        guard let route else { return nil }
        for key in rarestKeys(of: match) { places[key, default: []].append(candidates.count) }
        candidates.append(Candidate(name: route.name, match: match, signature: signature))
        return nil
    }

    private func first(covering match: RouteMatch, _ signature: Signature) -> Int? {
        var keys = match.data.map(Key.data) + match.keyValues.map(Key.keyValue) + [.nothing]
        // The list of a covering route has each entry of this match's list, so one entry finds it: the one with the
        // fewest candidates.
        keys += [match.apps.map(Key.app), match.providers.map(Key.provider)].compactMap {
            $0.min { count($0) < count($1) }
        }
        var first: Int?
        for key in keys {
            let found = places[key]?.first { place in
                place >= first ?? .max
                    || candidates[place].signature.mayCover(signature) && candidates[place].match.covers(match)
            }
            if let found { first = min(found, first ?? .max) }
        }
        return first
    }

    /// Returns the keys under which a route is found: one condition, or each entry of a list.
    private func rarestKeys(of match: RouteMatch) -> [Key] {
        var choices = match.data.map { [Key.data($0)] } + match.keyValues.map { [Key.keyValue($0)] }
        choices += [match.apps.map(Key.app), match.providers.map(Key.provider)].filter { !$0.isEmpty }
        func most(_ keys: [Key]) -> Int { keys.map(count).max() ?? 0 }
        return choices.min { most($0) < most($1) } ?? [.nothing]
    }

    private func count(_ key: Key) -> Int { places[key]?.count ?? 0 }
}

/// The conditions of a match as bits, several conditions to a bit: a quick answer for most pairs that do not cover each
/// other.
private struct Signature {
    /// The bits of the conditions that must all hold.
    private let conditions: UInt64
    /// The bits of the entries of each list; all bits for an empty list, which is no condition.
    private let lists: SIMD4<UInt64>

    init(_ match: RouteMatch) {
        func bits(_ values: [some Hashable]) -> UInt64 {
            values.reduce(0) { $0 | 1 << (UInt64(truncatingIfNeeded: $1.hashValue) & 63) }
        }
        func list(_ values: [some Hashable]) -> UInt64 { values.isEmpty ? .max : bits(values) }
        conditions = bits(match.data) | bits(match.keyValues)
        lists = SIMD4(list(match.providers), list(match.platforms), list(match.callbacks), list(match.apps))
    }

    /// Returns false only if a match with this signature covers no match with the other.
    func mayCover(_ other: Signature) -> Bool {
        conditions & ~other.conditions == 0 && other.lists & ~lists == .zero
    }
}

extension Route {
    /// Returns why the route never runs for the providers that it names; `nil` if it may run, or the answer is unknown.
    func reasonNeverCalled(providers: [ProviderRule]) -> String? {
        guard !observes, !match.providers.isEmpty, !match.isOnlyBroadcast else { return nil }
        var receivers: [String] = []
        for name in match.providers {
            guard let provider = providers.first(where: { $0.name == name }) else { return nil }
            if provider.purpose == .uninstallProbe { continue }
            let rules = provider.platforms.filter { match.platforms.isEmpty || match.platforms.contains($0.key) }.values
            guard !rules.isEmpty, rules.allSatisfy({ $0.entry == .ownReceiver }) else { return nil }
            receivers.append(provider.title)
        }
        if receivers.isEmpty { return "this route never runs: such a payload only tests whether the app is installed" }
        return "this route never runs: the SDK of \(alternatives(receivers)) takes the message itself, "
            + "and a handler that showed it would show it twice"
    }
}

extension RouteMatch {
    /// Returns whether this match includes all that `other` matches. `false` may also mean that the answer is unknown.
    func covers(_ other: RouteMatch) -> Bool {
        Self.list(providers, covers: other.providers)
            && Self.list(platforms, covers: other.platforms)
            && Self.list(callbacks, covers: other.callbacks)
            && Self.list(apps, covers: other.apps)
            && Set(data).isSubset(of: other.data)
            && Set(keyValues).isSubset(of: other.keyValues)
    }

    /// The reason why no matched platform has a matched callback; `nil` if one has.
    var reasonNeverCalledBack: String? {
        guard !platforms.isEmpty, !callbacks.isEmpty,
            !callbacks.contains(where: { callback in platforms.contains { callback.platforms.contains($0) } })
        else { return nil }
        let names = platforms.map(\.name).joined(separator: " and ")
        let owners = Platform.allCases.filter { platform in callbacks.contains { $0.platforms.contains(platform) } }
        return "this route never runs: Callback=\(callbacks.map(\.rawValue).joined(separator: " ")) is of "
            + "\(owners.map(\.name).joined(separator: " and ")), and Platform= names \(names)"
    }

    /// Whether it matches only broadcast callbacks, which every matching route gets.
    var isOnlyBroadcast: Bool { !callbacks.isEmpty && callbacks.allSatisfy(\.isBroadcast) }

    /// Whether it matches no broadcast callback.
    var isNeverBroadcast: Bool { !callbacks.isEmpty && !callbacks.contains(where: \.isBroadcast) }

    /// Returns whether one list includes the other. An empty list is no condition; otherwise one entry must match.
    private static func list<Element: Hashable>(_ mine: [Element], covers other: [Element]) -> Bool {
        mine.isEmpty || !other.isEmpty && Set(other).isSubset(of: mine)
    }
}

extension Callback {
    /// The platforms that call it.
    fileprivate var platforms: [Platform] {
        switch self {
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .onNewToken, .onRegistered,
            .onUnregistered:
            [.android]
        case .didReceiveRemoteNotification, .willPresent, .didReceiveResponse, .serviceExtension, .didRegister: [.ios]
        case .push, .notificationclick, .notificationclose: [.web]
        case .none: Platform.allCases
        }
    }
}
