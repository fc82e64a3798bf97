import PushDispatch
public import PushModel
import PushTracking

extension Router {
    /// Decides what the platform makes of a payload, and puts its invocations on their way.
    ///
    /// - Returns: how many invocations there are.
    mutating func deliver(
        _ deliver: DeliverRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) throws(Refusal) -> Int {
        var target = deliver.target
        let platform =
            target.platform ?? lastKnown(app: target.app, device: target.device)?.platform ?? .android
        let decision: Decision
        do {
            decision = try decide(Delivery(deliver, platform: platform), settings: table.detection)
        } catch {
            throw .invalidPayload(field: error.field, message: error.message)
        }
        target.app = decision.app
        target.externalID = target.externalID ?? lastKnown(app: target.app, device: target.device)?.externalID
        // A plain APNs payload has no id of its own.
        let messageID = decision.messageID ?? (platform == .android ? nil : request.id)
        let accepted = accept(
            request, from: peer, at: now, platform: platform, target: target, messageID: messageID,
            delivery: (deliver.state, decision.duplicateID, decision.received))
        effects.record(accepted)
        remember(accepted, &effects)

        var arrival = Arrival(
            accepted, subject: InvocationSubject(request), provider: decision.provider, keys: decision.keys,
            lane: lane(of: accepted))
        if isRepeat(decision, accepted) {
            let row = arrival.row(.none, budget: table.budget)
            let reason = "its id is among the last ten that FCM on the device saw: FCM drops it"
            concludeAtOnce(row, of: arrival, .duplicate, reason: reason, at: now, &effects)
            return arrival.count
        }
        if let facts = TrackFacts(
            receiving: decision, messageID: messageID, platform: platform, device: accepted.device,
            externalID: accepted.externalID)
        {
            queueTracks(facts, of: accepted, at: request.at ?? now.wall, now: now, &effects)
        }
        let receipt = Receipt(
            decision, inForeground: deliver.state == .foreground, at: request.at ?? now.wall)
        if let outcome = decision.outcome {
            if let receipt { take(receipt, of: accepted, at: now, &effects) }
            let row = arrival.row(.none, budget: table.budget)
            let reason = decision.reasons.last?.withoutPayload
            concludeAtOnce(row, of: arrival, outcome, reason: reason, at: now, &effects)
            return arrival.count
        }
        for planned in decision.invocations {
            guard planned.owner == .tracker else {
                route(planned.callback, &arrival, at: now, &effects)
                continue
            }
            let receipt = arrival.count == 0 ? receipt : nil
            track(planned.callback, receipt, deliver.sdk, decision.displayed, &arrival, at: now, &effects)
            // Braze has its payload; the app's other SDKs must hear of it as well.
            let others = arrival.facts(planned.callback)
            if planned.callback.isBroadcast, !table.owners(of: others).isEmpty {
                route(planned.callback, &arrival, at: now, &effects)
            }
        }
        copy(decision.invocations.map(\.callback), &arrival, at: now, &effects)
        return arrival.count
    }

    /// Hands a Braze payload over, now or when its turn comes.
    private mutating func track(
        _ callback: Callback, _ receipt: Receipt?, _ sdk: SDKState, _ isDisplayed: Bool, _ arrival: inout Arrival,
        at now: Moment, _ effects: inout Effects
    ) {
        let accepted = arrival.request
        let row = arrival.row(callback, budget: table.budget)
        if accepted.platform == .ios, sdk == .missing {
            // The system shows it all the same, and it may be opened (tracker, T9).
            if isDisplayed, let receipt { take(receipt, of: accepted, at: now, &effects) }
            let reason = "the app had no Braze instance when the callback ran"
            concludeAtOnce(row, of: arrival, .sdkNotReady, reason: reason, at: now, &effects)
        } else if mustWait(in: arrival.lane) {
            let invocation = Invocation(
                request: accepted, subject: arrival.subject, record: row, owner: .tracker,
                facts: arrival.facts(callback), table: table, lane: arrival.lane, receipt: receipt)
            admit(invocation, at: now, &effects)
        } else {
            if let receipt { take(receipt, of: accepted, at: now, &effects) }
            let isDelayed = accepted.platform == .ios && sdk == .delayed
            let reason = isDelayed ? "queued until the app has its Braze instance" : nil
            let completion = arrival.completions(callback, table).byTracker()
            concludeAtOnce(
                row, of: arrival, .handedToTracker, reason: reason, completion: completion, at: now, &effects)
        }
    }

    /// Whether FCM on the device drops the message; notes its id.
    private mutating func isRepeat(_ decision: Decision, _ accepted: AcceptedRequest) -> Bool {
        guard accepted.platform == .android, let device = accepted.device else { return false }
        let key = DeviceKey(app: accepted.app, device: device)
        return see(RecentDelivery(device: key, duplicateID: decision.duplicateID, state: accepted.state))
    }

    /// Notes that FCM on a device gets a message; returns whether it has its id. What starts the app's process, or finds it
    /// stopped, finds an empty list.
    @discardableResult
    mutating func see(_ delivery: RecentDelivery) -> Bool {
        if delivery.state?.endsProcess == true { recentMessages[delivery.device] = nil }
        guard let id = delivery.duplicateID, !id.isEmpty else { return false }
        return recentMessages[delivery.device, default: RecentMessages()].see(id)
    }

    /// Whether a Braze payload waits for its turn. A router in production hands it over at once.
    private func mustWait(in lane: DeviceKey?) -> Bool {
        table.mode == .device && lane.map { lanes[$0] != nil } ?? false
    }
}

extension Delivery {
    /// What a request asks for, with its platform resolved.
    public init(_ deliver: DeliverRequest, platform: Platform) {
        self.init(
            platform: platform, app: deliver.target.app, device: deliver.target.device,
            externalID: deliver.target.externalID, state: deliver.state, locked: deliver.locked,
            osVersion: deliver.osVersion, notifications: deliver.notifications, sdk: deliver.sdk,
            payload: deliver.payload)
    }
}

extension Receipt {
    /// What the tracker takes over of a delivery; `nil` when it is none of its business.
    init?(_ decision: Decision, inForeground: Bool, at time: WallTime) {
        guard decision.received, let braze = decision.braze else { return nil }
        self.init(
            campaignID: braze.campaignID, hasOwnID: decision.messageID != nil, uniqueID: braze.uniqueID,
            isDisplayed: decision.displayed, inForeground: inForeground,
            digest: decision.messageID == nil ? decision.digest : nil,
            buttons: braze.actions.compactMap(TrackedDelivery.Button.init), at: time)
    }
}

extension TrackedDelivery.Button {
    /// `nil` for a button that the SDK does not know, or whose id is too long to be one.
    fileprivate init?(_ action: BrazeFacts.Action) {
        guard let id = action.id, id.utf8.count <= 255, let does = ButtonAction(action.kind) else { return nil }
        self.init(id: id, action: does)
    }
}
