import PushDispatch
import PushModel
import PushTracking

extension Router {
    /// Gives an invocation its one outcome and lets go of it.
    mutating func conclude(
        _ invocation: Invocation, _ outcome: Outcome, reason: String? = nil, completion: Completion? = nil,
        at now: Moment, _ effects: inout [Effect]
    ) {
        var invocation = invocation
        let id = invocation.record.id
        let accepted = invocation.request.acceptedAt.monotonic
        let total = now.monotonic - accepted
        let queue = invocation.firstStart.map { $0 - accepted } ?? total
        let exec = invocation.firstStart.map { now.monotonic - $0 } ?? .zero
        let result = InvocationResult(
            outcome: outcome, reason: reason, queue: queue, exec: exec, total: total,
            completion: completion ?? Completions.host(invocation.record.callback, outcome: outcome),
            decidedAt: now.wall)
        invocation.record.result = result
        save(&invocation, &effects)
        effects.append(
            .decided(InvocationEnd(request: invocation.request, invocation: invocation.record, result: result)))
        invocations[id] = nil
        usage.ended(id, of: invocation.request.peer)
        if let lane = invocation.lane { advance(lane, past: id) }
    }

    /// Writes and reports an outcome that was known on acceptance.
    mutating func record(
        _ row: InvocationRecord, ended outcome: Outcome, reason: String?, completion: Completion? = nil,
        of accepted: AcceptedRequest, at now: Moment, _ effects: inout [Effect]
    ) {
        var row = row
        let result = InvocationResult(
            outcome: outcome, reason: reason, queue: .zero, exec: .zero, total: .zero,
            completion: completion ?? Completions.host(row.callback, outcome: outcome), decidedAt: now.wall)
        row.result = result
        effects.append(.record(.invocation(row)))
        effects.append(.decided(InvocationEnd(request: accepted, invocation: row, result: result)))
    }

    /// Hands a Braze payload to the tracker. That takes no time: the SDK's own call only enqueues.
    mutating func handOver(_ invocation: Invocation, at now: Moment, _ effects: inout [Effect]) {
        if let receipt = invocation.receipt { take(receipt, of: invocation.request, &effects) }
        let completion = Completions.tracker(invocation.record.callback)
        conclude(invocation, .handedToTracker, completion: completion, at: now, &effects)
    }

    /// Tells the tracker of a Braze payload that reached the device.
    mutating func take(_ receipt: Receipt, of accepted: AcceptedRequest, _ effects: inout [Effect]) {
        let delivery = TrackedDelivery(
            seq: accepted.seq, platform: accepted.platform, app: accepted.app, device: accepted.device,
            externalID: accepted.externalID, messageID: accepted.messageID, campaignID: receipt.campaignID,
            receivedAt: receipt.at)
        if let event = tracker.receive(delivery, at: receipt.at) { effects.append(.record(.event(event))) }
    }

    /// Writes the invocation's row if the ledger does not have it as it is.
    func save(_ invocation: inout Invocation, _ effects: inout [Effect]) {
        guard invocation.stored != invocation.record else { return }
        let isNew = invocation.stored == nil
        invocation.stored = invocation.record
        effects.append(.record(isNew ? .invocation(invocation.record) : .update(invocation.record)))
    }
}
