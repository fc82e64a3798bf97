import PushDispatch
import PushModel

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
        return topic.tokens.map { token in
            guard let device = device(ofToken: token, topic, from: peer, at: now, &effects) else {
                return .unregistered
            }
            return change(device, topic, at: now, &effects)
        }
    }

    private mutating func change(
        _ device: KnownDevice, _ topic: TopicRequest, at now: Moment, _ effects: inout Effects
    ) -> TopicRequest.Result {
        var device = device
        let place = device.detail.topics.firstIndex { $0.topic == topic.topic }
        switch (topic.kind, place) {
        case (.subscribe, .some): return .exists
        case (.unsubscribe, nil): return .missing
        case (.subscribe, nil):
            guard device.detail.topics.count < TopicRequest.topicsMax else { return .tooManyTopics }
            device.detail.topics.append(Subscription(topic: topic.topic, since: max(0, now.wall.seconds)))
            memory.devices.change(device, &effects)
            return .subscribed
        case (.unsubscribe, .some(let place)):
            device.detail.topics.remove(at: place)
            memory.devices.change(device, &effects)
            return .unsubscribed
        }
    }

    /// Returns the device of a token. Registers an unknown token on a device of its name if the request asks for it.
    private mutating func device(
        ofToken token: String, _ topic: TopicRequest, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) -> KnownDevice? {
        if let known = device(ofToken: token) { return known }
        var presumed = Target(
            platform: topic.target.platform, app: topic.target.app ?? topic.topic.project, device: token)
        presumed.platform = platform(of: presumed)
        let rule = table.registration(of: token)
        guard topic.kind == .subscribe, topic.unknown == .register || rule != nil else { return nil }
        let target = rule?.target(ofToken: token, presumed: presumed) ?? presumed
        // A device's row needs the number of a request; this request holds no more than the device's name.
        guard let request = try? Request(acceptedLine: DeviceRequest(target: target, state: DeviceState()).line) else {
            return nil
        }
        let accepted = accept(request, about: target, from: peer, at: now, &effects)
        lastNumber = accepted.seq
        memory.devices.register(.registered, token, of: accepted, &effects)
        return device(ofToken: token)
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
    func members(of publish: PublishRequest) throws(Refusal) -> [KnownDevice] {
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
        let tooMany = Refusal.invalidValue(
            field: condition == nil ? "topic" : "condition",
            message: "more than \(limit) devices are subscribed (FanOutMax=)")
        // A condition may exclude most of them, but each must be tested.
        guard
            let found = memory.devices.known.devices(
                ofTopics: topics, of: publish.project, limit: condition == nil ? limit : 8 * limit)
        else { throw tooMany }
        let members = found.filter { device in
            guard publish.deliver.target.app == nil || device.key.app == publish.deliver.target.app else {
                return false
            }
            guard let condition else { return true }
            let own = device.detail.topics.lazy.filter { $0.topic.isOf(project: publish.project) }.map(\.topic.topic)
            return condition.isMet(bySubscriptions: Set(own))
        }
        guard members.count <= limit else { throw tooMany }
        return members.sorted { $0.number < $1.number }
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
