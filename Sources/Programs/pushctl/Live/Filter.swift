import PushModel
import Store

/// The filter of outcomes and events; `nil` matches any value.
struct Filter {
    private let handler: String?
    private let route: String?
    private let provider: String?
    private let platform: Platform?
    private let app: String?
    private let outcomes: [Outcome]?
    private let callback: Callback?

    /// - Throws: a usage error for an unknown outcome.
    init(_ arguments: Arguments) throws(Failure) {
        handler = arguments[.followedHandler]
        route = arguments[.followedRoute]
        provider = arguments[.followedProvider]
        platform = arguments.word(.platform, Platform.self)
        app = arguments[.app]
        outcomes = try arguments.list(.followedOutcome, Outcome.self)
        callback = arguments.word(.followedCallback, Callback.self)
    }

    /// Whether events can match: they have no handler, route, provider, outcome or callback.
    var takesEvents: Bool {
        handler == nil && route == nil && provider == nil && outcomes == nil && callback == nil
    }

    func takes(_ row: LedgerRow) -> Bool {
        guard let invocation = row.invocation else { return false }
        return Self.takes(invocation.handler, handler) && Self.takes(invocation.route, route)
            && Self.takes(invocation.provider, provider) && Self.takes(row.platform, platform)
            && Self.takes(row.app, app) && takes(invocation.result?.outcome)
            && Self.takes(invocation.callback, callback)
    }

    func takes(_ event: AnalyticsEvent) -> Bool {
        takesEvents && Self.takes(event.platform, platform) && Self.takes(event.appID, app)
    }

    private func takes(_ outcome: Outcome?) -> Bool { outcomes.map { outcome.map($0.contains) ?? false } ?? true }

    private static func takes<Value: Equatable>(_ value: Value?, _ wanted: Value?) -> Bool {
        wanted == nil || value == wanted
    }
}
