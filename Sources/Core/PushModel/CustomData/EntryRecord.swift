/// One entry of custom data, as the ledger keeps it: with its state.
public struct EntryRecord: Hashable, Sendable {
    /// The entry, as it was saved.
    public var entry: CustomEntry
    /// Its state.
    public var state: EntryState
    /// The time of the last change of the state; `nil` while the entry has its first state.
    public var settledAt: WallTime?
    /// The request whose session start flushed it.
    public var settledBy: SequenceNumber?
    /// The forwarder's run that claimed the entry, while it is `claimed`.
    public var claimant: UUID128?
    /// The reason why the entry is `rejected`, `unknown`, or `queued` again.
    public var reason: String?
    /// The problem with it, while it is `rejected`.
    public var problem: EntryProblem?

    public init(
        entry: CustomEntry, state: EntryState, settledAt: WallTime? = nil, settledBy: SequenceNumber? = nil,
        claimant: UUID128? = nil, reason: String? = nil, problem: EntryProblem? = nil
    ) {
        self.entry = entry
        self.state = state
        self.settledAt = settledAt
        self.settledBy = settledBy
        self.claimant = claimant
        self.reason = reason ?? problem?.text
        self.problem = problem
    }

    /// Whether the rules of the data rejected it on arrival, so that the endpoint never saw it.
    public var wasRejectedOnArrival: Bool { state == .rejected && settledAt == nil }
}

/// One field of a profile, as the ledger stores it.
public struct AttributeRecord: Hashable, Sendable {
    /// The owner of the profile.
    public var owner: ProfileOwner
    /// Custom attributes or the provider's own.
    public var kind: EntryKind
    /// The field.
    public var name: String
    /// Its value, a JSON text without white space.
    public var value: String
    /// The time at which it was set.
    public var setAt: WallTime
    /// The entry that set it.
    public var entry: EntryNumber

    public init(
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

/// The count of entries of one state in a suite.
public struct EntryCount: Hashable, Sendable {
    /// The suite that stores them; `nil`: they are sent.
    public var suite: String?
    /// Their state.
    public var state: EntryState
    /// The number of entries.
    public var count: Int
    /// The bytes of their names and values.
    public var bytes: Int
    /// The time at which the oldest was saved.
    public var oldest: WallTime

    public init(suite: String?, state: EntryState, count: Int, bytes: Int, oldest: WallTime) {
        self.suite = suite
        self.state = state
        self.count = count
        self.bytes = bytes
        self.oldest = oldest
    }
}
