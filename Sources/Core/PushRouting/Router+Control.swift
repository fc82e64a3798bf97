public import PushCustomData
public import PushModel

/// The operations of people and of the forwarder on custom data. Each returns its result at once; the result is durable
/// when the records among the effects are on disk.
extension Router {
    /// The limit of names and values in one claim, in bytes.
    private static let claimSize = 1 << 20
    /// The limit of an answer that shows the queue, in bytes: a slow reader must not hold much memory.
    private static let peekSize = 64 << 10

    /// The counts of waiting custom data.
    public var customDataSummary: CustomDataSummary { memory.customData.summary }

    /// Whether there are entries to send.
    public var hasQueuedEntries: Bool { memory.customData.hasQueuedEntries }

    /// Whether a claim by this run of the forwarder would get an entry now.
    public func hasEntries(for instance: UUID128) -> Bool { memory.customData.hasEntries(for: instance) }

    /// The state of sending, as last reported by the forwarder.
    public var sending: SendingState? { memory.customData.sending }

    /// Claims the oldest queued entries for a run of the forwarder.
    ///
    /// - Parameters:
    ///   - instance: the run of the forwarder.
    ///   - isReserving: whether the run announces each entry before it sends it.
    ///   - limit: the most entries.
    ///   - now: the time.
    ///   - effects: takes the effects.
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

    /// The number of entries since the start that a session flushed but that could not be queued for sending as well.
    public var flushedUnsent: Int { memory.customData.flushedUnsent }

    /// Returns the queued entries after a number, without a claim.
    public func queuedEntries(after number: EntryNumber, limit: Int) -> [CustomEntry] {
        memory.customData.queuedEntries(after: number, limit: limit, bytes: Self.peekSize)
    }

    /// Queues the entries again that a run of the forwarder claimed but never received: all of its entries except those
    /// that it reports.
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

    /// Takes the result of an entry that a run of the forwarder has.
    ///
    /// - Returns: whether the run still had the entry; if not, an earlier call settled it.
    public mutating func settle(
        _ number: EntryNumber, _ state: EntryState, reason: String?, by instance: UUID128, at now: Moment,
        effects: inout Effects
    ) -> Bool {
        memory.keep(&effects) { $0.settle(number, state, reason: reason, by: instance, now: now.wall, into: &$1) }
    }

    /// Takes the state of sending.
    ///
    /// - Parameters:
    ///   - phase: the forwarder's activity.
    ///   - reason: the reason, for people.
    ///   - failures: the number of requests that failed in a row.
    ///   - until: the end of its wait.
    ///   - now: the time.
    ///   - effects: takes the effects; none if the state is the same.
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

    /// The number of them that have ended; an operator's command is complete when its own has.
    public var removalsEnded: Int { memory.customData.removalsEnded }

    /// Flushes waiting entries on an operator's command, as a session would, without a session. `.clock` continues it.
    ///
    /// - Parameters:
    ///   - target: the target of the session; platform and user default to the device's last known ones.
    ///   - suite: the suite; `nil`: all.
    ///   - now: the time.
    ///   - effects: takes the effects.
    /// - Returns: the number of entries that it flushes.
    public mutating func flush(
        _ target: Target, suite: String?, at now: Moment, effects: inout Effects
    ) -> Int {
        let known = memory.devices.known(target.device, app: target.app)
        let session = SessionStart(
            cause: nil, platform: target.platform ?? known?.platform ?? .android, app: target.app,
            device: target.device, externalID: target.externalID ?? known?.externalID, at: now.wall)
        return memory.keep(&effects) { $0.flush(session, suite: suite, now: now.wall, into: &$1) }
    }

    /// Discards the waiting entries of a suite, of one app or of all. `.clock` continues it.
    ///
    /// - Returns: the number of entries that it discards.
    public mutating func reset(
        suite: String, app: String?, at now: Moment, effects: inout Effects
    ) -> Int {
        memory.keep(&effects) { $0.reset(suite: suite, app: app, now: now.wall, into: &$1) }
    }

    /// Resolves entries of unknown outcome, or removes queued ones, on an operator's command. `.clock` continues it for
    /// all of unknown outcome.
    ///
    /// - Parameters:
    ///   - entries: the entries; `nil`: all of unknown outcome.
    ///   - state: `queued` again, or `discarded`.
    ///   - now: the time.
    ///   - effects: takes the effects.
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
