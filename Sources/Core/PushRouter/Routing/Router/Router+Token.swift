public import PushModel

extension Router {
    /// Stores a token registration, and routes its callback to the route of every SDK.
    ///
    /// - Returns: the number of invocations.
    mutating func token(
        _ token: TokenRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) throws(Refusal) -> Int {
        let platform = platform(of: token.target)
        let called = token.kind.callback(on: platform)
        try checkInvocations(of: [called]) { callback in
            RouteFacts(provider: nil, platform: platform, callback: callback, app: token.target.app, keys: nil)
        }
        try checkQueues(for: called == .none ? [] : [called], at: now) { callback in
            RouteFacts(provider: nil, platform: platform, callback: callback, app: token.target.app, keys: nil)
        }
        let accepted = accept(request, about: token.target, from: peer, at: now, &effects)
        memory.devices.register(token.kind, token.token, of: accepted, &effects)
        let source = TrackerSource(accepted, at: request.at ?? now.wall)
        memory.track(at: now, &effects) { $0.token(token.kind, token.token, source, now: now.wall, into: &$1) }
        var arrival = Arrival(
            accepted, subject: InvocationSubject(request), provider: nil, keys: nil, lane: accepted.lane)
        guard called != .none else {
            let row = arrival.row(.none, budget: table.budget)
            let reason = RouterReason.noCallbackForToken(accepted.platform).ofOutcome()
            concludeAtOnce(row, of: arrival, .swallowed, because: reason, at: now, &effects)
            return arrival.count
        }
        route(called, &arrival, at: now, &effects)
        copy([called], &arrival, at: now, &effects)
        return arrival.count
    }

    /// Returns the device that registered a token last, with its topics; `nil`: none is known.
    public func device(ofToken token: String) -> KnownDevice? {
        memory.devices.known.device(ofToken: token).map(memory.devices.known.whole)
    }

    /// The devices that the router remembers.
    public var deviceUsage: DeviceUsage {
        DeviceUsage(count: memory.devices.known.count, byteCount: memory.devices.known.byteCount)
    }

    /// The devices that were forgotten because `DeviceMemoryMax=` was reached.
    public var deviceEvictions: DeviceEvictions { memory.devices.evictions }

    /// Notes that a session of an app begins or ends. It leads to no invocation.
    mutating func session(
        _ session: SessionRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) {
        let accepted = accept(request, about: session.target, from: peer, at: now, &effects)
        let source = TrackerSource(accepted, at: request.at ?? now.wall)
        memory.track(at: now, &effects) { $0.session(session.kind, source, now: now.wall, into: &$1) }
    }

    func platform(of target: Target) -> Platform {
        target.platform ?? memory.devices.known(target.device, app: target.app)?.platform ?? .android
    }

    /// Accepts a request about a device that has no payload.
    mutating func accept(
        _ request: Request, about asked: Target, from peer: Peer, at now: Moment, body: [UInt8]? = nil,
        _ effects: inout Effects
    ) -> AcceptedRequest {
        var target = asked
        let known = memory.devices.known(target.device, app: target.app)
        target.externalID = target.externalID ?? known?.externalID
        let accepted = accept(request, from: peer, at: now, platform: platform(of: asked), target: target, body: body)
        effects.record(accepted)
        memory.devices.remember(accepted, &effects)
        return accepted
    }
}

extension TokenRequest.Kind {
    /// The callback that the platform runs.
    fileprivate func callback(on platform: Platform) -> Callback {
        switch (platform, self) {
        case (.android, .new): .onNewToken
        case (.android, .registered): .onRegistered
        case (.android, .unregistered): .onUnregistered
        case (.ios, .new), (.ios, .registered): .didRegister
        case (.ios, .unregistered), (.web, _): .none
        }
    }
}

extension TrackerSource {
    /// The user and the device of a request, with missing fields filled in.
    init(_ accepted: AcceptedRequest, at time: WallTime) {
        self.init(
            cause: accepted.seq, platform: accepted.platform, app: accepted.app, device: accepted.device,
            externalID: accepted.externalID, at: time)
    }
}
