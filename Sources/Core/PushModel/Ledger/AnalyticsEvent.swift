/// An analytics event, named and shaped as the provider's own message engagement events.
public struct AnalyticsEvent: Hashable, Sendable {
    /// The kinds of event. The raw values are the names on the wire.
    public enum Kind: String, Sendable, CaseIterable {
        case open = "users.messages.pushnotification.Open"
        case received = "local.pushnotification.Received"
        case influencedOpen = "users.messages.pushnotification.InfluencedOpen"
        case iosForeground = "users.messages.pushnotification.IosForeground"
        case sessionStart = "users.behaviors.app.SessionStart"
        case sessionEnd = "users.behaviors.app.SessionEnd"
        case tokenStateChange = "users.behaviors.pushnotification.TokenStateChange"
        case uninstall = "users.behaviors.Uninstall"
        case customEvent = "users.behaviors.CustomEvent"
    }

    /// The content of an event: its kind, with the facts that only this kind has.
    public enum Content: Hashable, Sendable {
        /// The device received a push.
        case received(Push)
        /// A person opened a push, or pressed one of its buttons; `button` is `nil` for the body.
        case open(Push, button: Button?)
        /// A push led to a session that it did not open.
        case influencedOpen(Push)
        /// An iOS app showed a push while it was in the foreground.
        case iosForeground(Push)
        /// A session began.
        case sessionStart
        /// A session ended after this duration.
        case sessionEnd(Duration)
        /// The push service gave the app a token, or revoked it; `token` is `nil` if the request named none.
        case tokenStateChange(TokenRequest.Kind, token: String?)
        /// The push service reported that the app is no longer installed.
        case uninstall
        /// The app logged a custom event; `properties` is a JSON object without white space, `nil` for an empty one.
        case customEvent(name: String, properties: String?)

        /// The kind, whose raw value is the name on the wire.
        public var kind: Kind {
            switch self {
            case .received: .received
            case .open: .open
            case .influencedOpen: .influencedOpen
            case .iosForeground: .iosForeground
            case .sessionStart: .sessionStart
            case .sessionEnd: .sessionEnd
            case .tokenStateChange: .tokenStateChange
            case .uninstall: .uninstall
            case .customEvent: .customEvent
            }
        }
    }

    /// The push that an event is about.
    public struct Push: Hashable, Sendable {
        /// The campaign, as the payload names it.
        public var campaignID: String?
        /// The payload's own id.
        public var messageID: String?

        public init(campaignID: String?, messageID: String?) {
            (self.campaignID, self.messageID) = (campaignID, messageID)
        }
    }

    /// The button that the person pressed.
    public struct Button: Hashable, Sendable {
        /// The button's id.
        public var id: String
        /// The button's action; `nil` if it is unknown.
        public var action: ButtonAction?

        public init(id: String, action: ButtonAction?) {
            (self.id, self.action) = (id, action)
        }
    }

    /// The event's id, fixed when the event is decided; downstream systems deduplicate by it.
    public var id: UUID128
    /// The time of the event in whole UTC seconds, rounded down.
    public var time: Int64
    /// The request that caused it.
    public var seq: SequenceNumber
    /// The delivery that the event is about; equals `seq` for a receipt, and for an event without a delivery.
    public var delivery: SequenceNumber
    /// The user.
    public var externalUserID: String?
    /// The device.
    public var deviceID: String?
    /// The app.
    public var appID: String?
    /// The platform.
    public var platform: Platform
    /// The kind of event, with its facts.
    public var content: Content

    public init(
        id: UUID128, time: Int64, seq: SequenceNumber, delivery: SequenceNumber, externalUserID: String?,
        deviceID: String?, appID: String?, platform: Platform, content: Content
    ) {
        self.id = id
        self.time = time
        self.seq = seq
        self.delivery = delivery
        self.externalUserID = externalUserID
        self.deviceID = deviceID
        self.appID = appID
        self.platform = platform
        self.content = content
    }

    /// The kind, whose raw value is the name on the wire.
    public var kind: Kind { content.kind }

    /// The push that the event is about; `nil` if there is none.
    public var push: Push? {
        switch content {
        case .received(let push), .open(let push, _), .influencedOpen(let push), .iosForeground(let push): push
        case .sessionStart, .sessionEnd, .tokenStateChange, .uninstall, .customEvent: nil
        }
    }

    /// The button that the person pressed; `nil` for the body of a push, and for every event but an open.
    public var button: Button? { if case .open(_, let button) = content { button } else { nil } }
}

/// The action of a notification's button. The raw values are the wire names of `button_action_type`.
public enum ButtonAction: String, Sendable, CaseIterable {
    /// Opens an http or https address.
    case uri
    /// Opens a link of another scheme.
    case deepLink = "deep_link"
    /// Opens the app.
    case none
    /// Closes the notification: no direct open.
    case close
}

extension AnalyticsEvent {
    /// The id of an event: a version 8 UUID (RFC 9562) of the number, the kind and the state directory's id. A number
    /// has at most one event of each kind.
    ///
    /// The three are laid side by side, not hashed: two events of one state directory never share an id, and the same
    /// input gives the same bytes.
    ///
    /// - Parameters:
    ///   - state: the state directory's id.
    ///   - number: the request that caused the event. For an influenced open the delivery, which has at most one, as a
    ///     session start may cause several; for the end of a session the request that began it; for a custom event its
    ///     entry.
    ///   - kind: the kind.
    public static func identifier(state: UUID128, number: SequenceNumber, kind: Kind) -> UUID128 {
        let digits = UInt64(bitPattern: number.value) & 0xFFFF_FFFF_FFFF
        return UUID128(
            high: digits << 16 | 0x8000 | UInt64(kind.code),
            low: 0x8000_0000_0000_0000 | (state.high ^ state.low) >> 2)
    }
}

extension AnalyticsEvent.Kind {
    /// A code of twelve bits. It never changes, since ids contain it.
    fileprivate var code: UInt16 {
        switch self {
        case .received: 1
        case .open: 2
        case .influencedOpen: 3
        case .iosForeground: 4
        case .sessionStart: 5
        case .sessionEnd: 6
        case .tokenStateChange: 7
        case .uninstall: 8
        case .customEvent: 9
        }
    }
}
