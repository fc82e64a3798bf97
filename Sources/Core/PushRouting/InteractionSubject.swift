import PushDispatch
import PushModel
import PushTracking

/// What a notification is known to be from what an interaction brings along, or from its delivery's request.
struct NotificationFacts {
    /// Whose it is; `nil` when nobody's or not known.
    private(set) var provider: String?
    /// The id that the interaction gives.
    private(set) var messageID: String?
    /// What the platform hands back; `nil` when nobody knows it.
    private(set) var handedBack: HandedBackPayload?
    /// The campaign, if it is Braze's and has one.
    private(set) var campaignID: String?
    /// The keys of what was delivered, as far as they are known.
    private(set) var keys: PayloadKeys?
    /// Whether the notification has a button with an id, if it is Braze's and its payload is known.
    private(set) var hasButton: ((String) -> Bool)?

    /// - Parameters:
    ///   - interact: the interaction.
    ///   - past: the delivery that it names, where its request was read.
    ///   - platform: the platform that hands back the payload.
    ///   - detection: whose payload is whose.
    /// - Throws: why the payload that the interaction brings along is none.
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
            // What comes back as it was delivered could be read when it was accepted.
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

/// What an interaction is about: one delivery, as the tracker remembers it, its request says it, or the payload tells.
struct InteractionSubject {
    let facts: NotificationFacts
    /// What the tracker remembers of it.
    let delivery: KnownDelivery?
    /// Its request, where that was read.
    let past: PastDelivery?
    /// Whose it is; `nil` when nobody's or not known.
    let provider: String?
    /// What the tracker knows it by, if it is the tracker's: Braze's, or what is known to nobody and may be Braze's yet.
    private(set) var tracked: Interaction.Subject?

    /// - Parameter read: the request that ``Router/deliveryToRead(for:)`` asked for, where there is one.
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
        // What the tracker remembers comes first; a request of another delivery says nothing of it.
        if let delivery, let other = past, other.accepted.seq != delivery.seq {
            past = nil
            facts = try NotificationFacts(interact, nil, platform: platform, detection: detection)
        }
        provider = delivery == nil ? facts.provider : Router.trackedProvider
        (self.facts, self.delivery, self.past) = (facts, delivery, past)
        if provider == Router.trackedProvider {
            tracked = name
            guard delivery == nil, let past else { return }
            // The repeat of a message (T14) is not remembered; what it repeats has its id.
            if let message = past.accepted.messageID {
                tracked = .message(message)
            } else if let handedBack = facts.handedBack, let digest = handedBack.digest {
                tracked = .payload(digest)
            }
        } else if past == nil, facts.handedBack == nil {
            tracked = name
        }
    }

    /// The keys that routes match: of what is handed back.
    var keys: PayloadKeys? { facts.handedBack?.keys }

    /// Whether it is something that was not told before, of a notification that was there: only then do tracks apply.
    func isNews(_ result: InteractionResult, of interaction: Interaction, _ tracker: Tracker) -> Bool {
        switch result.verdict {
        case .opened, .closed, .unattributed, .dismissed: return true
        case .duplicate, .unknownAction, .elsewhere, .unmatched: return false
        case nil:
            // Tracks do not wait for the grace to end, so what can be told of the verdict must be told now.
            if case .button(let id) = interaction.act, let hasButton = facts.hasButton, !hasButton(id) { return false }
            return !tracker.isHeldInVain(interaction)
        }
    }
}
