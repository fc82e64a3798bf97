public import PushModel

/// A rule that makes entries for `/users/track` of pushes and interactions: one `.track` file.
public struct TrackRule: Hashable, Sendable {
    /// The occasion. The raw values are the words of `On=`.
    public enum Occasion: String, Sendable, CaseIterable {
        /// Code of the app got the push, or the system showed a Braze push (rule T9).
        case received
        /// The person tapped its body.
        case opened
        /// The person pressed one of its buttons.
        case action
        /// The person dismissed it.
        case dismissed
    }

    /// The stem of the file.
    public var name: String
    /// The conditions on the push: those of a route, without one on the callback.
    public var match: RouteMatch
    /// The occasions; never empty.
    public var occasions: [Occasion]
    /// The ids of the buttons; empty: any.
    public var buttons: [Glob]
    /// The user's profile.
    public var identifier: TrackIdentifier
    /// The event; `nil`: none.
    public var event: Event?
    /// The customer's own fields of the profile.
    public var attributes: [TrackField]
    /// The provider's fields of the profile: `email`, `first_name`, ...
    public var userAttributes: [TrackField]

    /// A custom event.
    public struct Event: Hashable, Sendable {
        /// The name.
        public var name: TrackSource
        /// The properties; one whose source has no value is left out.
        public var properties: [TrackField]

        /// Joins the two.
        public init(name: TrackSource, properties: [TrackField] = []) {
            self.name = name
            self.properties = properties
        }
    }

    /// Joins the parts.
    public init(
        name: String, match: RouteMatch = RouteMatch(), occasions: [Occasion], buttons: [Glob] = [],
        identifier: TrackIdentifier, event: Event? = nil, attributes: [TrackField] = [],
        userAttributes: [TrackField] = []
    ) {
        self.name = name
        self.match = match
        self.occasions = occasions
        self.buttons = buttons
        self.identifier = identifier
        self.event = event
        self.attributes = attributes
        self.userAttributes = userAttributes
    }
}

/// The source of the profile's identifier.
public enum TrackIdentifier: Hashable, Sendable {
    /// The provider's id of the profile, in this key-value of the dashboard.
    case brazeID(keyValue: String)
    /// The customer's own id of the user.
    case externalID(TrackSource)
    /// A name that is unique within a label.
    case alias(label: String, name: TrackSource)
}

/// A property of an event, or a field of a profile.
public struct TrackField: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The type that the text of the source is converted to.
    public var type: TrackValueType
    /// The source of the value.
    public var source: TrackSource

    /// Joins the parts.
    public init(_ name: String, _ type: TrackValueType, _ source: TrackSource) {
        self.name = name
        self.type = type
        self.source = source
    }
}

/// The type that a text is converted to; most payload values are strings. The raw values are words of `.track` files.
public enum TrackValueType: String, Sendable, CaseIterable {
    /// The text itself.
    case string
    /// A number, as JSON writes it.
    case number
    /// A number without fraction and exponent, of 64 bits.
    case integer
    /// `true` or `false` in any case; 1 or 0.
    case boolean
    /// A date, or a date and time, in ISO 8601; a time without a zone is UTC.
    case date
    /// The JSON text of an array.
    case array
    /// The JSON text of an object.
    case object
    /// Any JSON text.
    case json
}

/// The source of a value.
public enum TrackSource: Hashable, Sendable {
    /// One of the dashboard's key-values, wherever the platform puts them.
    case keyValue(String)
    /// One of the payload's own keys.
    case data(String)
    /// A fact of the push or the interaction.
    case fact(Fact)
    /// This text.
    case constant(String)

    /// The facts beside the payload's keys. The raw values are the words of `.track` files.
    public enum Fact: String, Sendable, CaseIterable {
        /// The provider whose payload it is.
        case provider
        /// The campaign of a Braze payload.
        case campaignID = "campaign_id"
        /// The payload's own id.
        case messageID = "message_id"
        /// The platform: `android`, `ios` or `web`.
        case platform
        /// Package name or bundle id.
        case app
        /// The device, as the producer names it.
        case device
        /// The user, as the producer names it, or the device's last known.
        case externalID = "external_id"
        /// The occasion: a word of `On=`.
        case occasion
        /// The id of the button that was pressed.
        case action
        /// The text typed into the button's text field.
        case text
    }
}
