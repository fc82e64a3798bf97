public import PushDispatch
public import PushModel
import PushTracking

/// What would happen to one delivery and why, decided as the router decides it, without anything happening.
public struct Explanation: Sendable {
    /// One callback that the platform would run, and who would get it.
    public struct Invocation: Hashable, Sendable {
        /// The callback and its owner.
        public var planned: PlannedInvocation
        /// Whether it is the copy of an observing route.
        public var isObserver = false
        /// The first route that matches; of what every SDK must hear, one of those; `nil` for the tracker, and when none
        /// does.
        public var route: String?
        /// The conditions of that route, as its file has them. Empty: it matches everything.
        public var conditions: [String] = []
        /// That route's handler.
        public var handler: String?
        /// How it ends, where that is known before any handler runs; `nil`: as its handler says.
        public var outcome: Outcome?
        /// The time it has.
        public var budget: Duration
        /// When that handler gets nothing for a while; `nil`: never.
        public var breaker: BreakerRules?
        /// The route that has it then; `nil`: none, and it fails.
        public var routeWhileOpen: String?
    }

    /// The platform the payload was taken for.
    public let platform: Platform
    /// What the app was doing.
    public let state: AppState
    /// In whose place the router stands.
    public let mode: DispatchMode
    /// What the platform does, and whose payload it is.
    public let decision: Decision
    /// The callbacks in the order in which the platform would run them.
    public let invocations: [Invocation]
    /// What a tap on it counts as.
    public let tap: Tap
    /// Whether a session that starts after it counts as its influenced open.
    public let countsForInfluencedOpen: Bool
    /// What the tracks make of its receipt, checked as the daemon checks it before it queues it.
    public let tracked: [TrackedData]
    /// What the tracks would make of a tap, of each button and of a dismissal, where that is anything.
    public let trackedActs: [TrackedAct]
    /// The routes that were asked and do not match, in the order in which they were asked.
    public let unmatchedRoutes: [UnmatchedRoute]
    /// Why, in order, for people: what the platform does first, then what the router does.
    public let reasons: [String]
    /// The same for programs: the code of each reason, in their order.
    public let reasonCodes: [ReasonCode]
    /// What a reviewer would say, for people.
    public let warnings: [String]
    /// What the rules of the providers say to people about this payload.
    public let remarks: [String]

    /// Explains a delivery.
    ///
    /// - Parameters:
    ///   - deliver: the delivery.
    ///   - platform: its platform; nobody knows here what the device last was.
    ///   - table: the configuration that it would meet.
    /// - Throws: `PayloadError` for a payload that would be refused.
    public init(
        _ deliver: DeliverRequest, platform: Platform, table: RoutingTable
    ) throws(PayloadError) {
        let decision = try decide(Delivery(deliver, platform: platform), settings: table.detection)
        self.platform = platform
        self.decision = decision
        state = deliver.state
        mode = table.mode
        let rehearsal = Rehearsal(deliver, decision, platform: platform, table: table)
        tap = Tap(decision, rehearsal?.verdict)
        countsForInfluencedOpen = rehearsal?.influencesSession == true
        invocations = Self.invocations(
            of: decision, platform: platform, sdkIsMissing: deliver.sdk == .missing, table: table)
        let facts = TrackFacts(
            receiving: decision, messageID: decision.messageID, platform: platform, device: deliver.target.device,
            externalID: deliver.target.externalID)
        tracked = facts.map(table.tracked)?.flatMap { $0.checked(table.customData, platform) } ?? []
        let added =
            Self.routing(invocations)
            + Self.tracking(decision, table.tracking)
        reasons = decision.reasons.map(\.description) + added.map(\.text)
        reasonCodes = decision.reasons.map(\.code) + added.map(\.code)
        trackedActs = Self.trackedActs(deliver, decision, platform, table)
        unmatchedRoutes = Self.unmatchedRoutes(decision, platform: platform, table: table)
        remarks = table.detection.remarks(on: decision)
        let passedOver = decision.outcome == .ownReceiver ? table.routes(naming: decision.provider, on: platform) : []
        warnings =
            decision.warnings.map(\.description)
            + passedOver.map {
                "the route \($0.name) names \(decision.provider ?? ""), whose own receiver takes the message: the route never runs, "
                    + "and a handler that showed the message would show it twice"
            }
    }

