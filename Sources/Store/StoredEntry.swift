public import PushModel

/// An entry of custom data and what became of it.
public struct StoredEntry: Hashable, Sendable {
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

    /// Whether it was set aside at once, by the rules of the data: the endpoint never saw it.
    public var wasRejectedOnArrival: Bool { state == .rejected && settledAt == nil }
}

/// A field of a profile.
public struct StoredAttribute: Hashable, Sendable {
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
}
