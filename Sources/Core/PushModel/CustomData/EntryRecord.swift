/// One entry of custom data, as the ledger keeps it: with what became of it.
package struct EntryRecord: Hashable, Sendable {
    /// The entry, as it was saved.
    package var entry: CustomEntry
    /// Its state.
    package var state: EntryState
    /// When it got this state; `nil` while it has the one with which it was saved.
    package var settledAt: WallTime?
    /// The request whose session start flushed it.
    package var settledBy: SequenceNumber?
    /// The forwarder's run that has it, while it is `claimed`.
    package var claimant: UUID128?
    /// Why it is `rejected`, `unknown`, or `queued` again.
    package var reason: String?

    /// Joins the parts.
    package init(
        entry: CustomEntry, state: EntryState, settledAt: WallTime? = nil, settledBy: SequenceNumber? = nil,
        claimant: UUID128? = nil, reason: String? = nil
    ) {
        self.entry = entry
        self.state = state
        self.settledAt = settledAt
        self.settledBy = settledBy
        self.claimant = claimant
        self.reason = reason
    }

    /// Whether it was set aside at once, by the rules of the data: the endpoint never saw it.
    package var wasRejectedOnArrival: Bool { state == .rejected && settledAt == nil }
}

/// One field of a profile, as the ledger keeps it.
package struct AttributeRecord: Hashable, Sendable {
    /// Whose.
    package var owner: ProfileOwner
    /// Custom or the provider's own.
    package var kind: EntryKind
    /// The field.
    package var name: String
    /// Its value, a JSON text without white space.
    package var value: String
    /// When it was set.
    package var setAt: WallTime
    /// The entry that set it.
    package var entry: EntryNumber

    /// Joins the parts.
    package init(
        owner: ProfileOwner, kind: EntryKind, name: String, value: String, setAt: WallTime, entry: EntryNumber
    ) {
        self.owner = owner
        self.kind = kind
        self.name = name
        self.value = value
        self.setAt = setAt
        self.entry = entry
    }
}

/// How many entries there are of a state in a suite.
package struct EntryCount: Hashable, Sendable {
    /// Where they are stored; `nil`: they are sent.
    package var suite: String?
    /// Their state.
    package var state: EntryState
    /// How many.
    package var count: Int
    /// Bytes of their names and values.
    package var bytes: Int
    /// When the oldest was saved.
    package var oldest: WallTime

    /// Joins the parts.
    package init(suite: String?, state: EntryState, count: Int, bytes: Int, oldest: WallTime) {
        self.suite = suite
        self.state = state
        self.count = count
        self.bytes = bytes
        self.oldest = oldest
    }
}
