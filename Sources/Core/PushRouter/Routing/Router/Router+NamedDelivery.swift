public import PushModel

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
