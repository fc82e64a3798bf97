import PushDispatch
import PushModel
import PushRouting

extension Route {
    /// Why the route never runs for any payload of the providers it names; `nil` when it may, or cannot be told.
    func reasonNeverCalled(providers: [ProviderRule]) -> String? {
        guard !observes, !match.providers.isEmpty, !match.isOnlyBroadcast else { return nil }
        var titles: [String] = []
        for name in match.providers {
            guard let provider = providers.first(where: { $0.name == name }) else { return nil }
            let rules = provider.platforms.filter { match.platforms.isEmpty || match.platforms.contains($0.key) }.values
            guard !rules.isEmpty else { return nil }
            guard provider.purpose == .uninstallProbe || rules.allSatisfy({ $0.entry == .ownReceiver }) else {
                return nil
            }
            titles.append(provider.title)
        }
        return "this route never runs: the SDK of \(alternatives(titles)) takes these payloads itself, and a handler "
            + "that showed them would show them twice; Observe=yes gets a copy"
    }
}

extension RouteMatch {
    /// Whether all that `other` matches is matched by this too. `false` may also mean that it cannot be told.
    func covers(_ other: RouteMatch) -> Bool {
        Self.list(providers, covers: other.providers)
            && Self.list(platforms, covers: other.platforms)
            && Self.list(callbacks, covers: other.callbacks)
            && Self.list(apps, covers: other.apps)
            && Set(data).isSubset(of: other.data)
            && Set(keyValues).isSubset(of: other.keyValues)
    }

    /// Whether it matches only callbacks of which every matching route gets one.
    var isOnlyBroadcast: Bool { !callbacks.isEmpty && callbacks.allSatisfy(\.isBroadcast) }

    /// Whether it matches no callback of that kind.
    var isNeverBroadcast: Bool { !callbacks.isEmpty && !callbacks.contains(where: \.isBroadcast) }

    /// An empty list is no condition; one with entries holds when one of them does.
    private static func list<Element: Hashable>(_ mine: [Element], covers other: [Element]) -> Bool {
        mine.isEmpty || !other.isEmpty && Set(other).isSubset(of: mine)
    }
}

extension Callback {
    /// Whether it goes to every route that matches, not only to the first: each SDK must hear it.
    fileprivate var isBroadcast: Bool {
        switch self {
        case .onNewToken, .onRegistered, .onUnregistered, .didRegister, .onDeletedMessages: true
        default: false
        }
    }
}
