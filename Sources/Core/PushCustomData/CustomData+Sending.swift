public import PushModel

extension CustomData {
    /// Hands the oldest entries that are to be sent to a run of the forwarder.
    ///
    /// What an earlier run began to send is of unknown outcome from now on (`OnUnknown=`); what it only reserved is queued
    /// again. An entry that is held as unknown holds up nothing: one answer that was lost must not stop all that a user does
    /// until a person has looked.
    ///
    /// - Parameters:
    ///   - claimant: the run.
    ///   - isReserving: whether the run says with ``depart(_:by:now:into:)`` what it begins to send. Of a run that does not,
    ///     every entry may have been sent as soon as it has it.
    ///   - limit: how many entries at most; so many that the run then has ``ClaimRequest/heldMax`` at most.
    ///   - bytes: how many bytes of names and values at most; one entry may be longer.
    ///   - now: the clock.
    ///   - output: the entries' changes are appended.
    /// - Returns: the entries, in order of number; none while a person's decision about all of unknown outcome is carried
    ///   out, since what comes back by it may be older than all that is queued.
    public mutating func claim(
        by claimant: UUID128, isReserving: Bool = false, limit: Int, bytes: Int, now: WallTime,
        into output: inout CustomDataOutput
    ) -> [CustomEntry] {
        for other in claims.keys where other != claimant {
            for held in (claims.removeValue(forKey: other) ?? [:]).values.sorted() {
                leaveUnknown(held, reason: Self.endedForwarder, now: now, into: &output)
            }
        }
        for other in reserved.keys where other != claimant {
            for held in (reserved.removeValue(forKey: other) ?? [:]).values { queue.insert(held) }
        }
        guard removals.unknownCount == 0 else { return [] }
        let limit = min(limit, ClaimRequest.heldMax - heldCount(by: claimant))
        var room = bytes
        var claimed: [CustomEntry] = []
        while claimed.count < limit, let next = queue.first, claimed.isEmpty || next.size <= room {
            guard let held = queue.popFirst() else { break }
            room -= held.size
            if isReserving {
                reserved[claimant, default: [:]][held.number] = held
            } else {
                depart(held, by: claimant, now: now, into: &output)
            }
            claimed.append(held.entry)
        }
        return claimed
    }

    /// Whether a claim of this run would get something now.
    public func hasEntries(for claimant: UUID128) -> Bool {
        queue.count > 0 && removals.unknownCount == 0 && heldCount(by: claimant) < ClaimRequest.heldMax
    }

    private func heldCount(by claimant: UUID128) -> Int {
        (claims[claimant]?.count ?? 0) + (reserved[claimant]?.count ?? 0)
    }

    /// Why an entry is of unknown outcome that a run of the forwarder had when it ended.
    private static let endedForwarder =
        "the forwarder ended after it had begun to send the entry and before it reported the answer"

    /// A run of the forwarder is about to send entries that it reserved. It may send those that are returned once the
    /// records are on disk; the others it has no longer.
    ///
    /// - Parameters:
    ///   - numbers: the entries.
    ///   - claimant: the run.
    ///   - now: the clock.
    ///   - output: the entries' changes are appended.
    /// - Returns: those that the run has, in the order given.
    public mutating func depart(
        _ numbers: [EntryNumber], by claimant: UUID128, now: WallTime, into output: inout CustomDataOutput
    ) -> [EntryNumber] {
        numbers.filter { number in
            guard let held = reserved[claimant]?.removeValue(forKey: number) else {
                return claims[claimant]?[number] != nil
            }
            depart(held, by: claimant, now: now, into: &output)
            return true
        }
    }

    private mutating func depart(
        _ held: HeldEntry, by claimant: UUID128, now: WallTime, into output: inout CustomDataOutput
    ) {
        claims[claimant, default: [:]][held.number] = held
        output.records.append(.moved(EntryMove(number: held.number, state: .claimed, at: now, claimant: claimant)))
    }

