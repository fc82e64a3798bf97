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

/// The rule that a rejected entry of custom data breaks, for programs: a closed set. The raw values are on disk and in
/// the input of people's scripts, so a code never changes its meaning.
public enum RejectionCode: String, Sendable, CaseIterable {
    /// A mandatory part is missing.
    case missing
    /// The value has the wrong type, such as a number in place of a string.
    case wrongType = "wrong_type"
    /// The value is empty.
    case empty
    /// The value has more characters or bytes than the limit.
    case tooLong = "too_long"
    /// The value has more members or elements than the limit.
    case tooMany = "too_many"
    /// The name breaks the syntax of names.
    case invalidName = "invalid_name"
    /// The endpoint reserves the name for another use.
    case reservedName = "reserved_name"
    /// The name is a field of the profile: no custom attribute, or one that no app sets.
    case profileField = "profile_field"
    /// The name is no field of the profile.
    case unknownField = "unknown_field"
    /// Two names give the same field.
    case givenTwice = "given_twice"
    /// `null` is not allowed here.
    case null
    /// An array is not allowed in an array.
    case nestedArray = "nested_array"
    /// The value does not fit the field.
    case invalidValue = "invalid_value"
    /// An attribute has several operations, and may have one.
    case severalOperations = "several_operations"
    /// One row stands for the rejections of a request beyond the first ones, which have a row each.
    case severalRejections = "several_rejections"
    /// The store of waiting entries is full.
    case noRoom = "no_room"
    /// A payload lacks a value that a track names.
    case notInPayload = "not_in_payload"
    /// The rule is unknown: a version without codes rejected the entry.
    case unknown
    /// The endpoint's answer blames the entry.
    case blamedByEndpoint = "blamed_by_endpoint"
}

/// A problem with a logged event or attribute.
public struct EntryProblem: Error, Hashable, Sendable {
    /// The rule that it breaks.
    public var code: RejectionCode
    /// The place: a path such as `properties.cart[2].name`, or the name of another field; empty for the whole entry.
    public var field: String
    /// The problem and its remedy, for people. Decides nothing.
    public var message: String

    /// - Parameters:
    ///   - code: the rule that it breaks.
    ///   - message: the problem and its remedy.
    ///   - field: the place; a caller that knows the path of the value adds it.
    public init(_ code: RejectionCode, _ message: String, field: String = "") {
        (self.code, self.field, self.message) = (code, field, message)
    }

    /// The message with the field before it.
    public var text: String { field.isEmpty ? message : "\(field): \(message)" }
}

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
