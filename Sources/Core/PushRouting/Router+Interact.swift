import PushDispatch
import PushModel
import PushTracking

extension Router {
    /// Hands what a person does with a Braze notification to the tracker, and routes the rest like a delivery.
    ///
    /// - Returns: how many invocations there are.
    mutating func interact(
        _ interact: InteractRequest, _ request: Request, _ past: PastDelivery?, from peer: Peer, at now: Moment,
        _ effects: inout Effects
    ) throws(Refusal) -> Int {
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
        effects.record(accepted)
        remember(accepted, &effects)

        var arrival = Arrival(
            accepted, subject: InvocationSubject(request, past: past), provider: subject.provider,
            keys: subject.handedBack?.keys, lane: nil)
        let act = UserAct(interact.kind, action: interact.action, text: interact.text)
        let decision = decide(
            act, on: subject.handedBack, of: subject.provider, platform: platform, rules: table.interaction)
        if let outcome = decision.outcome {
            let row = arrival.row(decision.callback, budget: table.budget)
            let reason = decision.reasons.last?.ofOutcome
            concludeAtOnce(row, of: arrival, outcome, because: reason, at: now, &effects)
            return arrival.count
        }
        let time = request.at ?? now.wall
        let facts = TrackFacts(
            act: act, provider: subject.provider, campaignID: subject.campaignID, messageID: accepted.messageID,
            platform: platform, app: accepted.app, device: accepted.device, externalID: accepted.externalID,
            keys: subject.keys)
        if subject.tracked != nil, platform.appMayLackSDK, interact.sdk == .missing {
            let row = arrival.row(decision.callback, budget: table.budget)
            let reason = RouterReason.noBrazeInstance.ofOutcome()
            concludeAtOnce(row, of: arrival, .sdkNotReady, because: reason, at: now, &effects)
            startSession(act, accepted, at: time, now: now, &effects)
        } else if let name = subject.tracked {
            let row = arrival.row(decision.callback, budget: table.budget)
            let interaction = Interaction(name, subject.formerDigest, act, accepted, at: time)
            let result = track(at: now, &effects) { $0.interact(interaction, now: now.wall, into: &$1) }
            if !table.tracks.isEmpty, subject.isNews(result, of: interaction, tracker) {
                queueTracks(facts, of: accepted, at: time, now: now, &effects)
            }
            let completion = arrival.completions(decision.callback, table).byTracker()
            concludeAtOnce(
                row, of: arrival, .handedToTracker, because: result.reason(act), completion: completion, at: now,
                &effects)
        } else {
            queueTracks(facts, of: accepted, at: time, now: now, &effects)
            route(decision.callback, &arrival, at: now, &effects)
            startSession(act, accepted, at: time, now: now, &effects)
        }
        copy([decision.callback], &arrival, at: now, &effects)
        return arrival.count
    }

    /// A tap opens the app, whoever's notification it is (T8).
    private mutating func startSession(
        _ act: UserAct, _ accepted: AcceptedRequest, at time: WallTime, now: Moment, _ effects: inout Effects
    ) {
        guard act == .opened else { return }
        let source = TrackerSource(accepted, at: time)
        track(at: now, &effects) { $0.session(.start, source, now: now.wall, into: &$1) }
    }
}

extension Interaction {
    fileprivate init(
        _ name: Subject, _ formerDigest: UInt64?, _ act: UserAct, _ accepted: AcceptedRequest, at time: WallTime
    ) {
        let tracked: Act =
            switch act {
            case .opened: .opened
            case .button(let id, _): .button(id)
            case .dismissed: .dismissed
            }
        self.init(
            cause: accepted.seq, subject: name, act: tracked, platform: accepted.platform, app: accepted.app,
            device: accepted.device, externalID: accepted.externalID, at: time, formerDigest: formerDigest)
    }
}

