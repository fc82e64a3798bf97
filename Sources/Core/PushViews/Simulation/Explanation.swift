public import PushModel
public import PushRouter

/// An explanation of one delivery: the router's decisions and their reasons, without any effect.
public struct Explanation: Sendable {
    /// A callback that the platform would run, and its receiver.
    public struct Invocation: Hashable, Sendable {
        /// The callback and its owner.
        public var planned: PlannedInvocation
        /// Whether it is the copy for an observing route.
        public var isObserver = false
        /// The first matching route, or one of several for a broadcast; `nil` for the tracker, or if no route matches.
        public var route: String?
        /// The conditions of that route, as its file has them. Empty: it matches everything.
        public var conditions: [String] = []
        /// That route's handler.
        public var handler: String?
        /// The outcome if it is known before any handler runs; `nil`: the handler decides.
        public var outcome: Outcome?
        /// The time limit of the invocation.
        public var budget: Duration
        /// The breaker of the handler; `nil`: none.
        public var breaker: BreakerRules?
        /// The route that gets the invocation while the breaker is open; `nil`: none, and the invocation fails.
        var routeWhileOpen: String?
    }

    /// The platform of the delivery.
    public let platform: Platform
    /// The state of the app.
    public let state: AppState
    /// The mode, `device` or `relay`.
    public let mode: DispatchMode
    /// The platform's decision and the provider.
    public let decision: Decision
    /// The notification as the user sees it.
    public let shown: ShownNotification
    /// The callbacks in the order of the platform's calls.
    public let invocations: [Invocation]
    /// The effect of a tap on the counts.
    public let tap: Tap
    /// Whether a session after it counts as its influenced open.
    let countsForInfluencedOpen: Bool
    /// The tracks' entries for the receipt, checked as the daemon checks them before queueing.
    let tracked: [TrackedData]
    /// The tracks' entries for a tap, each button and a dismissal, if any.
    let trackedActs: [TrackedAct]
    /// The routes that were tested and do not match, in the order of the tests.
    let unmatchedRoutes: [UnmatchedRoute]
    /// The reasons for people, in order: the platform's first, then the router's.
    public let reasons: [String]
    /// The codes of the reasons, in the same order.
    let reasonCodes: [ReasonCode]
    /// Warnings about the payload, for people.
    public let warnings: [String]
    /// Remarks of the providers' rules and of the platform on this payload, for people.
    public let remarks: [String]

    /// Explains a delivery.
    ///
    /// - Parameters:
    ///   - deliver: the delivery.
    ///   - platform: its platform; the explanation does not know the device's last one.
    ///   - table: the configuration.
    /// - Throws: `PayloadError` for a payload that would be refused.
    public init(
        _ deliver: DeliverRequest, platform: Platform, table: RoutingTable
    ) throws(PayloadError) {
        let decision = try decide(Delivery(deliver, platform: platform), settings: table.detection)
        self.platform = platform
        self.decision = decision
        shown = ShownNotification(decision, deliver.payload, notifications: deliver.notifications)
        state = deliver.state
        mode = table.mode
        let rehearsal = Rehearsal(deliver, decision, platform: platform, table: table)
        tap = Tap(decision, rehearsal)
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
        unmatchedRoutes = UnmatchedRoute.all(decision, platform: platform, table: table)
        remarks = table.detection.remarks(on: decision) + decision.remarks.map(\.description)
        let passedOver = decision.outcome == .ownReceiver ? table.routes(naming: decision.provider, on: platform) : []
        warnings =
            decision.warnings.map(\.description)
            + passedOver.map {
                "the route \($0.name) names \(decision.provider ?? ""), whose own receiver takes the message: the route never runs, "
                    + "and a handler that showed the message would show it twice"
            }
    }

