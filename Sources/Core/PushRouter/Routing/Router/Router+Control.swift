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

extension Router {
    /// The bytes of the rows of one replayed invocation beside the line, at most.
    private static let replayedRows = 4 << 10

    /// Accepts a request again whose invocations became dead letters: with a new number and a new deadline, and with
    /// the same app, device and user, even if the device's user has changed.
    ///
    /// Only the given invocations begin again. The same code as after a restart reads the request's content. The
    /// tracker, the tracks and FCM's list of recent messages do not get the request a second time.
    ///
    /// - Parameters:
    ///   - dead: the request in the ledger, with the invocations that are dead letters.
    ///   - peer: the peer that asks for the replay.
    ///   - now: the time at which that request was read.
    ///   - effects: receives the effects.
    /// - Returns: the acceptance; valid once the records among the effects are on disk.
    /// - Throws: `Refusal`; the router is then unchanged.
    public mutating func replay(
        _ dead: UnfinishedRequest, from peer: Peer, at now: Moment, effects: inout Effects
    ) throws(Refusal) -> Acceptance {
        guard !isDraining else { throw .draining }
        guard table.mode == .relay, dead.accepted.mode == .relay else {
            throw .notReplayable("a replay needs Mode=relay, for the request and for the daemon")
        }
        guard dead.request != nil else {
            throw .notReplayable("this version of pushrouterd cannot read the request's line")
        }
        let letters = dead.invocations.filter { !$0.isTracked(of: dead.accepted) }
        guard !letters.isEmpty else { throw .notReplayable("the request has no dead letter") }
        try checkLimits(of: peer.account, adding: dead.byteCount, at: now)
        // RequestLengthMax= was higher when the request was accepted.
        guard dead.byteCount + letters.count * Self.replayedRows <= table.limits.batchLength else {
            throw .notReplayable(
                "its line of \(dead.byteCount) bytes is longer than a request may be now; raise RequestLengthMax=")
        }

        var replay = dead
        replay.accepted.seq = lastNumber.next
        replay.accepted.id = nil
        replay.accepted.peer = peer
        replay.accepted.acceptedAt = now
        replay.accepted.boot = boot
        replay.accepted.duplicateID = nil
        replay.accepted.isTracked = false
        replay.accepted.replayOf = dead.accepted.seq
        effects.record(replay.accepted)
        effects.record(.noDeadLetters(dead.accepted.seq))
        let context = RecoveryContext(replay, table: table)
        for (n, letter) in letters.enumerated() {
            let row = InvocationRecord(
                id: InvocationID(seq: replay.accepted.seq, n: n), callback: letter.callback,
                isObserver: letter.isObserver, provider: letter.provider, route: letter.isPinned ? letter.route : nil,
                handler: letter.isPinned ? letter.handler : nil, budget: table.budget, deadline: nil, started: false,
                result: nil)
            resumeInvocation(row, stored: nil, of: replay, context, at: now, &effects)
        }
        lastNumber = replay.accepted.seq
        endTurn(at: now, &effects)
        return Acceptance(seq: lastNumber, invocations: letters.count, rejections: [])
    }
}

/// The reason why a person cannot be forgotten now; the caller may ask again soon.
public struct ForgettingRefused: Error, Hashable, Sendable {
    /// The reason, for people.
    public var reason: String
}

extension Router {
    /// The bound of an erasure that is ordered now: later requests and entries of the person are new.
    ///
    /// - Returns: the person with the devices whose last known user this is, and the last request and entry.
    public func bound(of person: Person) -> (Person, ErasureBound) {
        var person = person
        if let user = person.externalID { person.devices.formUnion(memory.devices.known.names(of: user)) }
        return (person, ErasureBound(request: lastNumber, entry: memory.customData.lastNumber))
    }

    /// Forgets a person up to a bound: drops the person's data from the tracker, the custom data and the table of
    /// devices. A later tap on a dropped delivery is on an unknown notification. Writes nothing; the caller deletes the
    /// rows up to the bound.
    ///
    /// - Parameters:
    ///   - person: the person with all devices.
    ///   - bound: what later requests made stays.
    /// - Throws: `ForgettingRefused` if an invocation or an entry of the person up to the bound is in flight; nothing
    ///   is forgotten then.
    public mutating func forget(_ person: Person, through bound: ErasureBound) throws(ForgettingRefused) {
        let inFlight = invocations.ids.count { id in
            id.seq <= bound.request
                && invocations.read(id) {
                    person.includes(user: $0.request.externalID, device: $0.request.device)
                } == true
        }
        guard inFlight == 0 else {
            throw ForgettingRefused(
                reason: "\(counted(inFlight, "invocation")) for this person \(inFlight == 1 ? "is" : "are") in flight")
        }
        guard !memory.customData.isBusy(with: person, through: bound.entry) else {
            throw ForgettingRefused(reason: "the forwarder has entries of this person, or a session flushes its suites")
        }
        memory.forget(person, through: bound)
    }
}
