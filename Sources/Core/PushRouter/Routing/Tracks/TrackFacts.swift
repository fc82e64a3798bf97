public import PushModel

/// The facts about a push, and about a person's act on it, that tracks use.
public struct TrackFacts: Sendable {
    /// The person's act; `nil`: none, the push was received.
    public var act: UserAct?
    /// The provider of the payload.
    public var provider: String?
    /// The campaign of a Braze payload.
    public var campaignID: String?
    /// The message id: the payload's own, or on iOS and the web the request's.
    public var messageID: String?
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user: the given one, or the device's last known user.
    public var externalID: String?
    /// The payload's keys; `nil` for an interaction with an unknown payload.
    public var keys: PayloadKeys?

    /// Joins the parts.
    public init(
        act: UserAct?, provider: String?, campaignID: String? = nil, messageID: String? = nil, platform: Platform,
        app: String? = nil, device: String? = nil, externalID: String? = nil, keys: PayloadKeys?
    ) {
        self.act = act
        self.provider = provider
        self.campaignID = campaignID
        self.messageID = messageID
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.keys = keys
    }

    /// The facts about a received push. `nil` for a push that no app code or SDK reports: a Braze push without a
    /// receipt of the tracker (T9), a push of another provider that reaches no code of the app, and a callback that
    /// carries no message.
    ///
    /// - Parameters:
    ///   - decision: the platform's decision on the delivery.
    ///   - messageID: the message id of the accepted request, which may differ from the payload's own.
    ///   - device: the device.
    ///   - externalID: the user: the given one, or the device's last known user.
    public init?(
        receiving decision: Decision, messageID: String?, platform: Platform, device: String?, externalID: String?
    ) {
        if decision.braze != nil {
            guard decision.received else { return nil }
        } else {
            guard decision.outcome == nil, decision.providers.first?.isProbe != true,
                !decision.invocations.allSatisfy(\.callback.isBroadcast)
            else { return nil }
        }
        self.init(
            act: nil, provider: decision.provider, campaignID: decision.braze?.campaignID, messageID: messageID,
            platform: platform, app: decision.app, device: device, externalID: externalID, keys: decision.keys)
    }

    /// The occasion in the words of `On=`.
    public var occasion: TrackRule.Occasion {
        switch act {
        case nil: .received
        case .opened: .opened
        case .button: .action
        case .dismissed: .dismissed
        }
    }

    /// Returns the text of a source; `nil` if it has none.
    func text(of source: TrackSource) -> String? {
        switch source {
        case .keyValue(let key): keys?.keyValue(key)
        case .data(let key): keys?.data(key)
        case .fact(let fact): text(of: fact)
        case .constant(let text): text
        }
    }

    private func text(of fact: TrackSource.Fact) -> String? {
        switch fact {
        case .provider: provider
        case .campaignID: campaignID
        case .messageID: messageID
        case .platform: platform.rawValue
        case .app: app
        case .device: device
        case .externalID: externalID
        case .occasion: occasion.rawValue
        case .action: if case .button(let id, _)? = act { id } else { nil }
        case .text: if case .button(_, let text)? = act { text } else { nil }
        }
    }
}

extension TrackRule {
    /// Whether the track applies to these facts.
    func applies(to facts: TrackFacts) -> Bool {
        guard occasions.contains(facts.occasion) else { return false }
        if case .button(let id, _)? = facts.act, !buttons.isEmpty, !buttons.contains(where: { $0.matches(id) }) {
            return false
        }
        // Tracks have no condition on the callback, so any value works here.
        return match.holds(
            for: RouteFacts(
                provider: facts.provider, platform: facts.platform, callback: .none, app: facts.app, keys: facts.keys))
    }
}
