public import PushModel

extension Router {
    /// Accepts a request: numbers it, decides its invocations, and gives the outcomes that are known already.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - peer: the sender.
    ///   - past: the delivery that an interaction names by number or message id, if the ledger has it.
    ///   - now: the time at which the request was read.
    ///   - effects: receives the effects.
    /// - Returns: the acceptance; valid once the records among the effects are on disk.
    /// - Throws: `Refusal`; the router is then unchanged.
    public mutating func submit(
        _ request: Request, from peer: Peer, past: PastDelivery? = nil, at now: Moment, effects: inout Effects
    ) throws(Refusal) -> Acceptance {
        guard !isDraining else { throw .draining }
        try checkLimits(of: peer.account, adding: request.document.bytes.count, at: now)
        try checkRows(of: request, past, from: peer, at: now, effects)
        return try act(request, past, from: peer, at: now, &effects)
    }

    /// Accepts a request that is within all limits.
    mutating func act(
        _ request: Request, _ past: PastDelivery?, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) throws(Refusal) -> Acceptance {
        var acceptance = Acceptance(seq: lastNumber.next, invocations: 0, rejections: [])
        let flushedUnsent = self.flushedUnsent
        switch request.action {
        case .deliver(let deliver):
            acceptance.invocations = try self.deliver(deliver, request, from: peer, at: now, &effects)
        case .interact(let interact):
            acceptance.invocations = try self.interact(interact, request, past, from: peer, at: now, &effects)
        case .session(let session): self.session(session, request, from: peer, at: now, &effects)
        case .token(let token): acceptance.invocations = try self.token(token, request, from: peer, at: now, &effects)
        case .log(let log): try self.log(log, request, from: peer, at: now, &effects)
        case .topic(let topic):
            acceptance.topicResults = self.topic(topic, request, from: peer, at: now, &effects)
        case .publish(let publish):
            acceptance.members = try self.publish(publish, request, from: peer, at: now, &effects)
        case .device(let device): self.device(device, request, from: peer, at: now, &effects)
        }
        acceptance.rejections = effects.takeRejections()
        acceptance.flushedUnsent = self.flushedUnsent - flushedUnsent
        // Devices that a topic request registers have numbers of their own.
        lastNumber = max(lastNumber, acceptance.seq)
        endTurn(at: now, &effects)
        return acceptance
    }

    func checkLimits(of account: Account, adding bytes: Int, at now: Moment) throws(Refusal) {
        guard let message = usage.refusal(of: account, adding: bytes, table.limits) else { return }
        throw .overloaded(message: message, retryAfter: retryDelay(at: now))
    }

    /// Returns the request as a ledger row.
    ///
    /// - Parameter target: the target, with missing fields filled in.
    func accept(
        _ request: Request, from peer: Peer, at now: Moment, platform: Platform, target: Target,
        messageID: String? = nil, delivery: (state: AppState, decision: Decision)? = nil, body: [UInt8]? = nil
    ) -> AcceptedRequest {
        AcceptedRequest(
            seq: lastNumber.next, operation: request.operation, id: request.id, peer: peer, acceptedAt: now,
            boot: boot, mode: table.mode, platform: platform, app: target.app, device: target.device,
            externalID: target.externalID, messageID: messageID, state: delivery?.state,
            duplicateID: delivery?.decision.duplicateID, isTracked: delivery?.decision.received == true,
            transport: delivery?.decision.transport, originalPriority: delivery?.decision.originalPriority,
            deliveredPriority: delivery?.decision.deliveredPriority, body: body ?? request.document.bytes)
    }
}
