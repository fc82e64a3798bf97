/// A change of the state of custom data. The ledger writes it in one transaction with the events of the same turn, in
/// order.
public enum CustomDataRecord: Hashable, Sendable {
    /// A new entry: `pending`, `queued`, or `rejected` with its problem.
    indirect case entry(CustomEntry, EntryState, problem: EntryProblem?)
    /// An entry's state changed.
    indirect case moved(EntryMove)
    /// A change of a field of a profile.
    indirect case attribute(AttributeRow)
    /// The state of sending; the ledger has one.
    indirect case sending(SendingState)
}

/// A change of an entry's state.
public struct EntryMove: Hashable, Sendable {
    /// The entry.
    public var number: EntryNumber
    /// Its new state.
    public var state: EntryState
    /// The time of the change by the clock.
    public var at: WallTime
    /// The request whose session start flushed it; `nil` for a change by a person or the forwarder.
    public var by: SequenceNumber?
    /// The run of the forwarder that holds it; `nil` unless it is `claimed`.
    public var claimant: UUID128?
    /// The reason for people. Set for `rejected` and `unknown`, for a return to `queued`, and for `flushed` if the
    /// entry should have been sent too but was not.
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

/// The owner of a profile: a user, or a device on which no user is known.
public enum ProfileOwner: Hashable, Sendable {
    /// The user.
    case user(String)
    /// The anonymous user of a device.
    case device(String)
}

/// A change of one field of a profile.
public struct AttributeRow: Hashable, Sendable {
    /// The owner of the profile.
    public var owner: ProfileOwner
    /// The kind of field: custom or the provider's own; never `customEvent`.
    public var kind: EntryKind
    /// The field.
    public var name: String
    /// The change.
    public var change: AttributeChange
    /// The time of the change.
    public var at: WallTime
    /// The entry with the change.
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

/// The state of sending to the endpoint, as the forwarder last reported it.
public struct SendingState: Hashable, Sendable {
    /// The phase of the forwarder. The raw values are the wire names.
    public enum Phase: String, Sendable, CaseIterable {
        /// The forwarder sends, or has nothing to send.
        case sending
        /// The forwarder waits after a failure, or for the rate limit.
        case waiting
        /// The endpoint refuses the requests; the forwarder sends nothing until a person acts.
        case stopped
    }

    /// The phase.
    public var phase: Phase
    /// The reason for people; `nil` while it sends.
    public var reason: String?
    /// The number of consecutive failed requests, from which the next wait is computed.
    public var failures: Int
    /// The end of its wait.
    public var until: WallTime?
    /// The begin of the phase.
    public var since: WallTime

    public init(phase: Phase, reason: String? = nil, failures: Int = 0, until: WallTime? = nil, since: WallTime) {
        self.phase = phase
        self.reason = reason
        self.failures = failures
        self.until = until
        self.since = since
    }
}
