/// The answer to a claim.
public struct Claimed: Hashable, Sendable {
    /// The entries, in order of number; this run of the forwarder has claimed them.
    public var entries: [ClaimedEntry]
    /// The last reported state of sending; `nil` before the first report.
    public var sending: SendingState?

    /// Joins the two.
    public init(entries: [ClaimedEntry], sending: SendingState?) {
        self.entries = entries
        self.sending = sending
    }
}

/// The part of an entry that the forwarder needs.
public struct ClaimedEntry: Hashable, Sendable {
    /// The number, by which the forwarder settles the entry.
    public var number: EntryNumber
    /// The kind.
    public var kind: EntryKind
    /// The identifier of the profile.
    public var identifier: UserIdentifier
    /// The app.
    public var app: String?
    /// The name of an event; `nil` for attributes.
    public var name: String?
    /// The properties of the event, or the attributes: a JSON object without white space.
    public var data: [UInt8]
    /// The time of the event.
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

    /// Takes the forwarder's part of an entry; `nil` if the entry is stored instead of sent.
    public init?(_ entry: CustomEntry) {
        guard case .sent(let identifier) = entry.destination else { return nil }
        self.init(
            number: entry.number, kind: entry.kind, identifier: identifier, app: entry.app, name: entry.name,
            data: entry.data, time: entry.time)
    }
}
