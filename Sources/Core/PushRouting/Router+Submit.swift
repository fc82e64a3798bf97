import PushDispatch
public import PushModel
import PushTracking

extension Router {
    /// Accepts a request: numbers it, decides its invocations, and as many of their outcomes as can be known now.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - peer: who sent it.
    ///   - past: the delivery that an interaction names by its number or message id, where the ledger knows one.
    ///   - now: when it was read.
    ///   - effects: what is to be done is appended.
    /// - Returns: how it was accepted: that is so once the records among the effects are on disk, not before.
    /// - Throws: `Refusal`, and then nothing changed.
    public mutating func submit(
        _ request: Request, from peer: Peer, past: PastDelivery? = nil, at now: Moment, effects: inout Effects
    ) throws(Refusal) -> Acceptance {
        guard !isDraining else { throw .draining }
        try checkLimits(of: peer, adding: request.document.bytes.count, at: now)
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
        }
        acceptance.rejections = effects.takeRejections()
        acceptance.flushedUnsent = self.flushedUnsent - flushedUnsent
        lastNumber = acceptance.seq
        endTurn(at: now, &effects)
        return acceptance
    }

    func checkLimits(of peer: Peer, adding bytes: Int, at now: Moment) throws(Refusal) {
        let message: String
        let (size, sizeOfPeer) = (usage.bytes + bytes, usage.bytes(of: peer) + bytes)
        if usage.requests >= table.limits.inFlight {
            message = "\(counted(usage.requests, "request is", "requests are")) in flight, the most that is allowed"
        } else if usage.requests(of: peer) >= table.limits.inFlightPerPeer {
            let count = usage.requests(of: peer)
            message =
                "\(counted(count, "request")) of uid \(peer.uid) \(count == 1 ? "is" : "are") in flight, the most that is allowed"
        } else if size > table.limits.unfinishedBytes {
            message = "the requests in flight would have \(size) bytes, more than is allowed"
        } else if sizeOfPeer > table.limits.unfinishedBytesPerPeer {
            message = "the requests of uid \(peer.uid) in flight would have \(sizeOfPeer) bytes, more than is allowed"
        } else if usage.invocationBytes >= table.limits.invocationMemory {
            message = "what is in flight takes \(usage.invocationBytes) bytes of memory, as much as is allowed"
        } else if usage.invocationBytes(of: peer) >= table.limits.invocationMemoryPerPeer {
            message =
                "what is in flight of uid \(peer.uid) takes \(usage.invocationBytes(of: peer)) bytes of memory, as much as is allowed"
        } else {
            return
        }
        throw .overloaded(message: message, retryAfter: retryDelay(at: now))
    }

    /// What was last said of a device; it stands in for what a request leaves out.
    func lastKnown(app: String?, device: String?) -> KnownDevice? {
        device.flatMap { knownDevices[DeviceKey(app: app, device: $0)] }
    }

    /// How many devices one request makes the router forget at most.
    private static let forgottenAtOnce = 64

    mutating func remember(_ accepted: AcceptedRequest, _ effects: inout Effects) {
        remember(accepted, instead: lastKnown(app: accepted.app, device: accepted.device), &effects)
    }

    /// Notes what a request says of its device.
    ///
    /// - Parameter known: what was last known of the device.
    mutating func remember(
        _ accepted: AcceptedRequest, instead known: KnownDevice?, _ effects: inout Effects
    ) {
        guard let name = accepted.device else { return }
        let key = DeviceKey(app: accepted.app, device: name)
        let limit = table.limits.deviceMemory
        if let known, known.platform == accepted.platform, known.externalID.isSame(as: accepted.externalID) {
            // Who is in use matters once somebody may have to go.
            if knownDevices.byteCount > limit / 2 { knownDevices.use(key) }
            return
        }
        let device = KnownDevice(
            number: known?.number ?? accepted.seq, key: key, platform: accepted.platform,
            externalID: accepted.externalID)
        knownDevices.set(device)
        effects.record(.device(device))
        // A reload may have made many too many: each request takes some.
        var left = Self.forgottenAtOnce
        while left > 0, knownDevices.byteCount > limit, let forgotten = knownDevices.removeLeastUsed(but: key) {
            left -= 1
            recentMessages[forgotten.key] = nil
            effects.record(.forgottenDevice(forgotten.number))
        }
    }

    /// The request as the ledger keeps it.
    ///
    /// - Parameter target: whom it is about, with everything that it left out filled in.
    func accept(
        _ request: Request, from peer: Peer, at now: Moment, platform: Platform, target: Target,
        messageID: String? = nil, delivery: (state: AppState, decision: Decision)? = nil
    ) -> AcceptedRequest {
        AcceptedRequest(
            seq: lastNumber.next, operation: request.operation, id: request.id, peer: peer, acceptedAt: now,
            boot: boot, mode: table.mode, platform: platform, app: target.app, device: target.device,
            externalID: target.externalID, messageID: messageID, state: delivery?.state,
            duplicateID: delivery?.decision.duplicateID, isTracked: delivery?.decision.received == true,
            transport: delivery?.decision.transport, originalPriority: delivery?.decision.originalPriority,
            deliveredPriority: delivery?.decision.deliveredPriority, body: request.document.bytes)
    }
}
