public import PushDispatch
public import PushModel

/// The facts of a push or of an interaction that tracks use.
public struct TrackFacts: Sendable {
    /// The person's act; `nil`: the push was received.
    public var act: UserAct?
    /// The provider of the payload.
    public var provider: String?
    /// The campaign of a Braze payload.
    public var campaignID: String?
    /// The payload's own id.
    public var messageID: String?
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user: given, or the device's last known.
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

    /// Creates the facts of a received push. Returns `nil` for a Braze push without a receipt of the tracker (T9), and
    /// for any other push that no code of the app gets or that is no message to the app.
    ///
    /// - Parameters:
    ///   - decision: the decision of the platform.
    ///   - messageID: the id under which the daemon accepted it, perhaps not the payload's own.
    ///   - device: the device.
    ///   - externalID: the user: given, or the device's last known.
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

    /// The word of `On=` for the facts.
    public var occasion: TrackRule.Occasion {
        switch act {
        case nil: .received
        case .opened: .opened
        case .button: .action
        case .dismissed: .dismissed
        }
    }

    /// Returns the text of a source; `nil`: it has none.
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
    /// Whether the rule applies to the facts.
    func applies(to facts: TrackFacts) -> Bool {
        guard occasions.contains(facts.occasion) else { return false }
        if case .button(let id, _)? = facts.act, !buttons.isEmpty, !buttons.contains(where: { $0.matches(id) }) {
            return false
        }
        // Tracks have no condition on the callback, so any one will do.
        return match.holds(
            for: RouteFacts(
                provider: facts.provider, platform: facts.platform, callback: .none, app: facts.app, keys: facts.keys))
    }
}
