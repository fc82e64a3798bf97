public import PushModel

extension Router {
    /// Subscribes the devices of tokens to a topic, or ends their subscriptions.
    ///
    /// - Returns: the result of each token, in order.
    mutating func topic(
        _ topic: TopicRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) -> [TopicRequest.Result] {
        var target = topic.target
        target.device = nil
        let body = topic.lineWithoutTokens
        let accepted = accept(request, from: peer, at: now, platform: platform(of: target), target: target, body: body)
        effects.record(accepted)
        lastNumber = accepted.seq
        let since = topic.kind == .subscribe ? max(0, now.wall.seconds) : nil
        var change = SubscriptionChange(topic: topic.topic, since: since, devices: [])
        var changed: (places: [UInt32], set: Set<UInt32>) = ([], [])
        // No subscription changes before the end of the list.
        let number = memory.devices.known.number(of: topic.topic)
        let results = topic.tokens.map { token in
            guard let place = place(ofToken: token, topic, from: peer, at: now, &effects) else {
                return TopicRequest.Result.unregistered
            }
            let known = memory.devices.known
            // A token may be in the list twice, and two tokens may have had one device.
            let isSubscribed = number.map { known.isSubscribed(place, to: $0) } ?? false
            switch (topic.kind, isSubscribed != changed.set.contains(place)) {
            case (.subscribe, true): return .exists
            case (.unsubscribe, false): return .missing
            case (.subscribe, false):
                guard known.topicCount(at: place) < TopicRequest.topicsMax else { return .tooManyTopics }
            case (.unsubscribe, true): break
            }
            guard let device = known.device(at: place) else { return .unregistered }
            changed.places.append(place)
            changed.set.insert(place)
            change.devices.append(device.number)
            return topic.kind == .subscribe ? .subscribed : .unsubscribed
        }
        memory.devices.change(change, at: changed.places, &effects)
        memory.devices.makeRoom(
            but: nil, atMost: DeviceMemory.forgottenAtOnce + topic.tokens.count, &effects)
        return results
    }

    /// Returns the index of the device of a token. Registers an unknown token on a device of its name if the request
    /// asks for it.
    private mutating func place(
        ofToken token: String, _ topic: TopicRequest, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) -> UInt32? {
        if let known = memory.devices.known.place(ofToken: token) { return known }
        let rule = table.registration(of: token)
        let isFormer = memory.devices.known.former(token: token) != nil
        guard topic.kind == .subscribe, topic.unknown == .register && !isFormer || rule != nil else { return nil }
        var target = presumedTarget(ofToken: token, topic, rule)
        // A device's row needs the number of a request; this request holds no more than the device's name.
        guard let request = try? Request(acceptedLine: DeviceRequest(target: target, state: DeviceState()).line) else {
            return nil
        }
        target.externalID = target.externalID ?? memory.devices.known(target.device, app: target.app)?.externalID
        let accepted = accept(request, from: peer, at: now, platform: platform(of: target), target: target)
        effects.record(accepted)
        lastNumber = accepted.seq
        return memory.devices.register(token, of: accepted, &effects).flatMap { memory.devices.known.place(of: $0.key) }
    }

    /// The device of a token that no device registered.
    func presumedTarget(ofToken token: String, _ topic: TopicRequest, _ rule: RegistrationRule?) -> Target {
        var presumed = Target(
            platform: topic.target.platform, app: topic.target.app ?? topic.topic.project, device: token)
        presumed.platform = platform(of: presumed)
        return rule?.target(ofToken: token, presumed: presumed) ?? presumed
    }

    /// Stores the state of a device for later pushes.
    mutating func device(
        _ request: DeviceRequest, _ whole: Request, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) {
        _ = accept(whole, about: request.target, from: peer, at: now, &effects)
        guard var device = memory.devices.known(request.target.device, app: request.target.app) else { return }
        let state = device.detail.state.changed(by: request.state)
        guard state != device.detail.state else { return }
        device.detail.state = state
        memory.devices.change(device, &effects)
    }

    /// Returns the devices that a publish reaches, in order of their numbers.
    func members(of publish: PublishRequest) throws(Refusal) -> [TopicMember] {
        let limit = table.limits.fanOut
        let condition: TopicCondition?
        let topics: [String]?
        switch publish.audience {
        case .topic(let topic): (condition, topics) = (nil, [topic])
        case .condition(let text):
            do throws(TopicCondition.Fault) {
                let read = try TopicCondition(text)
                (condition, topics) = (read, read.includesNonMembers ? nil : read.topics)
            } catch {
                throw .invalidValue(field: "condition", message: error.message)
            }
        }
        // A condition may exclude most of them, but each must be tested.
        let members = memory.devices.known.members(
            ofTopics: topics, of: publish.project, app: publish.deliver.target.app, condition: condition,
            limit: condition == nil ? limit : 8 * limit)
        guard let members, members.count <= limit else {
            throw .invalidValue(
                field: condition == nil ? "topic" : "condition",
                message: "more than \(limit) devices are subscribed (FanOutMax=)")
        }
        return members
    }
}

extension TopicRequest {
    /// The request line without its tokens, for the ledger: tokens belong to the rows of their devices, and are erased
    /// with them.
    fileprivate var lineWithoutTokens: [UInt8] {
        var request = self
        request.tokens = []
        return Array(request.line.dropLast())
    }
}

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

    /// The warnings about the payloads of accepted pushes.
    public var payloadWarnings: WarningCounts { memory.warnings }

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
