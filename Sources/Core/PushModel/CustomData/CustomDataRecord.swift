/// A change of what is known of custom data. It is written in one transaction with the events of the same turn, in order.
public enum CustomDataRecord: Hashable, Sendable {
    /// A new entry: `pending`, `queued`, or `rejected` with what is wrong with it.
    indirect case entry(CustomEntry, EntryState, problem: EntryProblem?)
    /// An entry's state changed.
    indirect case moved(EntryMove)
    /// A field of a profile is to change.
    indirect case attribute(AttributeRow)
    /// How sending goes; there is one.
    indirect case sending(SendingState)
}

/// A change of an entry's state.
public struct EntryMove: Hashable, Sendable {
    /// The entry.
    public var number: EntryNumber
    /// Its state from now on.
    public var state: EntryState
    /// When, by the clock.
    public var at: WallTime
    /// The request whose session start flushed it; `nil` for what people and the forwarder do.
    public var by: SequenceNumber?
    /// The forwarder's run that has it; `nil` unless it is `claimed`.
    public var claimant: UUID128?
    /// Why, for people: of `rejected`, `unknown`, of what goes back to `queued`, and of what was `flushed` and not sent
    /// although it should have been.
    public var reason: String?

    public init(
        number: EntryNumber, state: EntryState, at: WallTime, by: SequenceNumber? = nil, claimant: UUID128? = nil,
        reason: String? = nil
    ) {
        self.number = number
        self.state = state
        self.at = at
        self.by = by
        self.claimant = claimant
        self.reason = reason
    }
}

/// Whose profile: a user's, or that of a device on which nobody is known.
public enum ProfileOwner: Hashable, Sendable {
    /// The user.
    case user(String)
    /// Whoever uses the device.
    case device(String)
}

/// A change of one field of a profile.
public struct AttributeRow: Hashable, Sendable {
    /// Whose.
    public var owner: ProfileOwner
    /// Custom or the provider's own: never `customEvent`.
    public var kind: EntryKind
    /// The field.
    public var name: String
    /// What is done to it.
    public var change: AttributeChange
    /// When it was set.
    public var at: WallTime
    /// The entry that says so.
    public var entry: EntryNumber

    public init(
        owner: ProfileOwner, kind: EntryKind, name: String, change: AttributeChange, at: WallTime, entry: EntryNumber
    ) {
        self.owner = owner
        self.kind = kind
        self.name = name
        self.change = change
        self.at = at
        self.entry = entry
    }
}

/// How sending to the endpoint goes, as the forwarder last said.
public struct SendingState: Hashable, Sendable {
    /// What the forwarder does. The raw values are the wire names.
    public enum Phase: String, Sendable, CaseIterable {
        /// It sends, or has nothing to send.
        case sending
        /// It waits after a failure, or for the rate limit.
        case waiting
        /// The endpoint refuses what it sends: nothing more is sent until a person has seen to it.
        case stopped
    }

    /// What it does.
    public var phase: Phase
    /// Why, for people; `nil` while it sends.
    public var reason: String?
    /// How many requests failed one after the other: what the next wait is reckoned from.
    public var failures: Int
    /// Until when it waits.
    public var until: WallTime?
    /// Since when.
    public var since: WallTime

    public init(phase: Phase, reason: String? = nil, failures: Int = 0, until: WallTime? = nil, since: WallTime) {
        self.phase = phase
        self.reason = reason
        self.failures = failures
        self.until = until
        self.since = since
    }
}
