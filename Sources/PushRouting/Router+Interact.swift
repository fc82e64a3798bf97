import PushDispatch
import PushModel
import PushTracking

extension Router {
    /// Hands the tap on a Braze notification to the tracker, and routes any other like a delivery.
    mutating func interact(
        _ interact: InteractRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout [Effect]
    ) throws(Refusal) {
        var target = interact.target
        let known = lastKnown(app: target.app, device: target.device)
        let subject: InteractionSubject
        do {
            let platform = target.platform ?? known?.platform ?? .android
            subject = try InteractionSubject(interact, platform: platform, tracker: tracker)
        } catch {
            throw .invalidPayload(field: error.field, message: error.message)
        }
        let delivery = subject.delivery
        let platform = target.platform ?? delivery?.platform ?? known?.platform ?? .android
        target.app = target.app ?? delivery?.app
        target.device = target.device ?? delivery?.device
        target.externalID = target.externalID ?? lastKnown(app: target.app, device: target.device)?.externalID
        let accepted = accept(
            request, from: peer, at: now, platform: platform, target: target,
            messageID: subject.messageID ?? delivery?.messageID)
        effects.append(.record(.request(accepted)))
        remember(accepted, &effects)

        let callback = accepted.platform.interactionCallback
        let row = newRow(0, callback, provider: subject.provider)
        guard subject.provider != nil else {
            guard platform != .android else {
                let reason =
                    "unmatched: no Braze delivery of it is remembered, and Android runs no push callback for a tap"
                return concludeAtOnce(row, of: accepted, .swallowed, reason: reason, at: now, &effects)
            }
            let facts = RouteFacts(
                provider: nil, platform: accepted.platform, callback: callback, app: accepted.app,
                keys: subject.keys)
            let invocation = Invocation(
                request: accepted, payload: subject.payload, record: row, owner: .route, facts: facts, table: table,
                lane: nil)
            return admit(invocation, at: now, &effects)
        }
        let reason = open(delivery, accepted, at: request.at ?? now.wall, now: now, &effects)
        let completion = Completions.tracker(callback)
        concludeAtOnce(
            row, of: accepted, .handedToTracker, reason: reason, completion: completion, at: now, &effects)
    }

    /// Has the tracker record a tap on the body of a Braze notification; returns what became of it.
    private mutating func open(
        _ delivery: KnownDelivery?, _ accepted: AcceptedRequest, at time: WallTime, now: Moment,
        _ effects: inout [Effect]
    ) -> String {
        guard let delivery else { return "unmatched: no delivery with its message id is remembered; its open is lost" }
        let tap = Interaction(
            cause: accepted.seq, subject: .delivery(delivery.seq), act: .opened, platform: accepted.platform,
            app: accepted.app, device: accepted.device, externalID: accepted.externalID, at: time)
        var output = TrackerOutput()
        let result = tracker.interact(tap, now: now.wall, into: &output)
        // Requests about sessions are not read yet, so what follows from them is not told either.
        for event in output.events where event.kind == .open { effects.append(.record(.event(event))) }
        switch result.verdict {
        case .opened: return "direct open of delivery \(delivery.seq)"
        case .unattributed: return "delivery \(delivery.seq) has no campaign id: its open is nobody's"
        default: return "delivery \(delivery.seq) was opened before"
        }
    }
}

/// What an interaction is about, as far as the tracker remembers it and the payload says it.
private struct InteractionSubject {
    var delivery: KnownDelivery?
    var messageID: String?
    var payload: JSONNode?
    var keys: PayloadKeys?
    /// Whose it is: the tracker remembers only Braze's deliveries.
    var provider: String?

    init(_ interact: InteractRequest, platform: Platform, tracker: Tracker) throws(PayloadError) {
        var name: Interaction.Subject?
        switch interact.subject {
        case .delivery(let seq): name = .delivery(seq)
        case .message(let message):
            messageID = message
            name = .message(message)
        case .payload(let handedBack):
            payload = handedBack
            let facts = try HandedBackPayload(handedBack, platform: platform)
            provider = facts.provider
            messageID = facts.messageID
            keys = facts.keys
            name =
                messageID.map(Interaction.Subject.message)
                ?? facts.campaignID.map { .payload(stableDigest($0.utf8)) }
        }
        let target = interact.target
        delivery = name.flatMap { tracker.delivery(for: $0, app: target.app, device: target.device) }
        if delivery != nil { provider = Router.trackedProvider }
    }
}

extension Platform {
    /// The callback that a tap leads to. Android has none: the tap starts an activity or a receiver.
    fileprivate var interactionCallback: Callback {
        switch self {
        case .android: .none
        case .ios: .didReceiveResponse
        case .web: .notificationclick
        }
    }
}