    /// The owners' invocations in the order in which the platform would call, then the observers'.
    private static func invocations(
        of decision: Decision, platform: Platform, sdkIsMissing: Bool, table: RoutingTable
    ) -> [Invocation] {
        var owners: [Invocation] = []
        var observers: [Invocation] = []
        for planned in decision.invocations {
            let facts = RouteFacts(
                provider: decision.provider, platform: platform, callback: planned.callback, app: decision.app,
                keys: decision.keys)
            let routes = planned.owner == .route || planned.callback.isBroadcast ? table.owners(of: facts) : []
            if planned.owner == .tracker || routes.isEmpty {
                let isLate = sdkIsMissing && platform.mayLackInstance(for: planned.callback)
                let outcome: Outcome = planned.owner == .route ? .unrouted : isLate ? .sdkNotReady : .handedToTracker
                owners.append(Invocation(planned: planned, outcome: outcome, budget: table.budget))
            }
            let routed = PlannedInvocation(callback: planned.callback, owner: .route)
            owners += routes.map { route in
                Invocation(routed, route: route, table: table).withBreaker(of: table, for: facts)
            }
            observers += table.observers(of: facts).map { Invocation(routed, route: $0, table: table) }
        }
        return owners + observers
    }

    /// What the router adds where an invocation does not simply reach its owner.
    private static func routing(_ invocations: [Invocation]) -> [OutcomeReason] {
        invocations.compactMap { invocation in
            let callback = invocation.planned.callback.rawValue
            switch invocation.outcome {
            case .sdkNotReady:
                return OutcomeReason(
                    .noBrazeInstance,
                    "\(callback): the app has no Braze instance, so it ends as sdk_not_ready: Braze does not see this call; a later tap is counted"
                )
            case .unrouted:
                return OutcomeReason(.noRouteMatches, "\(callback): no route matches, so it ends as unrouted")
            default: return nil
            }
        }
    }

    /// What the tracker's settings take from a push that it takes over.
    private static func tracking(_ decision: Decision, _ rules: TrackerRules) -> [OutcomeReason] {
        guard decision.received, !rules.emitsCampaignEvents(for: decision.app) else { return [] }
        let app = decision.app.map { "the app \($0)" } ?? "a push that names no app"
        return [
            OutcomeReason(
                .campaignEventsOff,
                "[Tracker] CampaignEventsOff= matches \(app): its own SDK logs opens, so the tracker gives no event for an open, "
                    + "an influenced open or a push in the foreground: each would count twice")
        ]
    }
}

extension Explanation.Invocation {
    fileprivate init(_ planned: PlannedInvocation, route: Route, table: RoutingTable) {
        self.init(
            planned: planned, isObserver: route.observes, route: route.name, conditions: route.match.conditions,
            handler: route.handler, budget: min(route.budget ?? table.budget, table.budget))
    }

    /// The same with what becomes of it while the breaker of its handler is open.
    fileprivate func withBreaker(of table: RoutingTable, for facts: RouteFacts) -> Explanation.Invocation {
        guard table.mode == .relay, let handler, let breaker = table.handlers[handler]?.breaker else { return self }
        var explained = self
        explained.breaker = breaker
        if !facts.callback.isBroadcast, let position = table.routes.firstIndex(where: { $0.name == route }) {
            let next = table.positions(for: facts, observing: false).first {
                $0 > position && table.routes[$0].handler != handler
            }
            explained.routeWhileOpen = next.map { table.routes[$0].name }
        }
        return explained
    }
}

extension RoutingTable {
    /// The routes that ask for payloads of a provider by its name, to handle them.
    fileprivate func routes(naming provider: String?, on platform: Platform) -> [Route] {
        guard let provider else { return [] }
        return routes.filter { route in
            !route.observes && route.match.providers.contains(provider)
                && (route.match.platforms.isEmpty || route.match.platforms.contains(platform))
        }
    }
}