extension InteractionResult {
    /// What became of it.
    fileprivate func reason(_ act: UserAct) -> OutcomeReason {
        let it = delivery.map { "delivery \($0)" } ?? "its delivery"
        return switch verdict {
        case nil: .init(.heldForDelivery, "no delivery of it is known: held, in case it comes within the grace")
        case .opened: .init(.directOpen, "direct open of \(it)")
        case .closed: .init(.closeButton, "a close button of \(it): a click, no direct open")
        case .duplicate where act == .opened: .init(.openedBefore, "\(it) was opened before")
        case .duplicate: .init(.openedOrClosedBefore, "\(it) was opened before, or closed by this button")
        case .unattributed: .init(.unattributedOpen, "\(it) has no campaign id: its open is nobody's")
        case .dismissed:
            .init(.notificationDismissed, "\(it) was dismissed: counts nothing, and can still influence an open")
        case .unknownAction: .init(.buttonNotInPayload, "\(it) has no such button: counts nothing")
        case .elsewhere: .init(.deliveredElsewhere, "\(it) went to another device or app: counts nothing")
        case .unmatched: .init(.unmatched, "unmatched: no delivery of it came within the grace")
        }
    }
}

/// What an interaction is about, as far as the tracker remembers it, the ledger knows it and the payload says it.
private struct InteractionSubject {
    var delivery: KnownDelivery?
    var messageID: String?
    /// What the platform hands back; `nil` when nobody knows it.
    var handedBack: HandedBackPayload?
    /// The campaign, if it is Braze's and has one.
    var campaignID: String?
    /// The keys of what was delivered, as far as they are known.
    var keys: PayloadKeys?
    /// Whether the notification has a button with an id, if it is Braze's and its payload is known.
    var hasButton: ((String) -> Bool)?
    /// Whose it is; `nil` when nobody's or not known.
    var provider: String?
    /// What the tracker knows it by, if it is the tracker's: Braze's, or what is known to nobody and may be Braze's yet.
    var tracked: Interaction.Subject?
    /// Where that is a payload, its digest as earlier versions made it.
    var formerDigest: UInt64?

    init(
        _ interact: InteractRequest, _ past: PastDelivery?, platform: Platform, tracker: Tracker,
        detection: DetectionSettings
    ) throws(PayloadError) {
        var name: Interaction.Subject?
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
            name = messageID.map(Interaction.Subject.message) ?? facts.digest.map(Interaction.Subject.payload)
            if messageID == nil { formerDigest = facts.formerDigest }
        }
        if let past {
            provider = past.provider
            // What comes back on the web is not what was delivered; elsewhere it could be read when it was accepted.
            if past.accepted.platform != .web, let payload = past.request?.payload {
                handedBack = try? HandedBackPayload(payload, platform: past.accepted.platform, settings: detection)
            }
        }
        (campaignID, keys) = (handedBack?.campaignID, handedBack?.keys)
        if let handedBack, handedBack.provider == Router.trackedProvider {
            hasButton = { handedBack.action($0) != nil }
        }
        if keys == nil, let past, let deliver = past.request {
            let decision = try? decide(Delivery(deliver, platform: past.accepted.platform), settings: detection)
            (campaignID, keys) = (decision?.braze?.campaignID, decision?.keys)
            if hasButton == nil, let braze = decision?.braze {
                hasButton = { id in braze.actions.contains { $0.id == id } }
            }
        }
        let target = interact.target
        delivery = name.flatMap {
            tracker.delivery(for: $0, formerDigest: formerDigest, app: target.app, device: target.device)
        }
        if delivery != nil { provider = Router.trackedProvider }
        if provider == Router.trackedProvider {
            tracked = name
            // The repeat of a message (T14) is not remembered; what it repeats has its id.
            if delivery == nil, let message = past?.accepted.messageID {
                tracked = .message(message)
            } else if delivery == nil, past != nil, let handedBack, let digest = handedBack.digest {
                tracked = .payload(digest)
                formerDigest = handedBack.formerDigest
            }
        } else if past == nil, handedBack == nil {
            tracked = name
        }
    }

    /// Whether it is something that was not told before, of a notification that was there: only then do tracks apply.
    func isNews(_ result: InteractionResult, of interaction: Interaction, _ tracker: Tracker) -> Bool {
        switch result.verdict {
        case .opened, .closed, .unattributed, .dismissed: return true
        case .duplicate, .unknownAction, .elsewhere, .unmatched: return false
        case nil:
            // Tracks do not wait for the grace to end, so what can be told of the verdict must be told now.
            if case .button(let id) = interaction.act, let hasButton, !hasButton(id) { return false }
            return !tracker.isHeldInVain(interaction)
        }
    }
}