    /// Takes in what became of an entry that a run of the forwarder has: `sent`, `rejected`, `unknown`, or `queued` again,
    /// in its old place. One that the run does not have (any more) is passed over: it was said before.
    ///
    /// - Parameters:
    ///   - number: the entry.
    ///   - state: one of the four; another is a mistake of the caller. `OnUnknown=retry` makes `unknown` `queued`.
    ///   - reason: why, for people.
    ///   - claimant: the run.
    ///   - now: the clock.
    ///   - output: the entry's change is appended.
    /// - Returns: whether the run had it.
    @discardableResult
    public mutating func settle(
        _ number: EntryNumber, _ state: EntryState, reason: String?, by claimant: UUID128, now: WallTime,
        into output: inout CustomDataOutput
    ) -> Bool {
        let goesBack = state == .queued || state == .unknown && rules.onUnknown == .retry
        if goesBack, let held = reserved[claimant]?.removeValue(forKey: number) {
            // On disk it is queued already.
            queue.insert(held)
            return true
        }
        guard
            let held = claims[claimant]?.removeValue(forKey: number)
                ?? reserved[claimant]?.removeValue(forKey: number)
        else { return false }
        switch state {
        case .sent, .rejected: bytes -= held.size
        case .queued: queue.insert(held)
        case .unknown:
            leaveUnknown(held, reason: reason, now: now, into: &output)
            return true
        case .pending, .flushed, .claimed, .discarded: preconditionFailure("\(state) is nothing that sending leads to")
        }
        output.records.append(.moved(EntryMove(number: number, state: state, at: now, reason: reason)))
        return true
    }

    private mutating func leaveUnknown(
        _ held: HeldEntry, reason: String?, now: WallTime, into output: inout CustomDataOutput
    ) {
        let state: EntryState = rules.onUnknown == .hold ? .unknown : .queued
        if state == .unknown { unknown.insert(held) } else { queue.insert(held) }
        output.records.append(.moved(EntryMove(number: held.number, state: state, at: now, reason: reason)))
    }

    /// A person decides what becomes of entries of unknown outcome: `queued` again, in their old places, or `discarded`. What
    /// is to be sent may be discarded as well, until the forwarder begins to send it: it may be what the endpoint refuses
    /// everything for.
    ///
    /// Attributes that are sent again set what they set then, also over what came later.
    ///
    /// - Parameters:
    ///   - numbers: the entries. To discard what is to be sent costs as much as all that is to be sent, once.
    ///   - state: one of the two; another is a mistake of the caller.
    ///   - now: the clock.
    ///   - output: the entries' changes are appended.
    /// - Returns: of how many this was to be decided.
    @discardableResult
    public mutating func resolve(
        _ numbers: [EntryNumber], _ state: EntryState, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        precondition(state == .queued || state == .discarded, "\(state) is nothing that a person decides")
        var resolved = numbers.compactMap { unknown.remove($0) }
        if state == .discarded, resolved.count < numbers.count {
            resolved += queue.remove(Set(numbers))
            for claimant in reserved.keys {
                resolved += numbers.compactMap { reserved[claimant]?.removeValue(forKey: $0) }
            }
        }
        for held in resolved {
            if state == .discarded { bytes -= held.size } else { queue.insert(held) }
            output.records.append(.moved(EntryMove(number: held.number, state: state, at: now)))
        }
        return resolved.count
    }

    /// The same for all entries that are of unknown outcome now, in order of number: the first of them at once, and
    /// ``continueRemoval(now:into:)`` does the rest. After a restart those that are left are of unknown outcome as before.
    ///
    /// - Returns: how many these are.
    @discardableResult
    public mutating func resolveUnknown(
        _ state: EntryState, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        precondition(state == .queued || state == .discarded, "\(state) is nothing that a person decides")
        let taken = EntryRuns(exchange(&unknown, with: UnknownEntries()))
        let count = taken.count
        begin(Removal(purpose: .resolve(state), entries: consume taken), now: now, into: &output)
        return count
    }

    /// Takes in how sending goes.
    public mutating func report(_ state: SendingState, into output: inout CustomDataOutput) {
        sending = state
        output.records.append(.sending(state))
    }
}
