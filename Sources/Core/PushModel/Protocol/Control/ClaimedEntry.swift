/// What a claim is answered with.
public struct Claimed: Hashable, Sendable {
    /// The entries, in order of number; from now on this run of the forwarder has them.
    public var entries: [ClaimedEntry]
    /// How sending went, as it was last said; `nil` before it ever was.
    public var sending: SendingState?

    /// Joins the two.
    public init(entries: [ClaimedEntry], sending: SendingState?) {
        self.entries = entries
        self.sending = sending
    }
}

/// One entry, as the forwarder needs it.
public struct ClaimedEntry: Hashable, Sendable {
    /// Its number, by which it is settled.
    public var number: EntryNumber
    /// What it tells.
    public var kind: EntryKind
    /// Whose profile.
    public var identifier: UserIdentifier
    /// The app.
    public var app: String?
    /// The name of an event; `nil` for attributes.
    public var name: String?
    /// The properties of the event, or the attributes: a JSON object without white space.
    public var data: [UInt8]
    /// When it happened.
    public var time: WallTime

    /// Joins the parts.
    public init(
        number: EntryNumber, kind: EntryKind, identifier: UserIdentifier, app: String?, name: String?, data: [UInt8],
        time: WallTime
    ) {
        self.number = number
        self.kind = kind
        self.identifier = identifier
        self.app = app
        self.name = name
        self.data = data
        self.time = time
    }

    /// What the forwarder needs of an entry; `nil` for one that is stored, not sent.
    public init?(_ entry: CustomEntry) {
        guard case .sent(let identifier) = entry.way else { return nil }
        self.init(
            number: entry.number, kind: entry.kind, identifier: identifier, app: entry.app, name: entry.name,
            data: entry.data, time: entry.time)
    }
}
