public import PushModel

extension AnalyticsEvent.Content {
    /// What happened, of any kind: facts that the kind does not have are left out.
    public init(
        _ kind: AnalyticsEvent.Kind, campaignID: String? = nil, messageID: String? = nil,
        button: AnalyticsEvent.Button? = nil, duration: Duration? = nil
    ) {
        let push = AnalyticsEvent.Push(campaignID: campaignID, messageID: messageID)
        self =
            switch kind {
            case .received: .received(push)
            case .open: .open(push, button: button)
            case .influencedOpen: .influencedOpen(push)
            case .iosForeground: .iosForeground(push)
            case .sessionStart: .sessionStart
            case .sessionEnd: .sessionEnd(duration ?? .zero)
            case .tokenStateChange: .tokenStateChange(.new, token: nil)
            case .uninstall: .uninstall
            case .customEvent: .customEvent(name: "bought", properties: nil)
            }
    }
}

extension AnalyticsEvent {
    /// The name of a custom event; `nil` for any other.
    public var name: String? { if case .customEvent(let name, _) = content { name } else { nil } }

    /// The properties of a custom event; `nil` for none, and for any other.
    public var properties: String? { if case .customEvent(_, let properties) = content { properties } else { nil } }
}
