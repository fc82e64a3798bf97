import PushModel
import PushRouter

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
