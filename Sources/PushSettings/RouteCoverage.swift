import PushModel
import PushRouting

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
