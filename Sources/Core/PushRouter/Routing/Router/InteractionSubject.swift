import PushModel

/// The facts about a notification, from the interaction itself or from its delivery's request.
struct NotificationFacts {
    /// The provider of the payload; `nil` if it has none or is unknown.
    private(set) var provider: String?
    /// The message id that the interaction names.
    private(set) var messageID: String?
    /// The payload that the platform hands back; `nil` if it is unknown.
    private(set) var handedBack: HandedBackPayload?
    /// The campaign id of a Braze payload; `nil` if it has none.
    private(set) var campaignID: String?
    /// The keys of the delivered payload, as far as they are known.
    private(set) var keys: PayloadKeys?
    /// Whether the notification has a button with an id; `nil` unless it is Braze's and its payload is known.
    private(set) var hasButton: ((String) -> Bool)?

    /// - Parameters:
    ///   - interact: the interaction.
    ///   - past: the delivery that the interaction names, if the ledger's request was read.
    ///   - platform: the platform that hands back the payload.
    ///   - detection: the rules that find the provider.
    /// - Throws: `PayloadError` if the payload in the interaction is invalid.
    init(
        _ interact: InteractRequest, _ past: PastDelivery?, platform: Platform, detection: DetectionSettings
    ) throws(PayloadError) {
        switch interact.subject {
        case .delivery: break
        case .message(let id): messageID = id
        case .payload(let payload):
            let handedBack = try HandedBackPayload(payload, platform: platform, settings: detection)
            (provider, messageID) = (handedBack.provider, handedBack.messageID)
            self.handedBack = handedBack
        }
        if let past {
            provider = past.provider
            // A platform that hands back the delivered payload: the payload was readable when the delivery was
            // accepted.
            if past.accepted.platform.handsBackPayload, let payload = past.request?.payload {
                handedBack = try? HandedBackPayload(payload, platform: past.accepted.platform, settings: detection)
            }
        }
        (campaignID, keys) = (handedBack?.campaignID, handedBack?.keys)
        if let handedBack, handedBack.provider == Router.trackedProvider {
            hasButton = { handedBack.action($0) != nil }
        }
        guard keys == nil, let past, let deliver = past.request else { return }
        let decision = try? decide(Delivery(deliver, platform: past.accepted.platform), settings: detection)
        (campaignID, keys) = (decision?.braze?.campaignID, decision?.keys)
        if hasButton == nil, let braze = decision?.braze {
            hasButton = { id in braze.actions.contains { $0.id == id } }
        }
    }
}

/// The delivery that an interaction is about, from the tracker's memory, from the delivery's request, or from the
/// payload.
struct InteractionSubject {
    let facts: NotificationFacts
    /// The delivery in the tracker's memory.
    let delivery: KnownDelivery?
    /// The delivery's request, if the ledger's request was read.
    let past: PastDelivery?
    /// The provider of the payload; `nil` if it has none or is unknown.
    let provider: String?
    /// The name by which the tracker finds the delivery; `nil` for a payload that is surely not Braze's.
    private(set) var tracked: Interaction.Subject?

    /// - Parameter read: the request that ``Router/deliveryToRead(for:)`` asked for, if any.
    init(
        _ interact: InteractRequest, _ read: PastDelivery?, platform: Platform, tracker: Tracker,
        detection: DetectionSettings
    ) throws(PayloadError) {
        var facts = try NotificationFacts(interact, read, platform: platform, detection: detection)
        let name: Interaction.Subject?
        switch interact.subject {
        case .delivery(let seq): name = .delivery(seq)
        case .message(let message): name = .message(message)
        case .payload:
            name =
                facts.messageID.map(Interaction.Subject.message)
                ?? facts.handedBack?.digest.map(Interaction.Subject.payload)
        }
        let target = interact.target
        let delivery = name.flatMap { tracker.delivery(for: $0, app: target.app, device: target.device) }
        var past = read
        // The tracker's memory takes precedence over a request of another delivery.
        if let delivery, let other = past, other.accepted.seq != delivery.seq {
            past = nil
            facts = try NotificationFacts(interact, nil, platform: platform, detection: detection)
        }
        provider = delivery == nil ? facts.provider : Router.trackedProvider
        (self.facts, self.delivery, self.past) = (facts, delivery, past)
        if provider == Router.trackedProvider {
            tracked = name
            guard delivery == nil, let past else { return }
            // The tracker does not remember the repeat of a message (T14); the original has the same message id.
            if let message = past.accepted.messageID {
                tracked = .message(message)
            } else if let handedBack = facts.handedBack, let digest = handedBack.digest {
                tracked = .payload(digest)
            }
        } else if past == nil, facts.handedBack == nil {
            tracked = name
        }
    }

    /// The keys that routes match: those of the payload that the platform hands back.
    var keys: PayloadKeys? { facts.handedBack?.keys }

    /// Whether the interaction is the first of its kind on an existing notification: tracks apply only to such an
    /// interaction.
    func isNews(_ result: InteractionResult, of interaction: Interaction, _ tracker: Tracker) -> Bool {
        switch result.verdict {
        case .opened, .closed, .unattributed, .dismissed: return true
        case .duplicate, .unknownAction, .elsewhere, .unmatched: return false
        case nil:
            // Tracks do not wait for the end of the grace period, so this checks the parts of the verdict that are
            // known now.
            if case .button(let id) = interaction.act, let hasButton = facts.hasButton, !hasButton(id) { return false }
            return !tracker.isHeldInVain(interaction)
        }
    }
}