    /// Returns the owners' invocations in the order of the platform's calls, then the observers'.
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
        if decision.invocations.isEmpty {
            for callback in table.interaction.observed(decision) {
                let facts = RouteFacts(
                    provider: decision.provider, platform: platform, callback: callback, app: decision.app,
                    keys: decision.keys)
                let copied = PlannedInvocation(callback: callback, owner: .route)
                observers += table.observers(of: facts).map { Invocation(copied, route: $0, table: table) }
            }
        }
        return owners + observers
    }

    /// Returns the router's reasons for invocations that do not simply reach their owners.
    private static func routing(_ invocations: [Invocation]) -> [OutcomeReason] {
        invocations.compactMap { invocation in
            let callback = invocation.planned.callback.rawValue
            switch invocation.outcome {
            case .sdkNotReady:
                return OutcomeReason(
                    .noBrazeInstance,
                    "\(callback): the app has no Braze instance, so it ends as sdk_not_ready: Braze does not see this call"
                )
            case .unrouted:
                return OutcomeReason(.noRouteMatches, "\(callback): no route matches, so it ends as unrouted")
            default: return nil
            }
        }
    }

    /// Returns a reason if the tracker's settings suppress events of this push.
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

    /// Returns the invocation with its handler's breaker and the route while that is open.
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
    /// Returns the routes that name a provider in `Provider=` and do not observe.
    fileprivate func routes(naming provider: String?, on platform: Platform) -> [Route] {
        guard let provider else { return [] }
        return routes.filter { route in
            !route.observes && route.match.providers.contains(provider)
                && (route.match.platforms.isEmpty || route.match.platforms.contains(platform))
        }
    }
}

extension Explanation {
    /// The entries that the tracks would make of a person's act on the notification.
    struct TrackedAct: Sendable {
        /// The act.
        public var act: UserAct
        /// The entries to be queued or rejected; never empty.
        public var entries: [TrackedData]
    }

    /// Returns each possible act on the notification that leads to a track's entry. It knows only the payload's own
    /// buttons.
    static func trackedActs(
        _ deliver: DeliverRequest, _ decision: Decision, _ platform: Platform, _ table: RoutingTable
    ) -> [TrackedAct] {
        guard !table.tracks.isEmpty, decision.mayBeShown else { return [] }
        let handedBack = try? HandedBackPayload(deliver.payload, platform: platform, settings: table.detection)
        var buttons: Set<String> = []
        let ids = decision.braze?.actions.compactMap(\.id).filter { buttons.insert($0).inserted } ?? []
        let acts = [UserAct.opened] + ids.map { .button(id: $0, text: nil) } + [.dismissed]
        return acts.compactMap { act in
            // A platform that hands back other data than the delivered payload needs none for the decision.
            let interaction = decide(
                act, on: platform.handsBackPayload ? handedBack : nil, of: decision.provider, platform: platform,
                rules: table.interaction)
            guard interaction.outcome == nil else { return nil }
            let facts = TrackFacts(
                act: act, provider: decision.provider, campaignID: decision.braze?.campaignID,
                messageID: decision.messageID, platform: platform, app: decision.app,
                device: deliver.target.device, externalID: deliver.target.externalID, keys: decision.keys)
            let entries = table.tracked(facts).flatMap { $0.checked(table.customData, platform) }
            return entries.isEmpty ? nil : TrackedAct(act: act, entries: entries)
        }
    }
}

extension Decision {
    /// Whether the person may see a notification to act on.
    var mayBeShown: Bool {
        if braze != nil { return displayed }
        guard providers.first?.provider.purpose != .uninstallProbe else { return false }
        if let outcome { return outcome.mayBeShown }
        // A push that only wakes an iOS app shows nothing.
        let isSilent = callbacks == [.didReceiveRemoteNotification] && !reasons.contains(.alertShownToo)
        return !isSilent && !callbacks.allSatisfy(\.isBroadcast)
    }
}

extension UserAct {
    /// The occasion in the words of `On=`, and the button.
    var track: (occasion: TrackRule.Occasion, button: String?) {
        switch self {
        case .opened: (.opened, nil)
        case .button(let id, _): (.action, id)
        case .dismissed: (.dismissed, nil)
        }
    }
}

