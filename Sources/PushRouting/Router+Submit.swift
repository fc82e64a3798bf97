import PushDispatch
public import PushModel
import PushTracking

extension Router {
    /// Accepts a request: numbers it, decides its invocations, and as many of their outcomes as can be known now.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - peer: who sent it.
    ///   - now: when it was read.
    ///   - effects: what is to be done is appended.
    /// - Returns: its number. It is accepted once the records among the effects are on disk, not before.
    /// - Throws: `Refusal`, and then nothing changed.
    public mutating func submit(
        _ request: Request, from peer: Peer, at now: Moment, effects: inout [Effect]
    ) throws(Refusal) -> SequenceNumber {
        guard !isDraining else { throw .draining }
        try checkLimits(of: peer, at: now)
        let seq = nextNumber
        switch request.action {
        case .deliver(let deliver): try self.deliver(deliver, request, from: peer, at: now, &effects)
        case .interact(let interact): self.interact(interact, request, from: peer, at: now, &effects)
        }
        nextNumber = seq.next
        takeTurns(at: now, &effects)
        fillPlaces(at: now, &effects)
        return seq
    }

    private func checkLimits(of peer: Peer, at now: Moment) throws(Refusal) {
        let message: String
        if usage.requests >= table.limits.inFlight {
            message = "\(usage.requests) requests are in flight, the most that is allowed"
        } else if usage.requests(of: peer) >= table.limits.inFlightPerPeer {
            message = "\(usage.requests(of: peer)) requests of uid \(peer.uid) are in flight, the most that is allowed"
        } else {
            return
        }
        // By the next deadline at the latest something makes room.
        let wait = nextDue.map { min(max($0 - now.monotonic, .milliseconds(10)), .seconds(1)) } ?? .milliseconds(100)
        throw .overloaded(message: message, retryAfter: wait)
    }

    /// Fills in what a request leaves out from what was last known of the device.
    func resolve(_ target: Target) -> (platform: Platform, externalID: String?) {
        let known = target.device.flatMap { devices[DeviceKey(app: target.app, device: $0)] }
        return (target.platform ?? known?.platform ?? .android, target.externalID ?? known?.externalID)
    }

    mutating func remember(_ accepted: AcceptedRequest, _ effects: inout [Effect]) {
        guard let name = accepted.device else { return }
        let key = DeviceKey(app: accepted.app, device: name)
        let device = KnownDevice(key: key, platform: accepted.platform, externalID: accepted.externalID)
        guard devices[key] != device else { return }
        devices[key] = device
        effects.append(.record(.device(device)))
    }

    func accept(
        _ request: Request, from peer: Peer, at now: Moment, whom: (platform: Platform, externalID: String?)
    ) -> AcceptedRequest {
        let target: Target =
            switch request.action {
            case .deliver(let deliver): deliver.target
            case .interact(let interact): interact.target
            }
        return AcceptedRequest(
            seq: nextNumber, operation: request.operation, id: request.id, peer: peer, acceptedAt: now,
            boot: identity.boot, mode: table.mode, platform: whom.platform, app: target.app, device: target.device,
            externalID: whom.externalID, messageID: nil, body: request.document.bytes)
    }

    func newRow(
        _ seq: SequenceNumber, _ n: Int, _ callback: Callback, _ provider: String?
    ) -> InvocationRecord {
        InvocationRecord(
            id: InvocationID(seq: seq, n: n), callback: callback, provider: provider, route: nil, handler: nil,
            budget: table.budget, deadline: nil, started: false, result: nil)
    }
}
