import PushModel

extension Router {
    /// Hands an interaction with a Braze notification to the tracker, and routes any other like a delivery.
    ///
    /// - Parameter read: the delivery that ``deliveryToRead(for:)`` asked for, if any.
    /// - Returns: the number of invocations.
    mutating func interact(
        _ interact: InteractRequest, _ request: Request, _ read: PastDelivery?, from peer: Peer, at now: Moment,
        _ effects: inout Effects
    ) throws(Refusal) -> Int {
        if case .delivery(let seq) = interact.subject, seq > lastNumber || seq.value < 1 {
            throw .unknownNumber(seq, last: lastNumber)
        }
        var target = interact.target
        let known = memory.devices.known(target.device, app: target.app)
        let subject: InteractionSubject
        do {
            let platform = target.platform ?? read?.accepted.platform ?? known?.platform ?? .android
            subject = try InteractionSubject(
                interact, read, platform: platform, tracker: memory.tracker, detection: table.detection)
        } catch {
            throw .invalidPayload(field: error.field, message: error.message)
        }
        let (delivery, past) = (subject.delivery, subject.past)
        let platform = target.platform ?? delivery?.platform ?? past?.accepted.platform ?? known?.platform ?? .android
        target.app = target.app ?? delivery?.app ?? past?.accepted.app
        target.device = target.device ?? delivery?.device ?? past?.accepted.device
        target.externalID = target.externalID ?? memory.devices.known(target.device, app: target.app)?.externalID
        let act = UserAct(interact.kind, action: interact.action, text: interact.text)
        let decision = decide(
            act, on: subject.facts.handedBack, of: subject.provider, platform: platform, rules: table.interaction)
        try checkInvocations(of: [decision.callback]) { [app = target.app] in
            RouteFacts(provider: subject.provider, platform: platform, callback: $0, app: app, keys: subject.keys)
        }
        if subject.tracked == nil, decision.outcome == nil {
            try checkQueues(for: [decision.callback], at: now) { [app = target.app] in
                RouteFacts(
                    provider: subject.provider, platform: platform, callback: $0, app: app, keys: subject.keys)
            }
        }
        let accepted = accept(
            request, from: peer, at: now, platform: platform, target: target,
            messageID: subject.facts.messageID ?? delivery?.messageID ?? past?.accepted.messageID)
        effects.record(accepted)
        memory.devices.remember(accepted, &effects)

        var arrival = Arrival(
            accepted, subject: InvocationSubject(request, past: past), provider: subject.provider,
            keys: subject.keys.read(for: table), lane: nil)
        if let outcome = decision.outcome {
            let row = arrival.row(decision.callback, budget: table.budget)
            let reason = decision.reasons.last?.ofOutcome
            concludeAtOnce(row, of: arrival, outcome, because: reason, at: now, &effects)
            return arrival.count
        }
        let time = request.at ?? now.wall
        let facts = TrackFacts(
            act: act, provider: subject.provider, campaignID: subject.facts.campaignID, messageID: accepted.messageID,
            platform: platform, app: accepted.app, device: accepted.device, externalID: accepted.externalID,
            keys: subject.facts.keys.read(for: table))
        if subject.tracked != nil, platform.appMayLackSDK, interact.sdk == .missing {
            let row = arrival.row(decision.callback, budget: table.budget)
            let reason = RouterReason.noBrazeInstance.ofOutcome()
            concludeAtOnce(row, of: arrival, .sdkNotReady, because: reason, at: now, &effects)
            startSession(act, accepted, at: time, now: now, &effects)
        } else if let name = subject.tracked {
            let row = arrival.row(decision.callback, budget: table.budget)
            let interaction = Interaction(name, act, accepted, at: time)
            let result = memory.track(at: now, &effects) { $0.interact(interaction, now: now.wall, into: &$1) }
            if !table.tracks.isEmpty, subject.isNews(result, of: interaction, memory.tracker) {
                queueTracks(facts, of: accepted, at: time, now: now, &effects)
            }
            let completion = arrival.completions(decision.callback, table).byTracker()
            concludeAtOnce(
                row, of: arrival, .handedToTracker, because: result.reason(act, grace: table.tracking.grace),
                completion: completion, at: now,
                &effects)
        } else {
            queueTracks(facts, of: accepted, at: time, now: now, &effects)
            route(decision.callback, &arrival, at: now, &effects)
            startSession(act, accepted, at: time, now: now, &effects)
        }
        copy([decision.callback], &arrival, at: now, &effects)
        return arrival.count
    }

    /// Starts a session: a tap opens the app, whatever the notification's provider (T8).
    private mutating func startSession(
        _ act: UserAct, _ accepted: AcceptedRequest, at time: WallTime, now: Moment, _ effects: inout Effects
    ) {
        guard act == .opened else { return }
        let source = TrackerSource(accepted, at: time)
        memory.track(at: now, &effects) { $0.session(.start, source, now: now.wall, into: &$1) }
    }
}

extension Interaction {
    fileprivate init(_ name: Subject, _ act: UserAct, _ accepted: AcceptedRequest, at time: WallTime) {
        let tracked: Act =
            switch act {
            case .opened: .opened
            case .button(let id, _): .button(id)
            case .dismissed: .dismissed
            }
        self.init(
            cause: accepted.seq, subject: name, act: tracked, platform: accepted.platform, app: accepted.app,
            device: accepted.device, externalID: accepted.externalID, at: time)
    }
}

extension InteractionResult {
    /// Returns the reason of the outcome from the tracker's verdict.
    ///
    /// - Parameter grace: the time for which an interaction waits for its delivery.
    fileprivate func reason(_ act: UserAct, grace: Duration) -> OutcomeReason {
        let it = delivery.map { "delivery \($0)" } ?? "its delivery"
        let time = "\(grace.milliseconds.inWords) (Grace=)"
        return switch verdict {
        case nil where otherwise == .duplicate:
            .init(.heldForDelivery, "\(it) was already opened; waiting up to \(time) for another push that matches")
        case nil where otherwise == .elsewhere:
            .init(.heldForDelivery, "\(it) went to another device or app; waiting up to \(time) for one that matches")
        case nil: .init(.heldForDelivery, "no matching push yet; waiting up to \(time)")
        case .opened where !wasDisplayed:
            .init(
                .openedNotDisplayed,
                "direct open of \(it), which was never displayed")
        case .opened: .init(.directOpen, "direct open of \(it)")
        case .closed: .init(.closeButton, "a button closed \(it): a click, not a direct open")
        case .duplicate where act == .opened: .init(.openedBefore, "not counted: \(it) was already opened")
        case .duplicate:
            .init(.openedOrClosedBefore, "not counted: \(it) was already opened, or already closed by this button")
        case .unattributed:
            .init(
                .unattributedOpen,
                "unattributed: \(it) has no campaign id"
                    + (wasDisplayed ? "" : ", and was never displayed"))
        case .dismissed:
            .init(
                .notificationDismissed, "dismissed: not an open; a later session can still count as an influenced open")
        case .unknownAction: .init(.buttonNotInPayload, "not counted: \(it) has no such button")
        case .elsewhere: .init(.deliveredElsewhere, "not counted: \(it) went to another device or app")
        case .unmatched: .init(.unmatched, "unmatched: the limit of taps that wait for one push is reached")
        }
    }
}

extension Int64 {
    /// Milliseconds for people, as whole seconds if possible.
    fileprivate var inWords: String { self % 1000 == 0 ? "\(self / 1000) s" : "\(self) ms" }
}
