import PushModel
import PushRouter
import PushViews
import Store

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

/// A delivery of the ledger that a handler gets once more: the unchanged payload, and its target as the daemon resolved
/// it.
struct PastRequest {
    let seq: SequenceNumber
    let request: Request
    let deliver: DeliverRequest
    let platform: Platform
    /// The callback that the handler ran for, otherwise the first one of any handler; `nil`: no handler ran.
    let callback: Callback?
    /// The request, its target and its outcome, for people.
    let summary: String

    /// - Parameters:
    ///   - story: the request in the ledger.
    ///   - handler: the handler that gets it.
    ///   - zone: the zone of the times.
    /// - Throws: when there is no payload for a handler, with the reason.
    init(_ story: RequestStory, handler: String, zone: LocalZone) throws(Failure) {
        let accepted = story.request
        seq = accepted.seq
        func failure(_ reason: String) -> Failure { Failure(.badData, "request \(accepted.seq): \(reason)") }
        guard !accepted.isErased else {
            throw failure("\"pushctl erase\" removed its payload, so there is no payload for a handler")
        }
        var template = RequestTemplate(platform: accepted.platform.rawValue)
        template.add("app", accepted.app, to: [.deliver])
        template.add("device", accepted.device, to: [.deliver])
        template.add("external_id", accepted.externalID, to: [.deliver])
        do {
            let body = try JSONDocument(scanning: accepted.body, limits: JSONLimits(depth: .max))
            request = try Request(acceptedLine: template.line(for: body.root, isAPNs: false))
        } catch {
            throw failure("the ledger is damaged: \(error)")
        }
        guard case .deliver(let deliver) = request.action else {
            throw failure("only a deliver request can be given to a handler; this is \(accepted.operation.rawValue)")
        }
        self.deliver = deliver
        platform = accepted.platform
        let ran = story.invocations.filter { $0.handler != nil && $0.callback.isOfDelivery }
        let invocation = ran.first { $0.handler == handler } ?? ran.first
        callback = invocation?.callback
        let facts: [(String, String?)] = [
            ("app", accepted.app), ("device", accepted.device), ("user", accepted.externalID),
            ("state", deliver.state.rawValue), ("callback", callback?.rawValue),
        ]
        let given = facts.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: ", ")
        summary =
            "given as request \(accepted.seq) of \(zone.text(accepted.acceptedAt.wall, milliseconds: true)) was: \(given)"
            + (invocation.map { "; \($0.end)" } ?? "; no handler got the request")
    }
}

extension InvocationRecord {
    /// The outcome in a few words.
    fileprivate var end: String {
        guard let result else { return "\(handler ?? "-") has the request now" }
        let reason = result.reason.map { ": \($0)" } ?? ""
        return "\(handler ?? "-") ended \(result.outcome.rawValue) after \(result.total.milliseconds) ms\(reason)"
    }
}
