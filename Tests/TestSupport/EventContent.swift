public import PushModel

extension AnalyticsEvent.Content {
    /// The content of an event of any kind; drops the facts that the kind does not have.
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
    /// The name of a custom event; `nil` for other kinds.
    public var name: String? { if case .customEvent(let name, _) = content { name } else { nil } }

    /// The properties of a custom event; `nil` without properties, and for other kinds.
    public var properties: String? { if case .customEvent(_, let properties) = content { properties } else { nil } }
}
