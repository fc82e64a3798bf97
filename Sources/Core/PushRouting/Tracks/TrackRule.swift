public import PushModel

/// A rule for data sent to `/users/track` on an event of a push: one `.track` file.
public struct TrackRule: Hashable, Sendable {
    /// An event of a push. The raw values are the words of `On=`.
    public enum Occasion: String, Sendable, CaseIterable {
        /// Code of the app received it; a Braze push also if the system showed it (rule T9).
        case received
        /// A person tapped its body.
        case opened
        /// A person pressed one of its buttons.
        case action
        /// A person dismissed it.
        case dismissed
    }

    /// The file name without its extension.
    public var name: String
    /// The pushes; the conditions of a route, except the one on the callback.
    public var match: RouteMatch
    /// The events to which the rule applies; never empty.
    public var occasions: [Occasion]
    /// The buttons, by id; empty: any.
    public var buttons: [Glob]
    /// The source of the profile's identifier.
    public var identifier: TrackIdentifier
    /// The event; `nil`: none.
    public var event: Event?
    /// The custom attributes of the profile.
    public var attributes: [TrackField]
    /// The provider's standard attributes of the profile: `email`, `first_name`, ...
    public var userAttributes: [TrackField]

    /// A custom event.
    public struct Event: Hashable, Sendable {
        /// The name.
        public var name: TrackSource
        /// The properties of the event; those without a value are omitted.
        public var properties: [TrackField]

        /// Joins the parts.
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
    /// The customer's id of the user.
    case externalID(TrackSource)
    /// An alias: a name that is unique within a label.
    case alias(label: String, name: TrackSource)
}

/// A property of an event, or an attribute of a profile.
public struct TrackField: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The type as which the text of the source is parsed.
    public var type: TrackValueType
    /// The source of its value.
    public var source: TrackSource

    /// Joins the parts.
    public init(_ name: String, _ type: TrackValueType, _ source: TrackSource) {
        self.name = name
        self.type = type
        self.source = source
    }
}

/// The type as which a text is parsed: payloads have most values as strings. The raw values are the words of `.track`
/// files.
public enum TrackValueType: String, Sendable, CaseIterable {
    /// The text itself.
    case string
    /// A number, as JSON writes it.
    case number
    /// An integer of 64 bits, without fraction and exponent.
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
    /// One of the dashboard's key-value pairs, wherever the platform puts them.
    case keyValue(String)
    /// One of the payload's own keys.
    case data(String)
    /// A fact about the push or the person's act.
    case fact(Fact)
    /// A fixed text.
    case constant(String)

    /// A fact beside the payload's keys. The raw values are the words of `.track` files.
    public enum Fact: String, Sendable, CaseIterable {
        /// The provider of the payload.
        case provider
        /// The campaign of a Braze payload.
        case campaignID = "campaign_id"
        /// The message id: the payload's own, or on iOS and the web the request's.
        case messageID = "message_id"
        /// The platform: `android`, `ios` or `web`.
        case platform
        /// The package name or bundle id.
        case app
        /// The device name that the producer gave.
        case device
        /// The user that the producer named, or the device's last known user.
        case externalID = "external_id"
        /// The event: a word of `On=`.
        case occasion
        /// The id of the pressed button.
        case action
        /// The text typed into the button's text field.
        case text
    }
}
