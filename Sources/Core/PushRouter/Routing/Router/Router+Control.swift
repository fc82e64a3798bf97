public import PushModel

/// Operations of people and of the forwarder on custom data. Each returns its result at once; the result is final once
/// the records among the effects are on disk.
extension Router {
    /// The limit of names and values in one claim, in bytes.
    private static let claimSize = 1 << 20
    /// The limit of the answer that shows queued entries, in bytes: its reader may be slow.
    private static let peekSize = 64 << 10

    /// The counts of waiting custom data.
    public var customDataSummary: CustomDataSummary { memory.customData.summary }

    /// Whether an entry is queued for sending.
    var hasQueuedEntries: Bool { memory.customData.hasQueuedEntries }

    /// Whether a claim by this run of the forwarder would get entries now.
    public func hasEntries(for instance: UUID128) -> Bool { memory.customData.hasEntries(for: instance) }

    /// The state of sending that the forwarder reported last.
    public var sending: SendingState? { memory.customData.sending }

    /// Hands the oldest queued entries to a run of the forwarder.
    ///
    /// - Parameters:
    ///   - instance: the run.
    ///   - isReserving: whether the run announces each entry before it sends it.
    ///   - limit: the limit of entries.
    ///   - now: the time.
    ///   - effects: receives the effects.
    public mutating func claim(
        by instance: UUID128, isReserving: Bool = false, limit: Int, at now: Moment, effects: inout Effects
    ) -> [CustomEntry] {
        memory.keep(&effects) {
            $0.claim(
                by: instance, isReserving: isReserving, limit: limit, bytes: Self.claimSize, now: now.wall, into: &$1)
        }
    }

    /// Notes that a run of the forwarder is about to send entries that it reserved.
    ///
    /// - Returns: the entries that it may send once the effects are on disk.
    public mutating func depart(
        _ numbers: [EntryNumber], by instance: UUID128, at now: Moment, effects: inout Effects
    ) -> [EntryNumber] {
        memory.keep(&effects) { $0.depart(numbers, by: instance, now: now.wall, into: &$1) }
    }

    /// The number of entries, since the start, that a session flushed although they were also to be sent and could not
    /// be.
    public var flushedUnsent: Int { memory.customData.flushedUnsent }

    /// Returns the entries queued for sending after a number, without changing them.
    public func queuedEntries(after number: EntryNumber, limit: Int) -> [CustomEntry] {
        memory.customData.queuedEntries(after: number, limit: limit, bytes: Self.peekSize)
    }

    /// Queues the entries again that a run of the forwarder has claimed and does not hold: the answer with them never
    /// reached it.
    public mutating func release(
        allBut held: [EntryNumber], of instance: UUID128, at now: Moment, effects: inout Effects
    ) {
        let held = Set(held)
        memory.keep(&effects) { data, output in
            for number in data.claimedEntries(of: instance) where !held.contains(number) {
                data.settle(number, .queued, reason: nil, by: instance, now: now.wall, into: &output)
            }
        }
    }

    /// Stores the result of an entry that a run of the forwarder has claimed.
    ///
    /// - Returns: whether the run had claimed it; if not, its result is known already.
    public mutating func settle(
        _ number: EntryNumber, _ state: EntryState, reason: String?, by instance: UUID128, at now: Moment,
        effects: inout Effects
    ) -> Bool {
        memory.keep(&effects) { $0.settle(number, state, reason: reason, by: instance, now: now.wall, into: &$1) }
    }

    /// Stores the state of sending.
    ///
    /// - Parameters:
    ///   - phase: the forwarder's phase.
    ///   - reason: the reason of the phase, for people.
    ///   - failures: the number of consecutive failed requests.
    ///   - until: the end of the forwarder's wait.
    ///   - now: the time.
    ///   - effects: receives the effects; none if the state is unchanged.
    public mutating func report(
        _ phase: SendingState.Phase, reason: String?, failures: Int, until: WallTime?, at now: Moment,
        effects: inout Effects
    ) {
        let last = memory.customData.sending.flatMap { $0.phase == phase ? $0 : nil }
        let state = SendingState(
            phase: phase, reason: reason, failures: failures, until: until, since: last?.since ?? now.wall)
        guard state != last else { return }
        memory.keep(&effects) { $0.report(state, into: &$1) }
    }

    /// The number of flushes, resets and decisions about all entries of unknown outcome that have begun.
    public var removalsBegun: Int { memory.customData.removalsBegun }

    /// The number of them that have ended; a person's command is complete when its own removal has ended.
    public var removalsEnded: Int { memory.customData.removalsEnded }

    /// Flushes waiting entries as a session would, without beginning one, for a person's command. `.clock` events
    /// continue the work.
    ///
    /// - Parameters:
    ///   - target: the target of the flush; the device's last known platform and user replace missing ones.
    ///   - suite: the suite to flush; `nil`: every suite.
    ///   - now: the time.
    ///   - effects: receives the effects.
    /// - Returns: the number of entries to flush.
    public mutating func flush(
        _ target: Target, suite: String?, at now: Moment, effects: inout Effects
    ) -> Int {
        let known = memory.devices.known(target.device, app: target.app)
        let session = SessionStart(
            cause: nil, platform: target.platform ?? known?.platform ?? .android, app: target.app,
            device: target.device, externalID: target.externalID ?? known?.externalID, at: now.wall)
        return memory.keep(&effects) { $0.flush(session, suite: suite, now: now.wall, into: &$1) }
    }

    /// Discards the waiting entries of a suite, of one app or of all. `.clock` events continue the work.
    ///
    /// - Returns: the number of entries to discard.
    public mutating func reset(
        suite: String, app: String?, at now: Moment, effects: inout Effects
    ) -> Int {
        memory.keep(&effects) { $0.reset(suite: suite, app: app, now: now.wall, into: &$1) }
    }

    /// Decides about entries of unknown outcome, or removes queued entries, for a person's command. For all entries of
    /// unknown outcome `.clock` events continue the work.
    ///
    /// - Parameters:
    ///   - entries: the entries; `nil`: all of unknown outcome.
    ///   - state: the new state: `queued` or `discarded`.
    ///   - now: the time.
    ///   - effects: receives the effects.
    /// - Returns: the number of entries that it changes.
    public mutating func resolve(
        _ entries: [EntryNumber]?, _ state: EntryState, at now: Moment, effects: inout Effects
    ) -> Int {
        memory.keep(&effects) { data, output in
            guard let entries else { return data.resolveUnknown(state, now: now.wall, into: &output) }
            return data.resolve(entries, state, now: now.wall, into: &output)
        }
    }
}
