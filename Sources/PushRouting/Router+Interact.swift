import PushDispatch
import PushModel
import PushTracking

extension Router {
    /// Hands the tap on a Braze notification to the tracker, and routes any other like a delivery.
    mutating func interact(
        _ interact: InteractRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout [Effect]
    ) {
        let whom = resolve(interact.target)
        let subject = InteractionSubject(interact, platform: whom.platform, tracker: tracker)
        let delivery = subject.delivery
        var accepted = accept(request, from: peer, at: now, whom: whom)
        accepted.platform = interact.target.platform ?? delivery?.platform ?? whom.platform
        accepted.app = interact.target.app ?? delivery?.app
        accepted.device = interact.target.device ?? delivery?.device
        accepted.messageID = subject.messageID ?? delivery?.messageID
        effects.append(.record(.request(accepted)))
        remember(accepted, &effects)

        let callback = accepted.platform.interactionCallback
        let row = newRow(accepted.seq, 0, callback, subject.provider)
        guard subject.provider != nil else {
            let facts = RouteFacts(
                provider: nil, platform: accepted.platform, callback: callback, app: accepted.app, keys: nil)
            let invocation = Invocation(
                request: accepted, payload: subject.payload, record: row, owner: .route, facts: facts, table: table,
                lane: nil)
            return place(invocation, at: now, &effects)
        }
        let reason = open(delivery, by: whom.externalID, cause: accepted.seq, at: request.at ?? now.wall, &effects)
        let completion = Completions.tracker(callback)
        record(row, ended: .handedToTracker, reason: reason, completion: completion, of: accepted, at: now, &effects)
    }

    /// Has the tracker record a tap on the body of a Braze notification; returns what became of it.
    private mutating func open(
        _ delivery: TrackedDelivery?, by user: String?, cause: SequenceNumber, at time: WallTime,
        _ effects: inout [Effect]
    ) -> String {
        guard let delivery else { return "unmatched: no delivery of it is remembered" }
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
    /// Whose it is: the tracker remembers only Braze's deliveries.
    var provider: String?

    init(_ interact: InteractRequest, platform: Platform, tracker: Tracker) {
        var name: Subject?
        switch interact.subject {
        case .delivery(let seq): name = .delivery(seq)
        case .message(let message):
            messageID = message
            name = .message(message)
        case .payload(let handedBack):
            payload = handedBack
            let facts = try? HandedBackPayload(handedBack, platform: platform)
            provider = facts?.provider
            messageID = facts?.messageID
            name = messageID.map(Subject.message) ?? facts?.campaignID.map(Subject.campaign)
        }
        let target = interact.target
        delivery = name.flatMap { tracker.delivery(for: $0, app: target.app, device: target.device) }
        if delivery != nil { provider = "braze" }
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
