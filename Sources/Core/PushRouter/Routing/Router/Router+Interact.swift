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

/// The facts about a notification, from the interaction itself or from its delivery's request.
struct NotificationFacts {
    /// The provider of the payload; `nil` if it has none or is unknown.
    private(set) var provider: String?
    /// The message id that the interaction names.
    private(set) var messageID: String?
    /// The payload that the platform hands back; `nil` if it is unknown.
    private(set) var handedBack: HandedBackPayload?
    /// The campaign id of a Braze payload; `nil` if it has none.
    private(set) var campaignID: String?
    /// The keys of the delivered payload, as far as they are known.
    private(set) var keys: PayloadKeys?
    /// Whether the notification has a button with an id; `nil` unless it is Braze's and its payload is known.
    private(set) var hasButton: ((String) -> Bool)?

    /// - Parameters:
    ///   - interact: the interaction.
    ///   - past: the delivery that the interaction names, if the ledger's request was read.
    ///   - platform: the platform that hands back the payload.
    ///   - detection: the rules that find the provider.
    /// - Throws: `PayloadError` if the payload in the interaction is invalid.
    init(
        _ interact: InteractRequest, _ past: PastDelivery?, platform: Platform, detection: DetectionSettings
    ) throws(PayloadError) {
        switch interact.subject {
        case .delivery: break
        case .message(let id): messageID = id
        case .payload(let payload):
            let handedBack = try HandedBackPayload(payload, platform: platform, settings: detection)
            (provider, messageID) = (handedBack.provider, handedBack.messageID)
            self.handedBack = handedBack
        }
        if let past {
            provider = past.provider
            // A platform that hands back the delivered payload: the payload was readable when the delivery was
            // accepted.
            if past.accepted.platform.handsBackPayload, let payload = past.request?.payload {
                handedBack = try? HandedBackPayload(payload, platform: past.accepted.platform, settings: detection)
            }
        }
        (campaignID, keys) = (handedBack?.campaignID, handedBack?.keys)
        if let handedBack, handedBack.provider == Router.trackedProvider {
            hasButton = { handedBack.action($0) != nil }
        }
        guard keys == nil, let past, let deliver = past.request else { return }
        let decision = try? decide(Delivery(deliver, platform: past.accepted.platform), settings: detection)
        (campaignID, keys) = (decision?.braze?.campaignID, decision?.keys)
        if hasButton == nil, let braze = decision?.braze {
            hasButton = { id in braze.actions.contains { $0.id == id } }
        }
    }
}

/// The delivery that an interaction is about, from the tracker's memory, from the delivery's request, or from the
/// payload.
struct InteractionSubject {
    let facts: NotificationFacts
    /// The delivery in the tracker's memory.
    let delivery: KnownDelivery?
    /// The delivery's request, if the ledger's request was read.
    let past: PastDelivery?
    /// The provider of the payload; `nil` if it has none or is unknown.
    let provider: String?
    /// The name by which the tracker finds the delivery; `nil` for a payload that is surely not Braze's.
    private(set) var tracked: Interaction.Subject?

    /// - Parameter read: the request that ``Router/deliveryToRead(for:)`` asked for, if any.
    init(
        _ interact: InteractRequest, _ read: PastDelivery?, platform: Platform, tracker: Tracker,
        detection: DetectionSettings
    ) throws(PayloadError) {
        var facts = try NotificationFacts(interact, read, platform: platform, detection: detection)
        let name: Interaction.Subject?
        switch interact.subject {
        case .delivery(let seq): name = .delivery(seq)
        case .message(let message): name = .message(message)
        case .payload:
            name =
                facts.messageID.map(Interaction.Subject.message)
                ?? facts.handedBack?.digest.map(Interaction.Subject.payload)
        }
        let target = interact.target
        let delivery = name.flatMap { tracker.delivery(for: $0, app: target.app, device: target.device) }
        var past = read
        // The tracker's memory takes precedence over a request of another delivery.
        if let delivery, let other = past, other.accepted.seq != delivery.seq {
            past = nil
            facts = try NotificationFacts(interact, nil, platform: platform, detection: detection)
        }
        provider = delivery == nil ? facts.provider : Router.trackedProvider
        (self.facts, self.delivery, self.past) = (facts, delivery, past)
        if provider == Router.trackedProvider {
            tracked = name
            guard delivery == nil, let past else { return }
            // The tracker does not remember the repeat of a message (T14); the original has the same message id.
            if let message = past.accepted.messageID {
                tracked = .message(message)
            } else if let handedBack = facts.handedBack, let digest = handedBack.digest {
                tracked = .payload(digest)
            }
        } else if past == nil, facts.handedBack == nil {
            tracked = name
        }
    }

    /// The keys that routes match: those of the payload that the platform hands back.
    var keys: PayloadKeys? { facts.handedBack?.keys }

    /// Whether the interaction is the first of its kind on an existing notification: tracks apply only to such an
    /// interaction.
    func isNews(_ result: InteractionResult, of interaction: Interaction, _ tracker: Tracker) -> Bool {
        switch result.verdict {
        case .opened, .closed, .unattributed, .dismissed: return true
        case .duplicate, .unknownAction, .elsewhere, .unmatched: return false
        case nil:
            // Tracks do not wait for the end of the grace period, so this checks the parts of the verdict that are
            // known now.
            if case .button(let id) = interaction.act, let hasButton = facts.hasButton, !hasButton(id) { return false }
            return !tracker.isHeldInVain(interaction)
        }
    }
}
