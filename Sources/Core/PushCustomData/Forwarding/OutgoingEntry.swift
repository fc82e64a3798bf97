public import PushModel

/// An entry that the daemon handed over to be sent.
public struct OutgoingEntry: Hashable, Sendable {
    /// Its number: entries of one user are sent in this order.
    public var number: EntryNumber
    /// Which array of the request it goes into.
    public var kind: EntryKind
    /// Whose profile it is about.
    public var user: UserIdentifier
    /// The name of an event; `nil` for attributes.
    public var name: String?
    /// The properties of the event, or the attributes: a JSON object without white space, checked.
    public var data: [UInt8]
    /// When it happened.
    public var time: WallTime

    /// Joins the parts.
    public init(
        number: EntryNumber, kind: EntryKind, user: UserIdentifier, name: String?, data: [UInt8], time: WallTime
    ) {
        self.number = number
        self.kind = kind
        self.user = user
        self.name = name
        self.data = data
        self.time = time
    }

    /// Whether it goes into `events`; the others go into `attributes`.
    var isEvent: Bool { kind == .customEvent }
}

/// What became of an entry, to be told to the daemon.
public struct Settlement: Hashable, Sendable {
    /// The entry.
    public var number: EntryNumber
    /// `sent`, `rejected`, `unknown` or `queued`.
    public var state: EntryState
    /// Why, for people; `nil` for what was sent.
    public var reason: String?

    /// Joins the parts.
    public init(number: EntryNumber, state: EntryState, reason: String? = nil) {
        self.number = number
        self.state = state
        self.reason = reason
    }
}
