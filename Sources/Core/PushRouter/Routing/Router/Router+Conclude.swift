import PushModel

extension Router {
    /// Gives an invocation its one outcome and removes it from the invocations in flight.
    mutating func conclude(
        _ invocation: Invocation, _ outcome: Outcome, because reason: RouterReason? = nil, remarks: [String] = [],
        completion: Completion? = nil, at now: Moment, _ effects: inout Effects
    ) {
        var invocation = invocation
        let id = invocation.record.id
        let total = age(of: invocation.request, at: now)
        // If the wall clock was set back between two boots, neither part may exceed the whole.
        let ran = invocation.attempts.first.map { min(max(.zero, now.monotonic - $0), total) }
        // The start time in an earlier run of the daemon is not stored: the whole time counts as running.
        let queue: Duration
        if let ran {
            queue = total - ran
        } else if reason?.isCutOff == true {
            queue = .zero
        } else {
            queue = total
        }
        let exec = total - queue
        let completions = invocation.completions
        var remarks = remarks
        if let remark = completions.remark(onSilenceOf: invocation.handler?.value.name, outcome: outcome) {
            remarks.append(remark)
        }
        if let remark = invocation.attempts.facts.remark { remarks.append(remark) }
        if let names = invocation.bypassed.declined.text(and: ", and") { remarks.append(names) }
        if let names = invocation.bypassed.passedOver.text(and: " and") {
            remarks.append("not asked, because the breaker is open: " + names)
        }
        let why =
            reason?.ofOutcome(remarks: remarks)
            ?? (remarks.isEmpty ? nil : OutcomeReason(.handledWithRemarks, nil, remarks: remarks))
        let result = Indirect(
            InvocationResult(
                outcome: outcome, reason: why?.text, reasonCode: why?.code, queue: queue, exec: exec, total: total,
                completion: completion ?? completions.byHost(outcome),
                waitedFor: invocation.waitedFor, ahead: invocation.ahead.map(Int.init), decidedAt: now.wall))
        invocation.record.sharedResult = result
        figures.count(invocation.record, result.value, hasRun: invocation.attempts.first != nil)
        invocation.save(&effects)
        if invocation.request.mode == .relay, outcome.isDeadLetter {
            effects.record(.deadLetter(DeadLetter(id: id, at: now.wall, byteCount: invocation.byteCount)))
        }
        effects.append(
            .decided(InvocationEnd(request: invocation.sharedRequest, invocation: invocation.record, result: result)))
        if invocation.stage == .ready { places.leaveQueue(invocation, invocations, &schedule) }
        if let handler = invocation.handler { places.withdraw(id, from: handler.value, at: now.monotonic) }
        invocations.remove(id)
        usage.ended(id, of: invocation.request.peer.account)
        if invocation.isCounted { usage.letsGo(payloadOf: invocation.memorySize) }
        if let lane = invocation.lane { advance(lane, past: invocation, at: now) }
    }

    /// Gives an invocation that was never in flight its outcome, which is known on acceptance.
    mutating func concludeAtOnce(
        _ row: InvocationRecord, of arrival: Arrival, _ outcome: Outcome, because reason: OutcomeReason? = nil,
        completion: Completion? = nil, at now: Moment, _ effects: inout Effects
    ) {
        var row = row
        let result = Indirect(
            InvocationResult(
                outcome: outcome, reason: reason?.text, reasonCode: reason?.code, queue: .zero, exec: .zero,
                total: .zero,
                completion: completion ?? arrival.completions(row.callback, table).byHost(outcome), decidedAt: now.wall)
        )
        row.sharedResult = result
        figures.count(row, result.value, hasRun: false)
        effects.record(row, isNew: true)
        effects.appendEnd(InvocationEnd(request: arrival.sharedRequest, invocation: row, result: result), outcome)
    }

    /// Hands a Braze payload to the tracker. It takes no time: the SDK's own call only enqueues.
    mutating func handOver(_ invocation: Invocation, at now: Moment, _ effects: inout Effects) {
        if let receipt = invocation.receipt { take(receipt, of: invocation.request, at: now, &effects) }
        let completion = invocation.completions.byTracker()
        conclude(invocation, .handedToTracker, completion: completion, at: now, &effects)
    }

    /// Reports a Braze payload that reached the device to the tracker.
    mutating func take(
        _ receipt: Receipt, of accepted: AcceptedRequest, at now: Moment, _ effects: inout Effects
    ) {
        let delivery = TrackedDelivery(
            seq: accepted.seq, platform: accepted.platform, app: accepted.app, device: accepted.device,
            externalID: accepted.externalID, messageID: accepted.messageID, hasOwnID: receipt.hasOwnID,
            uniqueID: receipt.uniqueID, campaignID: receipt.campaignID, isDisplayed: receipt.isDisplayed,
            inForeground: receipt.inForeground, digest: receipt.digest, buttons: receipt.buttons,
            receivedAt: receipt.at)
        memory.track(at: now, &effects) { tracker, output in tracker.receive(delivery, now: now.wall, into: &output) }
    }

    /// Returns the time since the acceptance of a request. Across a boot it uses the wall clock, because the monotonic
    /// clock restarted; the wall clock may have been set since.
    func age(of accepted: AcceptedRequest, at now: Moment) -> Duration {
        if accepted.boot == boot { return now.monotonic - accepted.acceptedAt.monotonic }
        return .milliseconds(max(0, now.wall.milliseconds - accepted.acceptedAt.wall.milliseconds))
    }
}

extension Invocation {
    /// Writes the row if the ledger's version differs.
    mutating func save(_ effects: inout Effects) {
        let fields = ChangingFields(record)
        guard stored != fields else { return }
        let isNew = stored == nil
        stored = fields
        effects.record(record, isNew: isNew)
    }
}
