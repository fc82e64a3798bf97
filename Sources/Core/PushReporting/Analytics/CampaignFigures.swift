import PushModel

/// The figures of a campaign, or of whatever else events are kept apart by.
///
/// Its size grows with the deliveries that were opened and the people who received one, not with the events.
public struct CampaignFigures: Hashable, Sendable {
    /// A button of a notification.
    public struct Button: Hashable, Sendable {
        /// Its id.
        public let id: String
        /// What it does: `uri`, `deep_link`, `none` or `close`.
        public let action: String

        /// Joins the two.
        public init(id: String, action: String) {
            self.id = id
            self.action = action
        }
    }

    private struct Opening: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let direct = Opening(rawValue: 1)
        static let influenced = Opening(rawValue: 2)
    }

    /// Deliveries that reached a device, a repeat not among them.
    public private(set) var received = 0
    /// Deliveries that were opened by a tap: on the body, or on a button that opens the app or a link.
    public private(set) var directOpens = 0
    /// Deliveries after which a session began soon, without a tap on them until then.
    public private(set) var influencedOpens = 0
    /// Of the influenced ones those that were tapped, too: they are direct opens in ``totalOpens`` (T6).
    public private(set) var influencedAndDirect = 0
    /// Taps on the body that opened the delivery.
    public private(set) var bodyClicks = 0
    /// The first press on each button of a delivery that counts: the one that opened it, and any that closes.
    public private(set) var buttonClicks: [Button: Int] = [:]

    private var openings: [SequenceNumber: Opening] = [:]
    private var recipients: Set<UInt32> = []

    /// Nothing counted.
    init() {}

    /// Deliveries that were opened in either way, each once.
    public var totalOpens: Int { directOpens + influencedOpens - influencedAndDirect }

    /// Users who received at least one; one who is anonymous is the device.
    public var uniqueRecipients: Int { recipients.count }

    /// Presses on all the buttons.
    var buttonClicksInAll: Int { buttonClicks.values.reduce(0, +) }

    /// Whether nothing was counted.
    var isEmpty: Bool { received == 0 && openings.isEmpty && buttonClicks.isEmpty }

    /// Counts an event; one that is about no campaign figure changes nothing.
    /// - Parameter recipient: a number for who received it; `nil` when neither user nor device is known.
    mutating func add(_ event: AnalyticsEvent, recipient: UInt32?) {
        switch event.content {
        case .received:
            received += 1
            if let recipient { recipients.insert(recipient) }
        case .open(_, let button):
            if let button, let action = button.action {
                buttonClicks[Button(id: button.id, action: action.rawValue), default: 0] += 1
                // T1: it emits the event, and leaves the delivery unopened.
                if action != .close { open(event.delivery, .direct) }
            } else {
                bodyClicks += 1
                open(event.delivery, .direct)
            }
        case .influencedOpen: open(event.delivery, .influenced)
        case .iosForeground, .sessionStart, .sessionEnd, .tokenStateChange, .uninstall, .customEvent: break
        }
    }

    private mutating func open(_ delivery: SequenceNumber, _ opening: Opening) {
        let before = openings[delivery] ?? []
        guard !before.contains(opening) else { return }
        openings[delivery] = before.union(opening)
        if opening == .direct { directOpens += 1 } else { influencedOpens += 1 }
        if !before.isEmpty { influencedAndDirect += 1 }
    }
}
