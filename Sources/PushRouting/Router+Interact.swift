import PushDispatch
import PushModel
import PushTracking

extension Router {
    /// Hands what a person does with a Braze notification to the tracker, and routes the rest like a delivery.
    mutating func interact(
        _ interact: InteractRequest, _ request: Request, _ past: PastDelivery?, from peer: Peer, at now: Moment,
        _ effects: inout [Effect]
    ) throws(Refusal) {
        var target = interact.target
        let known = lastKnown(app: target.app, device: target.device)
        let subject: InteractionSubject
        do {
            let platform = target.platform ?? past?.accepted.platform ?? known?.platform ?? .android
            subject = try InteractionSubject(
                interact, past, platform: platform, tracker: tracker, detection: table.detection)
        } catch {
            throw .invalidPayload(field: error.field, message: error.message)
        }
        let delivery = subject.delivery
        let platform = target.platform ?? delivery?.platform ?? past?.accepted.platform ?? known?.platform ?? .android
        target.app = target.app ?? delivery?.app ?? past?.accepted.app
        target.device = target.device ?? delivery?.device ?? past?.accepted.device
        target.externalID = target.externalID ?? lastKnown(app: target.app, device: target.device)?.externalID
        let accepted = accept(
            request, from: peer, at: now, platform: platform, target: target,
            messageID: subject.messageID ?? delivery?.messageID ?? past?.accepted.messageID)
        effects.append(.record(.request(accepted)))
        remember(accepted, &effects)

        var arrival = Arrival(
            accepted, subject: InvocationSubject(request, past: past), provider: subject.provider,
            keys: subject.handedBack?.keys, lane: nil)
        let act = UserAct(interact.kind, action: interact.action, text: interact.text)
        let decision = decide(
            act, on: subject.handedBack, of: subject.provider, platform: platform, rules: table.interaction)
        if let outcome = decision.outcome {
            let row = arrival.row(decision.callback, budget: table.budget)
            let reason = decision.reasons.last?.description
            return concludeAtOnce(row, of: arrival, outcome, reason: reason, at: now, &effects)
        }
        if subject.provider == Self.trackedProvider {
            let row = arrival.row(decision.callback, budget: table.budget)
            let opens = act == .opened || decision.button.map { $0 != .close } == true
            let reason =
                opens
                ? open(delivery, by: target.externalID, cause: accepted.seq, at: request.at ?? now.wall, &effects)
                : decision.reasons.last?.description
            let completion = arrival.completions(decision.callback, table).byTracker()
            concludeAtOnce(
                row, of: arrival, .handedToTracker, reason: reason, completion: completion, at: now, &effects)
        } else if platform == .android, subject.handedBack == nil, past == nil {
            let row = arrival.row(.none, budget: table.budget)
            let reason = "unmatched: no delivery of it is known, so nobody knows whose notification it was"
            return concludeAtOnce(row, of: arrival, .swallowed, reason: reason, at: now, &effects)
        } else {
            route(decision.callback, &arrival, at: now, &effects)
        }
        copy([decision.callback], &arrival, at: now, &effects)
    }

    /// Has the tracker record a tap on the body of a Braze notification; returns what became of it.
    private mutating func open(
        _ delivery: TrackedDelivery?, by user: String?, cause: SequenceNumber, at time: WallTime,
        _ effects: inout [Effect]
    ) -> String {
        guard let delivery else { return "unmatched: no delivery with its message id is remembered; its open is lost" }
        switch tracker.open(delivery.seq, by: user, cause: cause, at: time) {
        case .opened(let event):
            effects.append(.record(.event(event)))
            return "direct open of delivery \(delivery.seq)"
        case .alreadyOpened: return "delivery \(delivery.seq) was opened before"
        case .unattributed: return "delivery \(delivery.seq) has no campaign id: its open is nobody's"
        case .unknown: preconditionFailure("the tracker forgot a delivery between two calls")
        }
    }
}

/// What an interaction is about, as far as the tracker remembers it, the ledger knows it and the payload says it.
private struct InteractionSubject {
    var delivery: TrackedDelivery?
    var messageID: String?
    /// What the platform hands back; `nil` when nobody knows it.
    var handedBack: HandedBackPayload?
    /// Whose it is; `nil` when nobody's or not known.
    var provider: String?

    init(
        _ interact: InteractRequest, _ past: PastDelivery?, platform: Platform, tracker: Tracker,
        detection: DetectionSettings
    ) throws(PayloadError) {
        var name: Subject?
        switch interact.subject {
        case .delivery(let seq): name = .delivery(seq)
        case .message(let message):
            messageID = message
            name = .message(message)
        case .payload(let handedBack):
            let facts = try HandedBackPayload(handedBack, platform: platform, settings: detection)
            provider = facts.provider
            messageID = facts.messageID
            self.handedBack = facts
            name = messageID.map(Subject.message) ?? facts.campaignID.map(Subject.campaign)
        }
        if let past {
            provider = past.provider
            // What comes back on the web is not what was delivered; elsewhere it could be read when it was accepted.
            if past.accepted.platform != .web, let payload = past.request?.payload {
                handedBack = try? HandedBackPayload(payload, platform: past.accepted.platform, settings: detection)
            }
        }
        let target = interact.target
        delivery = name.flatMap { tracker.delivery(for: $0, app: target.app, device: target.device) }
        if delivery != nil { provider = Router.trackedProvider }
    }
}
