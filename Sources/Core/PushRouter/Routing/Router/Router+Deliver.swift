public import PushModel

extension Router {
    /// Decides the platform's treatment of a payload, and admits its invocations.
    ///
    /// - Returns: the number of invocations.
    mutating func deliver(
        _ deliver: DeliverRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) throws(Refusal) -> Int {
        var target = deliver.target
        var known = memory.devices.known(target.device, app: target.app)
        let platform = target.platform ?? deliver.transport?.platform ?? known?.platform ?? .android
        let decision: Decision
        do {
            decision = try decide(Delivery(deliver, platform: platform), settings: table.detection)
        } catch {
            throw .invalidPayload(field: error.field, message: error.message)
        }
        if target.app != decision.app {
            target.app = decision.app
            known = memory.devices.known(target.device, app: target.app)
        }
        let observed = table.interaction.observed(decision)
        try checkInvocations(of: observed) {
            RouteFacts(
                provider: decision.provider, platform: platform, callback: $0, app: decision.app, keys: decision.keys)
        }
        let routed = decision.owner == .tracker ? decision.callbacks.filter(\.isBroadcast) : decision.callbacks
        try checkQueues(for: routed, at: now) {
            RouteFacts(
                provider: decision.provider, platform: platform, callback: $0, app: decision.app, keys: decision.keys)
        }
        target.externalID = target.externalID ?? known?.externalID
        let messageID = decision.messageID ?? (platform.hasMessageIDs ? nil : request.id)
        let accepted = accept(
            request, from: peer, at: now, platform: platform, target: target, messageID: messageID,
            delivery: (deliver.state, decision))
        effects.record(accepted)
        memory.warnings.note(decision, of: accepted.seq, at: now.monotonic)
        // A refused send names a token that perhaps no device has.
        if deliver.refusal == nil { memory.devices.remember(accepted, instead: known, &effects) }

        var keys = decision.keys
        // Routes and tracks read the key-values repeatedly.
        if table.looksAtKeyValues { keys.readKeyValues() }
        var arrival = Arrival(
            accepted, subject: InvocationSubject(request), provider: decision.provider, keys: keys,
            lane: accepted.lane)
        if isRepeat(decision, accepted) {
            let row = arrival.row(.none, budget: table.budget)
            let reason = RouterReason.repeatedMessageID.ofOutcome()
            concludeAtOnce(row, of: arrival, .duplicate, because: reason, at: now, &effects)
            return arrival.count
        }
        if !table.tracks.isEmpty, deliver.refusal == nil,
            var facts = TrackFacts(
                receiving: decision, messageID: messageID, platform: platform, device: accepted.device,
                externalID: accepted.externalID)
        {
            facts.keys = keys
            queueTracks(facts, of: accepted, at: request.at ?? now.wall, now: now, &effects)
        }
        let receipt = Receipt(decision, of: deliver, completion: table.completion, at: request.at ?? now.wall)
        if let change = decision.tokenChange {
            let source = TrackerSource(accepted, at: request.at ?? now.wall)
            memory.track(at: now, &effects) { $0.token(change.kind, change.token, source, now: now.wall, into: &$1) }
        }
        if let outcome = decision.outcome {
            if let receipt { take(receipt, of: accepted, at: now, &effects) }
            let row = arrival.row(.none, budget: table.budget)
            let reason = decision.reasons.last?.ofOutcome
            concludeAtOnce(row, of: arrival, outcome, because: reason, at: now, &effects)
            copy(observed, &arrival, at: now, &effects)
            return arrival.count
        }
        for callback in decision.callbacks {
            guard decision.owner == .tracker else {
                route(callback, &arrival, at: now, &effects)
                continue
            }
            let receipt = arrival.count == 0 ? receipt : nil
            track(callback, receipt, deliver.sdk, &arrival, at: now, &effects)
            // Braze has its payload; a broadcast callback must reach the app's other SDKs too.
            if callback.isBroadcast, !table.owners(of: arrival.facts(callback)).isEmpty {
                route(callback, &arrival, at: now, &effects)
            }
        }
        copy(observed, &arrival, at: now, &effects)
        return arrival.count
    }

    /// Hands a Braze payload to the tracker, now or at the invocation's turn in its lane.
    private mutating func track(
        _ callback: Callback, _ receipt: Receipt?, _ sdk: SDKState, _ arrival: inout Arrival, at now: Moment,
        _ effects: inout Effects
    ) {
        let accepted = arrival.request
        let row = arrival.row(callback, budget: table.budget)
        let needsInstance = accepted.platform.mayLackInstance(for: callback)
        if needsInstance, sdk == .missing {
            // The system shows the notification anyway, and the user may open it (rule T9).
            if let receipt, receipt.isDisplayed { take(receipt, of: accepted, at: now, &effects) }
            let reason = RouterReason.noBrazeInstance.ofOutcome()
            concludeAtOnce(row, of: arrival, .sdkNotReady, because: reason, at: now, &effects)
        } else if mustWait(in: arrival.lane) {
            var invocation = Invocation(
                of: arrival, record: row, owner: .tracker, table: sharedTable, isInLane: true)
            invocation.receipt = receipt
            admit(invocation, at: now, &effects)
        } else {
            if let receipt { take(receipt, of: accepted, at: now, &effects) }
            let isDelayed = needsInstance && sdk == .delayed
            let reason = isDelayed ? RouterReason.brazeInstanceDelayed.ofOutcome() : nil
            let completion = arrival.completions(callback, table).byTracker()
            concludeAtOnce(
                row, of: arrival, .handedToTracker, because: reason, completion: completion, at: now, &effects)
        }
    }

