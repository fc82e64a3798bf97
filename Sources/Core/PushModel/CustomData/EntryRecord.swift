/// One entry of custom data, as the ledger keeps it: with what became of it.
public struct EntryRecord: Hashable, Sendable {
    /// The entry, as it was saved.
    public var entry: CustomEntry
    /// Its state.
    public var state: EntryState
    /// When it got this state; `nil` while it has the one with which it was saved.
    public var settledAt: WallTime?
    /// The request whose session start flushed it.
    public var settledBy: SequenceNumber?
    /// The forwarder's run that has it, while it is `claimed`.
    public var claimant: UUID128?
    /// Why it is `rejected`, `unknown`, or `queued` again.
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

    /// Whether it was set aside at once, by the rules of the data: the endpoint never saw it.
    public var wasRejectedOnArrival: Bool { state == .rejected && settledAt == nil }
}

/// One field of a profile, as the ledger keeps it.
public struct AttributeRecord: Hashable, Sendable {
    /// Whose.
    public var owner: ProfileOwner
    /// Custom or the provider's own.
    public var kind: EntryKind
    /// The field.
    public var name: String
    /// Its value, a JSON text without white space.
    public var value: String
    /// When it was set.
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

/// How many entries there are of a state in a suite.
public struct EntryCount: Hashable, Sendable {
    /// Where they are stored; `nil`: they are sent.
    public var suite: String?
    /// Their state.
    public var state: EntryState
    /// How many.
    public var count: Int
    /// Bytes of their names and values.
    public var bytes: Int
    /// When the oldest was saved.
    public var oldest: WallTime

    public init(suite: String?, state: EntryState, count: Int, bytes: Int, oldest: WallTime) {
        self.suite = suite
        self.state = state
        self.count = count
        self.bytes = bytes
        self.oldest = oldest
    }
}
