/// What a claim is answered with.
package struct Claimed: Hashable, Sendable {
    /// The entries, in order of number; from now on this run of the forwarder has them.
    package var entries: [ClaimedEntry]
    /// How sending went, as it was last said; `nil` before it ever was.
    package var sending: SendingState?

    /// Joins the two.
    package init(entries: [ClaimedEntry], sending: SendingState?) {
        self.entries = entries
        self.sending = sending
    }
}

/// One entry, as the forwarder needs it.
package struct ClaimedEntry: Hashable, Sendable {
    /// Its number, by which it is settled.
    package var number: EntryNumber
    /// What it tells.
    package var kind: EntryKind
    /// Whose profile.
    package var identifier: UserIdentifier
    /// The app.
    package var app: String?
    /// The name of an event; `nil` for attributes.
    package var name: String?
    /// The properties of the event, or the attributes: a JSON object without white space.
    package var data: [UInt8]
    /// When it happened.
    package var time: WallTime

    /// Joins the parts.
    package init(
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
    package init?(_ entry: CustomEntry) {
        guard case .sent(let identifier) = entry.way else { return nil }
        self.init(
            number: entry.number, kind: entry.kind, identifier: identifier, app: entry.app, name: entry.name,
            data: entry.data, time: entry.time)
    }
}