    /// Whether FCM on the device drops the message as a repeat; stores its id.
    private mutating func isRepeat(_ decision: Decision, _ accepted: AcceptedRequest) -> Bool {
        guard accepted.platform.keepsRecentIDs, let device = accepted.device,
            decision.duplicateID != nil || accepted.state?.endsProcess == true
        else { return false }
        let key = DeviceKey(app: accepted.app, device: device)
        let delivery = RecentDelivery(device: key, duplicateID: decision.duplicateID, state: accepted.state)
        return memory.devices.receive(delivery)
    }

    /// Whether a Braze payload waits in its lane. In `relay` mode it goes to the tracker at once.
    private func mustWait(in lane: DeviceKey?) -> Bool {
        table.mode == .device && !lanes.isEmpty && lane.map { lanes[$0] != nil } ?? false
    }
}

extension Receipt {
    /// Takes the tracker's part of a delivery; `nil` if the app does not receive it or it is not Braze's.
    init?(_ decision: Decision, of deliver: DeliverRequest, completion: CompletionRules, at time: WallTime) {
        guard decision.received, let braze = decision.braze else { return nil }
        self.init(
            campaignID: braze.campaignID, hasOwnID: decision.messageID != nil, uniqueID: braze.uniqueID,
            isDisplayed: completion.displays(decision, on: deliver.osVersion),
            inForeground: deliver.state == .foreground,
            digest: decision.messageID == nil ? decision.digest : nil,
            buttons: ButtonList(decision), at: time)
    }
}

extension ButtonList {
    /// The buttons whose presses the payload reports under an id.
    fileprivate init(_ decision: Decision) {
        self.init()
        decision.forEachButton { id, action in
            append(id, action)
            return isFull
        }
    }
}

extension Router {
    /// Returns the delivery whose request must be read from the ledger before an interaction is submitted; `nil` if
    /// `submit` needs none.
    ///
    /// For a delivery that the tracker remembers, the request is read only if its payload matters, and then always. So
    /// the result of the interaction never depends on which part of the daemon knows the delivery.
    public func deliveryToRead(for request: Request) -> DeliveryReference? {
        guard case .interact(let interact) = request.action else { return nil }
        guard let named = DeliveryReference(interact) else { return deliveryHandedBack(to: interact) }
        if let known = remembered(named) {
            guard needsPayload(of: known, for: interact) else { return nil }
            return DeliveryReference(.seq(known.seq), app: named.app, device: named.device)
        }
        // A number above the last one belongs to no delivery.
        if case .seq(let seq) = named.name, seq > lastNumber { return nil }
        return named
    }

    /// Returns the tracker's delivery that a web notification's `data` identifies, on platforms that hand back only
    /// this data: the key-values for tracks are in the delivered payload.
    private func deliveryHandedBack(to interact: InteractRequest) -> DeliveryReference? {
        let target = interact.target
        let platform = target.platform ?? memory.devices.known(target.device, app: target.app)?.platform
        guard let platform, !platform.handsBackPayload, !table.tracks.isEmpty,
            let subject = try? InteractionSubject(
                interact, nil, platform: platform, tracker: memory.tracker, detection: table.detection),
            let known = subject.delivery, table.hasTrack(on: UserAct(interact).occasion)
        else { return nil }
        return DeliveryReference(.seq(known.seq), app: target.app, device: target.device)
    }

    private func remembered(_ reference: DeliveryReference) -> KnownDelivery? {
        let subject: Interaction.Subject =
            switch reference.name {
            case .seq(let seq): .delivery(seq)
            case .message(let id): .message(id)
            }
        return memory.tracker.delivery(for: subject, app: reference.app, device: reference.device)
    }

    /// Whether the payload of a delivery that the tracker remembers can change the result of an interaction.
    private func needsPayload(of delivery: KnownDelivery, for interact: InteractRequest) -> Bool {
        let act = UserAct(interact)
        let platform = interact.target.platform ?? delivery.platform
        if table.hasTrack(on: act.occasion) { return true }
        if platform.reportsDismissalsByCategory, act == .dismissed { return true }
        let decision = decide(
            act, on: nil, of: Self.trackedProvider, platform: platform, rules: table.interaction)
        guard decision.outcome == nil else { return false }
        return table.mayObserve(
            RouteFacts(
                provider: Self.trackedProvider, platform: platform, callback: decision.callback,
                app: interact.target.app ?? delivery.app, keys: nil))
    }
}

extension UserAct {
    fileprivate init(_ interact: InteractRequest) {
        self.init(interact.kind, action: interact.action, text: interact.text)
    }

    /// The occasion of the act in tracks.
    fileprivate var occasion: TrackRule.Occasion {
        switch self {
        case .opened: .opened
        case .button: .action
        case .dismissed: .dismissed
        }
    }
}

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
