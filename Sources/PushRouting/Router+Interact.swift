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
            subject = try InteractionSubject(interact, platform: platform, tracker: tracker, detection: table.detection)
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
        guard subject.provider == Self.trackedProvider else {
            guard platform != .android else {
                let reason =
                    "unmatched: no Braze delivery of it is remembered, and Android runs no push callback for a tap"
                return concludeAtOnce(row, of: accepted, .swallowed, reason: reason, at: now, &effects)
            }
            let facts = RouteFacts(
                provider: subject.provider, platform: accepted.platform, callback: callback, app: accepted.app,
                keys: subject.keys)
            let invocation = Invocation(
                request: accepted, payload: subject.payload, record: row, owner: .route, facts: facts, table: table,
                lane: nil)
            return admit(invocation, at: now, &effects)
        }
        let reason = open(delivery, by: target.externalID, cause: accepted.seq, at: request.at ?? now.wall, &effects)
        let completion = Completions.tracker(callback)
        concludeAtOnce(
            row, of: accepted, .handedToTracker, reason: reason, completion: completion, at: now, &effects)
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

/// What an interaction is about, as far as the tracker remembers it and the payload says it.
private struct InteractionSubject {
    var delivery: TrackedDelivery?
    var messageID: String?
    var payload: JSONNode?
    var keys: PayloadKeys?
    /// Whose it is. The tracker remembers only Braze's deliveries.
    var provider: String?

    init(
        _ interact: InteractRequest, platform: Platform, tracker: Tracker, detection: DetectionSettings
    ) throws(PayloadError) {
        var name: Subject?
        switch interact.subject {
        case .delivery(let seq): name = .delivery(seq)
        case .message(let message):
            messageID = message
            name = .message(message)
        case .payload(let handedBack):
            payload = handedBack
            let facts = try HandedBackPayload(handedBack, platform: platform, settings: detection)
            provider = facts.provider
            messageID = facts.messageID
            keys = facts.keys
            name = messageID.map(Subject.message) ?? facts.campaignID.map(Subject.campaign)
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
