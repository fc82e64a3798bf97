public import PushModel

extension CustomData {
    /// Flushes the entries that wait for a session of this app, this device and this user, in the order of their
    /// numbers.
    ///
    /// An entry that names an app, a device or a user waits for a session of that one; a missing name matches any
    /// session. Attributes need a profile: a session with neither user nor device leaves them in the suite.
    ///
    /// The call chooses all entries and flushes the first of them; ``continueRemoval(now:into:)`` flushes the rest. If
    /// entries remain and a request began the session, a record marks the last chosen entry as `pending` by that
    /// request. After a restart ``resumeFlush(_:)`` flushes up to this entry.
    ///
    /// - Parameters:
    ///   - session: the session start.
    ///   - suite: flushes only the entries in this suite; `nil`: every suite.
    ///   - now: the clock.
    ///   - output: receives the events, the profile changes and the entries' moves.
    /// - Returns: how many entries the session flushes.
    @discardableResult
    public mutating func flush(
        _ session: SessionStart, suite: String? = nil, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        var session = session
        session.at = min(session.at, now)
        let taken = stored.take(
            app: session.app, device: session.device, user: session.externalID, where: Self.condition(session, suite))
        if rules.sendsFlushed, session.externalID == nil { flushedUnsent += taken.count { !$0.namesProfile } }
        let (count, last) = (taken.count, taken.last)
        // Passing `taken` on consumes it: a second reference would copy the entries when the first one is removed.
        let isUnderway = begin(
            Removal(purpose: .flush(session, rules), entries: consume taken), now: now, into: &output)
        if isUnderway, let cause = session.cause, let last {
            output.records.append(.moved(EntryMove(number: last, state: .pending, at: now, by: cause)))
        }
        return count
    }

    /// Returns which of the entries that match a session it flushes; `nil`: all of them.
    private static func condition(_ session: SessionStart, _ suite: String?) -> ((HeldEntry) -> Bool)? {
        let hasProfile = session.externalID != nil || session.device != nil
        guard !hasProfile || suite != nil else { return nil }
        let suite = suite.map { Array($0.utf8) }
        return { held in
            (hasProfile || held.kind == .customEvent) && (suite.map { held.isStored(in: $0) } ?? true)
        }
    }

    private mutating func flush(
        _ entry: CustomEntry, _ session: SessionStart, _ rules: CustomDataRules, now: WallTime,
        into output: inout CustomDataOutput
    ) {
        let time = rules.eventTime == .saved ? entry.time : session.at
        if entry.kind == .customEvent {
            output.events.append(event(entry, session, at: time))
        } else if let owner = session.externalID.map(ProfileOwner.user) ?? session.device.map(ProfileOwner.device) {
            for (name, change) in entry.profileChanges(rules) {
                output.records.append(
                    .attribute(
                        AttributeRow(
                            owner: owner, kind: entry.kind, name: name, change: change, at: session.at,
                            entry: entry.number)))
            }
        }
        let profile = entry.brazeID.map(UserIdentifier.brazeID) ?? session.externalID.map(UserIdentifier.externalID)
        let cannotSend = rules.sendsFlushed && profile == nil
        output.records.append(
            .moved(
                EntryMove(
                    number: entry.number, state: .flushed, at: now, by: session.cause,
                    reason: cannotSend ? Self.anonymousSession : nil)))
        if rules.sendsFlushed, let profile { send(entry, to: profile, session, at: time, now: now, into: &output) }
    }

    /// The reason of an entry that was not sent although `SendFlushed=yes`.
    private static let anonymousSession = "not sent to the endpoint: the session has no user (SendFlushed=yes)"

    private func event(_ entry: CustomEntry, _ session: SessionStart, at time: WallTime) -> AnalyticsEvent {
        let number = SequenceNumber(entry.number.value)
        let cause = session.cause ?? entry.cause
        return AnalyticsEvent(
            id: AnalyticsEvent.identifier(state: stateID, number: number, kind: .customEvent),
            time: time.seconds, seq: cause, delivery: cause, externalUserID: session.externalID,
            deviceID: entry.device ?? session.device, appID: entry.app ?? session.app,
            // The session's app knows its platform; the producer of the entry may have omitted it.
            platform: session.cause == nil ? entry.platform : session.platform,
            content: .customEvent(
                name: entry.name ?? "",
                properties: entry.data == Array("{}".utf8) ? nil : String(decoding: entry.data, as: UTF8.self)))
    }

