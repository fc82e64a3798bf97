import PushDispatch
import PushModel

extension Router {
    /// Decides what the platform makes of a payload, and puts its invocations on their way.
    mutating func deliver(
        _ deliver: DeliverRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout [Effect]
    ) throws(Refusal) {
        let whom = resolve(deliver.target)
        let delivery = Delivery(
            platform: whom.platform, app: deliver.target.app, device: deliver.target.device,
            externalID: whom.externalID, state: deliver.state, locked: deliver.locked, osVersion: deliver.osVersion,
            notifications: deliver.notifications, sdk: deliver.sdk, payload: deliver.payload)
        let decision: Decision
        do {
            decision = try decide(delivery)
        } catch {
            throw .invalidPayload(field: error.field, message: error.message)
        }
        var accepted = accept(request, from: peer, at: now, whom: whom)
        accepted.app = deliver.target.app ?? decision.app
        // A plain APNs payload has no id of its own.
        accepted.messageID = decision.messageID ?? (whom.platform == .android ? nil : request.id)
        effects.append(.record(.request(accepted)))
        remember(accepted, &effects)

        let receipt = decision.braze.map { Receipt(campaignID: $0.campaignID, at: request.at ?? now.wall) }
        if let outcome = decision.outcome {
            if decision.received, let receipt { take(receipt, of: accepted, &effects) }
            let row = newRow(accepted.seq, 0, .none, decision.provider)
            record(row, ended: outcome, reason: decision.reasons.last?.description, of: accepted, at: now, &effects)
            return
        }
        for (n, planned) in decision.invocations.enumerated() {
            let row = newRow(accepted.seq, n, planned.callback, decision.provider)
            if planned.owner == .tracker, whom.platform == .ios, deliver.sdk == .missing {
                let reason = "the app had no Braze instance when the callback ran"
                record(row, ended: .sdkNotReady, reason: reason, of: accepted, at: now, &effects)
                continue
            }
            let facts = RouteFacts(
                provider: decision.provider, platform: whom.platform, callback: planned.callback, app: accepted.app,
                keys: decision.keys)
            var invocation = Invocation(
                request: accepted, payload: deliver.payload, record: row, owner: planned.owner, facts: facts,
                table: table,
                lane: lane(of: accepted))
            if n == 0, decision.received { invocation.receipt = receipt }
            place(invocation, at: now, &effects)
        }
    }
}
