import PushDispatch
public import PushModel

extension Router {
    /// Decides what the platform makes of a payload, and puts its invocations on their way.
    mutating func deliver(
        _ deliver: DeliverRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout [Effect]
    ) throws(Refusal) {
        var target = deliver.target
        let platform =
            target.platform ?? lastKnown(app: target.app, device: target.device)?.platform ?? .android
        let decision: Decision
        do {
            decision = try decide(Delivery(deliver, platform: platform))
        } catch {
            throw .invalidPayload(field: error.field, message: error.message)
        }
        target.app = decision.app
        target.externalID = target.externalID ?? lastKnown(app: target.app, device: target.device)?.externalID
        // A plain APNs payload has no id of its own.
        let messageID = decision.messageID ?? (platform == .android ? nil : request.id)
        let accepted = accept(
            request, from: peer, at: now, platform: platform, target: target, messageID: messageID)
        effects.append(.record(.request(accepted)))
        remember(accepted, &effects)

        let receipt = Receipt(decision, at: request.at ?? now.wall)
        if let outcome = decision.outcome {
            if let receipt { take(receipt, of: accepted, at: now, &effects) }
            let row = newRow(0, .none, provider: decision.provider)
            let reason = decision.reasons.last?.description
            return concludeAtOnce(row, of: accepted, outcome, reason: reason, at: now, &effects)
        }
        for (n, planned) in decision.invocations.enumerated() {
            let row = newRow(n, planned.callback, provider: decision.provider)
            let receipt = n == 0 ? receipt : nil
            switch planned.owner {
            case .tracker where platform == .ios && deliver.sdk == .missing:
                // The system shows it all the same, and it may be opened (tracker, T9).
                if decision.displayed, let receipt { take(receipt, of: accepted, at: now, &effects) }
                let reason = "the app had no Braze instance when the callback ran"
                concludeAtOnce(row, of: accepted, .sdkNotReady, reason: reason, at: now, &effects)
            case .tracker where !mustWait(accepted):
                if let receipt { take(receipt, of: accepted, at: now, &effects) }
                let completion = Completions.tracker(planned.callback)
                concludeAtOnce(row, of: accepted, .handedToTracker, completion: completion, at: now, &effects)
            case .tracker, .route:
                let facts = RouteFacts(
                    provider: decision.provider, platform: platform, callback: planned.callback, app: accepted.app,
                    keys: decision.keys)
                let invocation = Invocation(
                    request: accepted, payload: deliver.payload, record: row, owner: planned.owner, facts: facts,
                    table: table, lane: lane(of: accepted), receipt: receipt)
                admit(invocation, at: now, &effects)
            }
        }
    }

    /// Whether a Braze payload waits for its turn. A router in production hands it over at once.
    private func mustWait(_ accepted: AcceptedRequest) -> Bool {
        table.mode == .device && lane(of: accepted).map { lanes[$0] != nil } ?? false
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
    init?(_ decision: Decision, at time: WallTime) {
        guard decision.received, let braze = decision.braze else { return nil }
        self.init(
            campaignID: braze.campaignID, hasOwnID: decision.messageID != nil,
            isDisplayed: decision.displayed, at: time)
    }
}
