import PushModel

/// The figures of a campaign or of another group of events.
///
/// Its size grows with the opened deliveries and the recipients, not with the events.
public struct CampaignFigures: Hashable, Sendable {
    /// A button of a notification.
    struct Button: Hashable, Sendable {
        /// Its id.
        public let id: String
        /// The effect of a press: `uri`, `deep_link`, `none` or `close`.
        public let action: String
    }

    private struct Opening: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let direct = Opening(rawValue: 1)
        static let influenced = Opening(rawValue: 2)
    }

    /// Deliveries that reached a device, without repeats.
    public private(set) var received = 0
    /// Deliveries that were opened by a tap: on the body, or on a button that opens the app or a link.
    private(set) var directOpens = 0
    /// Deliveries that a session followed soon, without a tap on them before it.
    private(set) var influencedOpens = 0
    /// Influenced opens whose delivery was also tapped: ``totalOpens`` counts them as direct opens (T6).
    private(set) var influencedAndDirect = 0
    /// Taps on the body that opened the delivery.
    private(set) var bodyClicks = 0
    /// The first press on each button of a delivery that counts: the press that opened it, and each press on a close
    /// button.
    private(set) var buttonClicks: [Button: Int] = [:]

    private var openings: [SequenceNumber: Opening] = [:]
    private var recipients: Set<UInt32> = []

    /// Figures without events.
    init() {}

    /// Deliveries with a direct or an influenced open, each once.
    var totalOpens: Int { directOpens + influencedOpens - influencedAndDirect }

    /// Users who received at least one delivery; an anonymous user counts by device.
    var uniqueRecipients: Int { recipients.count }

    /// Presses on all the buttons.
    var buttonClicksInAll: Int { buttonClicks.values.reduce(0, +) }

    /// Whether no event was counted.
    var isEmpty: Bool { received == 0 && openings.isEmpty && buttonClicks.isEmpty }

    /// Counts an event; events of other kinds change nothing.
    /// - Parameter recipient: the recipient's number; `nil` when neither user nor device is known.
    mutating func add(_ event: AnalyticsEvent, recipient: UInt32?) {
        switch event.content {
        case .received:
            received += 1
            if let recipient { recipients.insert(recipient) }
        case .open(_, let button):
            if let button, let action = button.action {
                buttonClicks[Button(id: button.id, action: action.rawValue), default: 0] += 1
                // T1: a press on a close button emits the event and leaves the delivery unopened.
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
