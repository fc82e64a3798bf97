package import PushModel

/// What is told to `/users/track` when something happens with a push: one `.track` file.
package struct TrackRule: Hashable, Sendable {
    /// What happens with a push. The raw values are the words of `On=`.
    package enum Occasion: String, Sendable, CaseIterable {
        /// It came: code of the app got it; Braze's, also when the system showed it (tracker, T9).
        case received
        /// Its body was tapped.
        case opened
        /// One of its buttons was pressed.
        case action
        /// It was swept away.
        case dismissed
    }

    /// The file's stem.
    package var name: String
    /// Which pushes; the conditions of a route, without one on the callback.
    package var match: RouteMatch
    /// On what of them; never empty.
    package var occasions: [Occasion]
    /// Which buttons, by their ids; empty: any.
    package var buttons: [Glob]
    /// Whose profile it is.
    package var identifier: TrackIdentifier
    /// The event; `nil`: none.
    package var event: Event?
    /// The customer's own fields of the profile.
    package var attributes: [TrackField]
    /// The provider's fields of the profile: `email`, `first_name`, ...
    package var userAttributes: [TrackField]

    /// A custom event.
    package struct Event: Hashable, Sendable {
        /// Its name.
        package var name: TrackSource
        /// Its properties; those whose source has no value are left out.
        package var properties: [TrackField]

        /// Joins the two.
        package init(name: TrackSource, properties: [TrackField] = []) {
            self.name = name
            self.properties = properties
        }
    }

    /// Joins the parts.
    package init(
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
package enum TrackIdentifier: Hashable, Sendable {
    /// The provider's id of the profile, in this one of the dashboard's key-values.
    case brazeID(keyValue: String)
    /// The customer's own id of the user.
    case externalID(TrackSource)
    /// A name that holds within a label.
    case alias(label: String, name: TrackSource)
}

/// A property of an event, or a field of a profile.
package struct TrackField: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// What the text of the source is read as.
    package var type: TrackValueType
    /// Where its value comes from.
    package var source: TrackSource

    /// Joins the parts.
    package init(_ name: String, _ type: TrackValueType, _ source: TrackSource) {
        self.name = name
        self.type = type
        self.source = source
    }
}

/// What a text is read as: payloads have most values as strings. The raw values are the words of `.track` files.
package enum TrackValueType: String, Sendable, CaseIterable {
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
package enum TrackSource: Hashable, Sendable {
    /// One of the dashboard's key-values, wherever the platform puts them.
    case keyValue(String)
    /// One of the payload's own keys.
    case data(String)
    /// What is known of the push and of what happened with it.
    case fact(Fact)
    /// This text.
    case constant(String)

    /// What is known beside the payload's keys. The raw values are the words of `.track` files.
    package enum Fact: String, Sendable, CaseIterable {
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
