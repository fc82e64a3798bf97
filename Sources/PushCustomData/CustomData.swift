public import PushModel

/// Custom events and attributes on their way: checked, kept in their suites until the app's next session, or handed to the
/// forwarder.
///
/// A pure value. What comes out as records, given back to ``restore(_:_:claimant:)`` after a restart, makes the same again.
public struct CustomData: Sendable {
    /// Which ids the events of this state directory get.
    public let stateID: UUID128
    /// The settings; a change holds for what is decided from then on.
    public var rules: CustomDataRules
    /// The highest number given so far; 0 when there is none.
    public internal(set) var lastNumber: EntryNumber
    /// How sending goes, as the forwarder last said; `nil` before it ever did.
    public internal(set) var sending: SendingState?
    /// What waits.
    public internal(set) var summary = CustomDataSummary()

    /// - Parameters:
    ///   - stateID: the state directory's id; events derive their ids from it.
    ///   - rules: the settings.
    ///   - lastNumber: the highest number ever given.
    public init(
        stateID: UUID128, rules: CustomDataRules = CustomDataRules(), lastNumber: EntryNumber = EntryNumber(0)
    ) {
        self.stateID = stateID
        self.rules = rules
        self.lastNumber = lastNumber
    }

    /// Whether entries of so many bytes may still be kept.
    public func hasRoom(for bytes: Int) -> Bool {
        preconditionFailure("to be written")
    }

    /// Checks what was logged and keeps it: what is right as one entry, each thing that is wrong as a rejected one.
    ///
    /// - Parameters:
    ///   - kind: what it tells.
    ///   - object: has `name` and `properties`, or `attributes`.
    ///   - source: where it comes from.
    ///   - now: the clock.
    ///   - output: what it leads to is appended.
    /// - Returns: why parts of it were set aside.
    @discardableResult
    public mutating func log(
        _ kind: EntryKind, _ object: JSONNode, _ source: EntrySource, now: WallTime, into output: inout CustomDataOutput
    ) -> [Rejection] {
        preconditionFailure("to be written")
    }

    /// Flushes what waits for a session of this app, on this device, of this user: in the order in which it was saved.
    ///
    /// - Parameters:
    ///   - session: the session start.
    ///   - suite: only what is in it; `nil`: whatever waits.
    ///   - now: the clock.
    ///   - output: the events, the fields that are set and the entries' ends are appended.
    /// - Returns: how many entries were flushed.
    @discardableResult
    public mutating func flush(
        _ session: SessionStart, suite: String? = nil, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        preconditionFailure("to be written")
    }

    /// Takes everything that waits in a suite out of it, for good.
    ///
    /// - Parameters:
    ///   - suite: the suite.
    ///   - app: only what waits for this app; `nil`: whatever waits.
    /// - Returns: how many entries were discarded.
    public mutating func reset(
        suite: String, app: String?, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        preconditionFailure("to be written")
    }

    // MARK: Sending

    /// Hands the oldest entries that are to be sent to a run of the forwarder.
    ///
    /// What an earlier run still has is of unknown outcome from now on (`OnUnknown=`).
    ///
    /// - Parameters:
    ///   - claimant: the run.
    ///   - limit: how many entries at most.
    ///   - bytes: how many bytes of names and values at most; one entry may be longer.
    public mutating func claim(
        by claimant: UUID128, limit: Int, bytes: Int, now: WallTime, into output: inout CustomDataOutput
    ) -> [CustomEntry] {
        preconditionFailure("to be written")
    }

    /// Takes in what became of an entry that a run of the forwarder has: `sent`, `rejected`, `unknown`, or `queued` again,
    /// in its old place. One that the run does not have (any more) is passed over: it was said before.
    ///
    /// - Returns: whether the run had it.
    @discardableResult
    public mutating func settle(
        _ number: EntryNumber, _ state: EntryState, reason: String?, by claimant: UUID128, now: WallTime,
        into output: inout CustomDataOutput
    ) -> Bool {
        preconditionFailure("to be written")
    }

    /// A person decides what becomes of an entry of unknown outcome: `queued` again, in its old place, or `discarded`.
    ///
    /// - Returns: whether there is such an entry.
    @discardableResult
    public mutating func resolve(
        _ number: EntryNumber, _ state: EntryState, now: WallTime, into output: inout CustomDataOutput
    ) -> Bool {
        preconditionFailure("to be written")
    }

    /// The numbers of the entries of unknown outcome, in order.
    public var unknownEntries: [EntryNumber] {
        preconditionFailure("to be written")
    }

    /// Takes in how sending goes.
    public mutating func report(_ state: SendingState, into output: inout CustomDataOutput) {
        preconditionFailure("to be written")
    }

    // MARK: After a restart

    /// Gives back an entry that has not come to its end: `pending`, `queued`, `claimed` or `unknown`; in order of numbers.
    public mutating func restore(_ entry: CustomEntry, _ state: EntryState, claimant: UUID128?) {
        preconditionFailure("to be written")
    }

    /// Gives back how sending went.
    public mutating func restore(_ state: SendingState) { sending = state }
}
