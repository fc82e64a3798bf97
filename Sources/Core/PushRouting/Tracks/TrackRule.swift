public import PushModel

/// What is told to `/users/track` when something happens with a push: one `.track` file.
public struct TrackRule: Hashable, Sendable {
    /// What happens with a push. The raw values are the words of `On=`.
    public enum Occasion: String, Sendable, CaseIterable {
        /// It came: code of the app got it; Braze's, also when the system showed it (rule T9).
        case received
        /// Its body was tapped.
        case opened
        /// One of its buttons was pressed.
        case action
        /// It was swept away.
        case dismissed
    }

    /// The file's stem.
    public var name: String
    /// Which pushes; the conditions of a route, without one on the callback.
    public var match: RouteMatch
    /// On what of them; never empty.
    public var occasions: [Occasion]
    /// Which buttons, by their ids; empty: any.
    public var buttons: [Glob]
    /// Whose profile it is.
    public var identifier: TrackIdentifier
    /// The event; `nil`: none.
    public var event: Event?
    /// The customer's own fields of the profile.
    public var attributes: [TrackField]
    /// The provider's fields of the profile: `email`, `first_name`, ...
    public var userAttributes: [TrackField]

    /// A custom event.
    public struct Event: Hashable, Sendable {
        /// Its name.
        public var name: TrackSource
        /// Its properties; those whose source has no value are left out.
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

/// Where a track finds whose profile it is.
public enum TrackIdentifier: Hashable, Sendable {
    /// The provider's id of the profile, in this one of the dashboard's key-values.
    case brazeID(keyValue: String)
    /// The customer's own id of the user.
    case externalID(TrackSource)
    /// A name that holds within a label.
    case alias(label: String, name: TrackSource)
}

/// A property of an event, or a field of a profile.
public struct TrackField: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// What the text of the source is read as.
    public var type: TrackValueType
    /// Where its value comes from.
    public var source: TrackSource

    /// Joins the parts.
    public init(_ name: String, _ type: TrackValueType, _ source: TrackSource) {
        self.name = name
        self.type = type
        self.source = source
    }
}

/// What a text is read as: payloads have most values as strings. The raw values are the words of `.track` files.
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

/// Where a value comes from.
public enum TrackSource: Hashable, Sendable {
    /// One of the dashboard's key-values, wherever the platform puts them.
    case keyValue(String)
    /// One of the payload's own keys.
    case data(String)
    /// What is known of the push and of what happened with it.
    case fact(Fact)
    /// This text.
    case constant(String)

    /// What is known beside the payload's keys. The raw values are the words of `.track` files.
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
        /// What happened: a word of `On=`.
        case occasion
        /// The id of the button that was pressed.
        case action
        /// What was typed into the button's text field.
        case text
    }
}
