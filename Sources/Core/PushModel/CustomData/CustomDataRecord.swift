/// A change of the state of custom data. The daemon writes it in one transaction with the events of the same turn, in
/// order.
public enum CustomDataRecord: Hashable, Sendable {
    /// A new entry: `pending`, `queued`, or `rejected` with its problem.
    indirect case entry(CustomEntry, EntryState, problem: EntryProblem?)
    /// An entry's state changed.
    indirect case moved(EntryMove)
    /// An operation on a field of a profile.
    indirect case attribute(AttributeRow)
    /// The state of sending; the ledger has one row for it.
    indirect case sending(SendingState)
}

/// A change of an entry's state.
public struct EntryMove: Hashable, Sendable {
    /// The entry.
    public var number: EntryNumber
    /// The new state.
    public var state: EntryState
    /// The time of the change by the daemon's clock.
    public var at: WallTime
    /// The request whose session start flushed the entry; `nil` for a change by a person or the forwarder.
    public var by: SequenceNumber?
    /// The forwarder's run that claimed the entry; `nil` unless it is `claimed`.
    public var claimant: UUID128?
    /// The reason for people: of `rejected` and `unknown`, of a return to `queued`, and of `flushed` without the
    /// sending that the settings ask for.
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

/// The owner of a profile: a user, or a device without a known user.
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
    /// Custom attributes or the provider's own; never `customEvent`.
    public var kind: EntryKind
    /// The field.
    public var name: String
    /// The operation.
    public var change: AttributeChange
    /// The time of the operation.
    public var at: WallTime
    /// The entry that contains the operation.
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
    /// The forwarder's activity. The raw values are the wire names.
    public enum Phase: String, Sendable, CaseIterable {
        /// The forwarder sends, or has nothing to send.
        case sending
        /// The forwarder waits after a failure, or for the rate limit.
        case waiting
        /// The endpoint refuses requests: the forwarder sends nothing until a person has acted.
        case stopped
    }

    /// The activity.
    public var phase: Phase
    /// The reason for people; `nil` while it sends.
    public var reason: String?
    /// The number of requests that failed in a row; the next wait depends on it.
    public var failures: Int
    /// The end of the wait.
    public var until: WallTime?
    /// The time at which the phase began.
    public var since: WallTime

    public init(phase: Phase, reason: String? = nil, failures: Int = 0, until: WallTime? = nil, since: WallTime) {
        self.phase = phase
        self.reason = reason
        self.failures = failures
        self.until = until
        self.since = since
    }
}
