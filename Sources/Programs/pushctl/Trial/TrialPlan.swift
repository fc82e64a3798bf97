import PushModel
import PushRouter
import PushViews

/// The callback, the route and the deadline of a trial.
struct TrialPlan {
    /// The callback.
    let callback: Callback
    /// The only route of the table during the trial.
    let route: Route
    /// The time that the handler has.
    let budget: Duration
    /// Differences from the daemon's decision, for people.
    let remarks: [String]

    /// Finds the callback and the route that lead to a handler under the configuration. Without a route the handler
    /// runs as well, with a remark.
    ///
    /// - Parameters:
    ///   - explanation: the explanation of the payload.
    ///   - handler: the handler's name.
    ///   - isProgram: whether it is a program that need not be in the configuration.
    ///   - asked: the callback of `--callback`; `nil`: the platform's.
    ///   - deadline: the time of `--deadline`; `nil`: as configured.
    ///   - remark: another remark, for people.
    ///   - table: the configuration.
    init(
        _ explanation: Explanation, handler: String, isProgram: Bool, callback asked: Callback?, deadline: Duration?,
        remark: String? = nil, table: RoutingTable
    ) {
        let platformRuns = explanation.invocations
        let own = platformRuns.first {
            $0.handler == handler && (asked == nil || $0.planned.callback == asked)
        }
        let callback = own?.planned.callback ?? asked ?? platformRuns.first?.planned.callback
        self.callback = callback ?? explanation.platform.mainCallback
        let known = table.routes.first { $0.name == own?.route } ?? table.routes.first { $0.handler == handler }
        var route = known ?? Route(name: "run-handler", match: RouteMatch(), handler: handler)
        budget = deadline ?? min(route.budget ?? table.budget, table.budget)
        route.budget = budget
        self.route = route
        let otherwise = own == nil ? Self.remark(explanation, self.callback, known, isProgram: isProgram) : nil
        remarks = [remark, otherwise].compactMap(\.self)
    }

    /// The daemon's decision for a payload that would not go to the handler; `nil` for a program without a handler's
    /// file, which has no route.
    private static func remark(
        _ explanation: Explanation, _ callback: Callback, _ known: Route?, isProgram: Bool
    ) -> String? {
        let route = known.map { ", as by its route \($0.name)" } ?? (isProgram ? "" : ", though no route leads to it")
        let instead: String
        if let outcome = explanation.decision.outcome {
            instead = "the platform would run no callback (\(outcome.rawValue)); see pushctl explain"
        } else if let planned = explanation.invocations.first(where: {
            $0.planned.callback == callback && !$0.isObserver
        }) {
            switch (planned.planned.owner, planned.handler) {
            case (.route, _) where isProgram: return nil
            case (.tracker, _):
                instead = "the daemon would give this payload to the tracker, because the payload is Braze's"
            case (.route, let other?): instead = "the daemon would give this payload to the handler \(other) first"
            case (.route, nil): instead = "no route of the configuration matches this payload"
            }
        } else {
            let callbacks = explanation.invocations.map(\.planned.callback.rawValue)
            instead = "the platform would run \(callbacks.isEmpty ? "nothing" : callbacks.joined(separator: ", "))"
        }
        return "\(instead); the handler nevertheless runs for \(callback.rawValue)\(route)"
    }

    /// The configuration with only this route.
    func applied(to table: RoutingTable) -> RoutingTable {
        var table = table
        table.routes = [route]
        table.budget = budget
        return table
    }
}

extension Callback {
    /// Whether a delivery may lead to this callback; the others belong to interactions and tokens.
    var isOfDelivery: Bool {
        switch self {
        case .onMessageReceived, .onDeletedMessages, .onMessageSent, .onSendError, .didReceiveRemoteNotification,
            .willPresent, .serviceExtension, .push:
            true
        case .onNewToken, .onRegistered, .onUnregistered, .didRegister, .didReceiveResponse, .notificationclick,
            .notificationclose, .none:
            false
        }
    }
}

extension Platform {
    /// The callback of a message that reaches the app.
    fileprivate var mainCallback: Callback {
        switch self {
        case .android: .onMessageReceived
        case .ios: .didReceiveRemoteNotification
        case .web: .push
        }
    }
}
