public import PushModel

extension CustomData {
    /// Hands the oldest entries that are to be sent to a run of the forwarder.
    ///
    /// Entries that an earlier run began to send become unknown (`OnUnknown=`); entries that it only reserved return to
    /// the queue. An unknown entry blocks no other entry: one lost answer must not stop a user's later entries until a
    /// person has looked.
    ///
    /// - Parameters:
    ///   - claimant: the run.
    ///   - isReserving: whether the run calls ``depart(_:by:now:into:)`` before it sends. If it does not, each claimed entry
    ///     counts as possibly sent.
    ///   - limit: how many entries at most; the run then holds ``ClaimRequest/heldMax`` at most.
    ///   - bytes: how many bytes of names and values at most; one entry may be longer.
    ///   - now: the clock.
    ///   - output: receives the entries' changes.
    /// - Returns: the entries, in order of number. Empty while a decision about all unknown entries runs, because the
    ///   decision may put entries back into the queue that are older than all entries in it.
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

    /// Returns whether a claim by this run would return an entry now.
    public func hasEntries(for claimant: UUID128) -> Bool {
        queue.count > 0 && removals.unknownCount == 0 && heldCount(by: claimant) < ClaimRequest.heldMax
    }

    private func heldCount(by claimant: UUID128) -> Int {
        (claims[claimant]?.count ?? 0) + (reserved[claimant]?.count ?? 0)
    }

    /// The reason of an entry that becomes unknown because the forwarder's run ended.
    private static let endedForwarder =
        "the forwarder ended after it had begun to send the entry and before it reported the answer"

    /// Marks reserved entries as about to be sent. The run may send the returned entries once the records are on disk;
    /// it no longer holds the others.
    ///
    /// - Parameters:
    ///   - numbers: the entries.
    ///   - claimant: the run.
    ///   - now: the clock.
    ///   - output: receives the entries' changes.
    /// - Returns: the entries that the run holds, in the order given.
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

    /// Settles an entry that a run of the forwarder holds: `sent`, `rejected`, `unknown`, or `queued` again in its old
    /// place. Ignores an entry that the run does not hold: an earlier call settled it.
    ///
    /// - Parameters:
    ///   - number: the entry.
    ///   - state: one of these four; any other is the caller's error. `OnUnknown=retry` turns `unknown` into `queued`.
    ///   - reason: why, for people.
    ///   - claimant: the run.
    ///   - now: the clock.
    ///   - output: receives the entry's change.
    /// - Returns: whether the run held the entry.
    @discardableResult
    public mutating func settle(
        _ number: EntryNumber, _ state: EntryState, reason: String?, by claimant: UUID128, now: WallTime,
        into output: inout CustomDataOutput
    ) -> Bool {
        let goesBack = state == .queued || state == .unknown && rules.onUnknown == .retry
        if goesBack, let held = reserved[claimant]?.removeValue(forKey: number) {
            // A reserved entry is still queued on disk.
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
        case .pending, .flushed, .claimed, .discarded: preconditionFailure("\(state) is no state in which sending ends")
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

    /// Carries out a person's decision about entries of unknown outcome: `queued` again, in their old places, or
    /// `discarded`. It also discards queued entries that the forwarder has not begun to send: one of them may be the
    /// reason why the endpoint refuses every request.
    ///
    /// Attributes that are sent again overwrite later values with their own.
    ///
    /// - Parameters:
    ///   - numbers: the entries. Discarding queued entries costs one pass over the whole queue.
    ///   - state: one of these two; any other is the caller's error.
    ///   - now: the clock.
    ///   - output: receives the entries' changes.
    /// - Returns: how many entries the decision applies to.
    @discardableResult
    public mutating func resolve(
        _ numbers: [EntryNumber], _ state: EntryState, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        precondition(state == .queued || state == .discarded, "\(state) is no decision of a person")
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

    /// Applies a decision to all entries that are unknown now, in order of number: to the first ones at once, to the
    /// rest in ``continueRemoval(now:into:)``. After a restart the remaining ones are unknown again.
    ///
    /// - Returns: how many entries are unknown now.
    @discardableResult
    mutating func resolveUnknown(
        _ state: EntryState, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        precondition(state == .queued || state == .discarded, "\(state) is no decision of a person")
        let taken = EntryRuns(exchange(&unknown, with: UnknownEntries()))
        let count = taken.count
        begin(Removal(purpose: .resolve(state), entries: consume taken), now: now, into: &output)
        return count
    }

    /// Stores the forwarder's report of how sending goes.
    public mutating func report(_ state: SendingState, into output: inout CustomDataOutput) {
        sending = state
        output.records.append(.sending(state))
    }
}
