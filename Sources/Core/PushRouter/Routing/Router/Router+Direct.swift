public import PushModel

extension Router {
    /// Accepts a delivery for one route and one callback, regardless of the platform and the other routes: for testing
    /// a handler. The tracker, the tracks and the other routes do not get it, and it waits in no lane.
    ///
    /// - Parameters:
    ///   - deliver: the delivery.
    ///   - request: the request with the delivery.
    ///   - callback: the callback of the invocation.
    ///   - position: the position of the route in the table.
    ///   - peer: the sender.
    ///   - now: the time at which the request was read.
    ///   - effects: receives the effects.
    /// - Throws: `Refusal` for a payload that its platform would not accept; the router is then unchanged.
    public mutating func submit(
        _ deliver: DeliverRequest, of request: Request, as callback: Callback, toRouteAt position: Int,
        from peer: Peer, at now: Moment, effects: inout Effects
    ) throws(Refusal) {
        let platform = deliver.target.platform ?? deliver.transport?.platform ?? .android
        let decision: Decision
        do {
            decision = try decide(Delivery(deliver, platform: platform), settings: table.detection)
        } catch {
            throw .invalidPayload(field: error.field, message: error.message)
        }
        var target = deliver.target
        target.app = decision.app
        let accepted = accept(
            request, from: peer, at: now, platform: platform, target: target,
            messageID: decision.messageID ?? (platform.hasMessageIDs ? nil : request.id),
            delivery: (deliver.state, decision))
        var arrival = Arrival(
            accepted, subject: InvocationSubject(request), provider: decision.provider, keys: decision.keys, lane: nil)
        pin(callback, to: position, &arrival, at: now, &effects)
        lastNumber = accepted.seq
        endTurn(at: now, &effects)
    }
}