    /// Queues a flushed entry for the endpoint, as a new entry.
    private mutating func send(
        _ entry: CustomEntry, to profile: UserIdentifier, _ session: SessionStart, at time: WallTime, now: WallTime,
        into output: inout CustomDataOutput
    ) {
        lastNumber = lastNumber.next
        var sent = entry
        sent.number = lastNumber
        sent.cause = session.cause ?? entry.cause
        sent.destination = .sent(profile)
        sent.app = entry.app ?? session.app
        sent.device = entry.device ?? session.device
        sent.externalID = session.externalID
        sent.time = time
        sent.savedAt = now
        hold(sent, .queued)
        output.records.append(.entry(sent, .queued, problem: nil))
    }

    /// Discards all entries in a suite: the first of them at once, the rest in ``continueRemoval(now:into:)``.
    ///
    /// - Parameters:
    ///   - suite: the suite.
    ///   - app: discards only the entries that wait for this app; `nil`: every app.
    ///   - now: the clock.
    ///   - output: receives the entries' moves.
    /// - Returns: how many entries it discards.
    @discardableResult
    public mutating func reset(
        suite: String, app: String?, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        let taken = stored.takeAll(in: Array(suite.utf8), app: app)
        let count = taken.count
        begin(Removal(purpose: .discard, entries: consume taken), now: now, into: &output)
        return count
    }

    // MARK: Some at a time

    /// The most entries, and bytes of names and data, that one call removes from storage, so that no turn of the loop
    /// is long.
    private static let removedAtOnce = (entries: 256, bytes: 1 << 16)

    /// Whether a flush, a reset or a decision about all unknown entries is under way.
    var isRemoving: Bool { removals.count > 0 }

    /// The number of removals with at least one entry that have begun.
    public var removalsBegun: Int { removals.begun }

    /// The number of these removals that have ended.
    public var removalsEnded: Int { removals.ended }

    /// Continues the removals, in the order in which they began.
    ///
    /// - Parameters:
    ///   - now: the clock.
    ///   - output: receives the events and records.
    mutating func continueRemoval(now: WallTime, into output: inout CustomDataOutput) {
        var left = Self.removedAtOnce
        while left.entries > 0, left.bytes > 0, let (held, purpose) = removals.popFirst() {
            left.entries -= 1
            left.bytes -= held.size
            bytes -= held.size
            switch purpose {
            case .flush(let session, let rules): flush(held.entry, session, rules, now: now, into: &output)
            case .discard: output.records.append(.moved(EntryMove(number: held.number, state: .discarded, at: now)))
            case .resolve(let state):
                if state == .queued {
                    bytes += held.size
                    queue.insert(held)
                }
                output.records.append(.moved(EntryMove(number: held.number, state: state, at: now)))
            }
        }
    }

    /// Begins to remove entries, behind the removals that are under way.
    ///
    /// - Returns: whether entries remain to be removed later.
    @discardableResult
    mutating func begin(
        _ removal: consuming Removal, now: WallTime, into output: inout CustomDataOutput
    ) -> Bool {
        guard removal.entries.count > 0 else { return false }
        let isFirst = !isRemoving
        removals.append(removal)
        if isFirst { continueRemoval(now: now, into: &output) }
        return isRemoving
    }

    /// The requests whose flush a restart interrupted, in order. The caller passes the session of each to
    /// ``resumeFlush(_:)``.
    public var interruptedFlushes: [SequenceNumber] { interrupted.keys.sorted() }

    /// Resumes a flush that a restart interrupted, before any other event.
    ///
    /// - Parameter session: the session start as it was.
    public mutating func resumeFlush(_ session: SessionStart) {
        guard let last = session.cause.flatMap({ interrupted.removeValue(forKey: $0) }) else { return }
        let taken = stored.take(
            app: session.app, device: session.device, user: session.externalID, through: last,
            where: Self.condition(session, nil))
        if taken.count > 0 { removals.append(Removal(purpose: .flush(session, rules), entries: taken)) }
    }
}

extension CustomEntry {
    /// The braze_id of a stored entry's profile.
    fileprivate var brazeID: String? { if case .stored(_, let brazeID) = destination { brazeID } else { nil } }
}
