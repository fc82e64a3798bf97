import PushDispatch
public import PushModel

extension Router {
    /// Accepts a delivery for one route and one callback, whatever the platform and the other routes make of it: for who
    /// tries a handler out. The tracker, the tracks and the other routes do not hear of it, and it waits in no lane.
    ///
    /// - Parameters:
    ///   - deliver: the delivery.
    ///   - request: the request that it is of.
    ///   - callback: the callback that the handler is run for.
    ///   - position: the place of the route in the table.
    ///   - peer: who asks.
    ///   - now: when it was read.
    ///   - effects: what is to be done is appended.
    /// - Throws: `Refusal` for a payload that is not what its platform takes; then nothing changed.
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