/// The effect of a tap on the counts of opens, as the router and the tracker decide it.
public struct Tap: Hashable, Sendable {
    /// Whether there may be a notification to tap.
    let isPossible: Bool
    /// The tracker's verdict; `nil` if the push is not Braze's, or cannot be tapped.
    public let verdict: Interaction.Verdict?
    /// The campaign of a Braze push; `nil` if it has none.
    public let campaignID: String?
    /// Whether the system shows the push and Braze's SDK never sees it.
    private let isLost: Bool
    /// Whether the app has no Braze instance when the tap comes.
    private let lacksInstance: Bool
    /// Whether the session that the tap starts counts.
    private let sessionCounts: Bool

    init(_ decision: Decision, _ rehearsal: Rehearsal?) {
        let verdict = rehearsal?.verdict
        lacksInstance = rehearsal?.lacksInstance == true
        sessionCounts = rehearsal?.influencesSession == true
        isPossible = decision.mayBeShown || decision.outcome == .shownBySystem
        self.verdict = isPossible ? verdict : nil
        campaignID = decision.braze?.campaignID
        isLost = decision.losesOpen
    }

    /// Whether the tap counts as a direct open of a campaign.
    var isDirectOpen: Bool { verdict == .opened }

    /// Whether it is a person's open that Braze does not count.
    var isLoss: Bool {
        isPossible && (lacksInstance || isLost && verdict.map { ![.opened, .unattributed].contains($0) } ?? false)
    }

    /// The verdict in words, for people.
    public var text: String {
        guard isPossible else { return "cannot be tapped" }
        if lacksInstance {
            return "lost: the app has no Braze instance"
                + (sessionCounts ? "; its session counts as an influenced open" : "")
        }
        switch verdict {
        case nil: return "no open of Braze's"
        case .opened: return "direct open" + (campaignID.map { " of campaign \($0)" } ?? "")
        case .unattributed: return "an open without a campaign"
        case .unmatched, .elsewhere, .duplicate, .closed, .dismissed, .unknownAction:
            return isLost ? "lost: Braze never saw it" : "not counted"
        }
    }
}

extension JSONWriter {
    /// Writes the members of the object `tap`.
    mutating func members(of tap: Tap) {
        member("possible", tap.isPossible)
        member("verdict", tap.verdict?.rawValue)
        member("campaign_id", tap.isDirectOpen ? tap.campaignID : nil)
    }
}

extension TrackedData {
    /// Returns the entry after the daemon's checks: unchanged, or with a fault. Each faulty attribute becomes an entry
    /// of its own, after the entry with the valid ones.
    func checked(_ rules: CustomDataRules, _ platform: Platform) -> [TrackedData] {
        guard fault == nil, let identifier else { return [self] }
        // The custom data is empty: the free room varies from day to day, and is not part of the explanation.
        var customData = CustomData(stateID: UUID128(high: 0, low: 0), rules: rules)
        var output = CustomDataOutput()
        let time = WallTime(milliseconds: 0)
        let source = EntrySource(
            cause: SequenceNumber(0), destination: .sent(identifier), platform: platform, app: nil, device: nil,
            externalID: nil, at: time)
        let rejections = customData.log(kind, object, source, now: time, into: &output)
        guard !rejections.isEmpty else { return [self] }
        return output.records.compactMap { record in
            guard case .entry(let entry, _, _) = record else { return nil }
            var part = self
            let rejection = rejections.first { $0.number == entry.number }
            part.fault = rejection?.problem
            if kind != .customEvent, let attributes = attributes(entry.data) { part.object = attributes }
            return part
        }
    }

    /// Returns an object with these attributes; `nil` if there are none.
    private func attributes(_ data: [UInt8]) -> JSONNode? {
        guard !data.isEmpty else { return nil }
        var writer = JSONWriter(reserving: data.count + 16)
        writer.object { $0.member("attributes", raw: data) }
        return try? JSONDocument(scanning: writer.bytes, limits: JSONLimits(depth: .max)).root
    }
}
