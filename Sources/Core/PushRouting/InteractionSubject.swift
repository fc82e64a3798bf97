import PushDispatch
import PushModel
import PushTracking

/// The facts about a notification from an interaction's own payload, or from the request of its delivery.
struct NotificationFacts {
    /// The provider; `nil`: none, or unknown.
    private(set) var provider: String?
    /// The message id in the interaction.
    private(set) var messageID: String?
    /// The payload that the platform hands back; `nil`: unknown.
    private(set) var handedBack: HandedBackPayload?
    /// The campaign of a Braze notification.
    private(set) var campaignID: String?
    /// The keys of the delivered payload, as far as known.
    private(set) var keys: PayloadKeys?
    /// Whether a Braze notification has a button with an id; `nil`: it is not Braze's, or its payload is unknown.
    private(set) var hasButton: ((String) -> Bool)?

    /// - Parameters:
    ///   - interact: the interaction.
    ///   - past: the delivery that it names, if its request was read.
    ///   - platform: the platform that hands back the payload.
    ///   - detection: the rules of the providers.
    /// - Throws: `PayloadError` for an invalid payload in the interaction.
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
            // The request was accepted, so this payload was valid: `try?` loses no error.
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

/// The subject of an interaction: one delivery, known from the tracker, from its request, or from the payload that the
/// platform hands back.
struct InteractionSubject {
    let facts: NotificationFacts
    /// The tracker's record of the delivery.
    let delivery: KnownDelivery?
    /// The request of the delivery, if it was read.
    let past: PastDelivery?
    /// The provider; `nil`: none, or unknown.
    let provider: String?
    /// The name by which the tracker finds the delivery. `nil` for a delivery of another provider; set for an unknown
    /// one, which may still turn out to be Braze's.
    private(set) var tracked: Interaction.Subject?

    /// - Parameter read: the request that ``Router/deliveryToRead(for:)`` asked for; `nil`: it asked for none.
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
        // The tracker's record takes precedence; the request of another delivery does not describe this one.
        if let delivery, let other = past, other.accepted.seq != delivery.seq {
            past = nil
            facts = try NotificationFacts(interact, nil, platform: platform, detection: detection)
        }
        provider = delivery == nil ? facts.provider : Router.trackedProvider
        (self.facts, self.delivery, self.past) = (facts, delivery, past)
        if provider == Router.trackedProvider {
            tracked = name
            guard delivery == nil, let past else { return }
            // The tracker does not remember the repeat of a message (T14); the original has the same id.
            if let message = past.accepted.messageID {
                tracked = .message(message)
            } else if let handedBack = facts.handedBack, let digest = handedBack.digest {
                tracked = .payload(digest)
            }
        } else if past == nil, facts.handedBack == nil {
            tracked = name
        }
    }

    /// The keys that routes match: those of the payload handed back.
    var keys: PayloadKeys? { facts.handedBack?.keys }

    /// Whether the interaction is new and its notification existed: tracks apply only then.
    func isNews(_ result: InteractionResult, of interaction: Interaction, _ tracker: Tracker) -> Bool {
        switch result.verdict {
        case .opened, .closed, .unattributed, .dismissed: return true
        case .duplicate, .unknownAction, .elsewhere, .unmatched: return false
        case nil:
            // Tracks do not wait for the grace: the function predicts the verdict from what is known now.
            if case .button(let id) = interaction.act, let hasButton = facts.hasButton, !hasButton(id) { return false }
            return !tracker.isHeldInVain(interaction)
        }
    }
}
