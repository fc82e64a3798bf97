public import PushCustomData
public import PushModel

/// What people and the forwarder do with custom data. Each says at once what it changes; that is so once the records among
/// the effects are on disk.
extension Router {
    /// How many bytes of names and values one claim hands out at most.
    private static let claimSize = 1 << 20
    /// The most that a look at what is queued shows, in bytes: who looks may not read the answer for long.
    private static let peekSize = 64 << 10

    /// What waits of custom data.
    public var customDataSummary: CustomDataSummary { memory.customData.summary }

    /// Whether something is to be sent.
    public var hasQueuedEntries: Bool { memory.customData.hasQueuedEntries }

    /// Whether a claim of this run would get something now.
    public func hasEntries(for instance: UUID128) -> Bool { memory.customData.hasEntries(for: instance) }

    /// How sending goes, as the forwarder last said.
    public var sending: SendingState? { memory.customData.sending }

    /// Hands the oldest entries that are to be sent to a run of the forwarder.
    ///
    /// - Parameters:
    ///   - instance: the run.
    ///   - isReserving: whether it says before it sends an entry that it will.
    ///   - limit: how many entries at most.
    ///   - now: the time.
    ///   - effects: what is to be done is appended.
    public mutating func claim(
        by instance: UUID128, isReserving: Bool = false, limit: Int, at now: Moment, effects: inout Effects
    ) -> [CustomEntry] {
        memory.keep(&effects) {
            $0.claim(
                by: instance, isReserving: isReserving, limit: limit, bytes: Self.claimSize, now: now.wall, into: &$1)
        }
    }

    /// A run of the forwarder is about to send entries that it reserved.
    ///
    /// - Returns: those that it may send once the effects are on disk.
    public mutating func depart(
        _ numbers: [EntryNumber], by instance: UUID128, at now: Moment, effects: inout Effects
    ) -> [EntryNumber] {
        memory.keep(&effects) { $0.depart(numbers, by: instance, now: now.wall, into: &$1) }
    }

    /// How many entries a session flushed that were to be sent as well and could not be, since the start.
    public var flushedUnsent: Int { memory.customData.flushedUnsent }

    /// What is queued to be sent, from the one after a number on; it stays as it is.
    public func queuedEntries(after number: EntryNumber, limit: Int) -> [CustomEntry] {
        memory.customData.queuedEntries(after: number, limit: limit, bytes: Self.peekSize)
    }

    /// Queues again what a run of the forwarder was handed in an answer that it never got: all that it has but what it
    /// says that it holds.
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

    /// Takes in what became of an entry that a run of the forwarder has.
    ///
    /// - Returns: whether it had it; what it does not have any more was said before.
    public mutating func settle(
        _ number: EntryNumber, _ state: EntryState, reason: String?, by instance: UUID128, at now: Moment,
        effects: inout Effects
    ) -> Bool {
        memory.keep(&effects) { $0.settle(number, state, reason: reason, by: instance, now: now.wall, into: &$1) }
    }

    /// Takes in how sending goes.
    ///
    /// - Parameters:
    ///   - phase: what the forwarder does.
    ///   - reason: why, for people.
    ///   - failures: how many requests failed one after the other.
    ///   - until: until when it waits.
    ///   - now: the time.
    ///   - effects: what is to be done is appended; nothing if this is known.
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

    /// How many flushes, resets and decisions about all of unknown outcome have begun so far.
    public var removalsBegun: Int { memory.customData.removalsBegun }

    /// How many of them have ended; a person's order is carried out when its own has.
    public var removalsEnded: Int { memory.customData.removalsEnded }

    /// Flushes what waits as if a session began, without one: a person's order. `.clock` goes on with it.
    ///
    /// - Parameters:
    ///   - target: whose session; what it leaves out of platform and user is the device's last known.
    ///   - suite: only what waits in this suite; `nil`: in any.
    ///   - now: the time.
    ///   - effects: what is to be done is appended.
    /// - Returns: how many entries it flushes.
    public mutating func flush(
        _ target: Target, suite: String?, at now: Moment, effects: inout Effects
    ) -> Int {
        let known = memory.devices.known(target.device, app: target.app)
        let session = SessionStart(
            cause: nil, platform: target.platform ?? known?.platform ?? .android, app: target.app,
            device: target.device, externalID: target.externalID ?? known?.externalID, at: now.wall)
        return memory.keep(&effects) { $0.flush(session, suite: suite, now: now.wall, into: &$1) }
    }

    /// Discards what waits in a suite; of one app only, or of all. `.clock` goes on with it.
    ///
    /// - Returns: how many entries it discards.
    public mutating func reset(
        suite: String, app: String?, at now: Moment, effects: inout Effects
    ) -> Int {
        memory.keep(&effects) { $0.reset(suite: suite, app: app, now: now.wall, into: &$1) }
    }

    /// Decides what becomes of entries of unknown outcome, or takes out what is queued: a person's order. Of all of unknown
    /// outcome `.clock` goes on with it.
    ///
    /// - Parameters:
    ///   - entries: the entries; `nil`: all of unknown outcome.
    ///   - state: `queued` again, or `discarded`.
    ///   - now: the time.
    ///   - effects: what is to be done is appended.
    /// - Returns: how many of them it was so with.
    public mutating func resolve(
        _ entries: [EntryNumber]?, _ state: EntryState, at now: Moment, effects: inout Effects
    ) -> Int {
        memory.keep(&effects) { data, output in
            guard let entries else { return data.resolveUnknown(state, now: now.wall, into: &output) }
            return data.resolve(entries, state, now: now.wall, into: &output)
        }
    }
}
