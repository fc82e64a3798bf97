public import PushModel

extension CustomData {
    /// Flushes what waits for a session of this app, on this device, of this user: in the order in which it was saved.
    ///
    /// An entry that names an app, a device or a user waits for a session of that one; of what it does not name, any will
    /// do. Attributes need a profile: a session with neither user nor device leaves them where they are.
    ///
    /// It is decided at once which entries these are, and the first of them are flushed at once; ``continueRemoval(now:into:)``
    /// does the rest. What a session of a request leaves to be done, its last entry tells: it is `pending`, by that request.
    ///
    /// - Parameters:
    ///   - session: the session start.
    ///   - suite: only what is in it; `nil`: whatever waits.
    ///   - now: the clock.
    ///   - output: the events, the fields that are set and the entries' ends are appended.
    /// - Returns: how many entries it flushes.
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
        // Whoever held on to them would have them copied as the first are taken out.
        let isUnderway = begin(
            Removal(purpose: .flush(session, rules), entries: consume taken), now: now, into: &output)
        if isUnderway, let cause = session.cause, let last {
            output.records.append(.moved(EntryMove(number: last, state: .pending, at: now, by: cause)))
        }
        return count
    }

    /// What a session flushes of that which waits for it; `nil`: all.
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

    /// Why an entry was not sent although `SendFlushed=yes`.
    private static let anonymousSession = "it was not sent to the endpoint: the session has no user (SendFlushed=yes)"

    private func event(_ entry: CustomEntry, _ session: SessionStart, at time: WallTime) -> AnalyticsEvent {
        let number = SequenceNumber(entry.number.value)
        let cause = session.cause ?? entry.cause
        return AnalyticsEvent(
            id: AnalyticsEvent.identifier(state: stateID, number: number, kind: .customEvent),
            time: time.seconds, seq: cause, delivery: cause, externalUserID: session.externalID,
            deviceID: entry.device ?? session.device, appID: entry.app ?? session.app,
            // The app that began to run says what platform that is; who logged may have left it out.
            platform: session.cause == nil ? entry.platform : session.platform,
            content: .customEvent(
                name: entry.name ?? "",
                properties: entry.data == Array("{}".utf8) ? nil : String(decoding: entry.data, as: UTF8.self)))
    }

    /// What was flushed goes to the endpoint too, as an entry of its own.
    private mutating func send(
        _ entry: CustomEntry, to profile: UserIdentifier, _ session: SessionStart, at time: WallTime, now: WallTime,
        into output: inout CustomDataOutput
    ) {
        lastNumber = lastNumber.next
        var sent = entry
        sent.number = lastNumber
        sent.cause = session.cause ?? entry.cause
        sent.way = .sent(profile)
        sent.app = entry.app ?? session.app
        sent.device = entry.device ?? session.device
        sent.externalID = session.externalID
        sent.time = time
        sent.savedAt = now
        hold(sent, .queued)
        output.records.append(.entry(sent, .queued, problem: nil))
    }

    /// Takes everything that waits in a suite out of it, for good. As with ``flush(_:suite:now:into:)`` the first of it goes at
    /// once.
    ///
    /// - Parameters:
    ///   - suite: the suite.
    ///   - app: only what waits for this app; `nil`: whatever waits.
    ///   - now: the clock.
    ///   - output: the entries' ends are appended.
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

    /// How many entries are removed from storage in one go, and how many bytes of names and data: no turn of a loop is long.
    private static let removedAtOnce = (entries: 256, bytes: 1 << 16)

    /// Whether a flush, a reset or a decision about all of unknown outcome has begun and not ended.
    public var isRemoving: Bool { removals.count > 0 }

    /// How many of these that found something have begun so far.
    public var removalsBegun: Int { removals.begun }

    /// How many of them have ended.
    public var removalsEnded: Int { removals.ended }

    /// Goes on with what has begun, in that order.
    ///
    /// - Parameters:
    ///   - now: the clock.
    ///   - output: what it leads to is appended.
    public mutating func continueRemoval(now: WallTime, into output: inout CustomDataOutput) {
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

    /// Begins to remove entries, after those before them.
    ///
    /// - Returns: whether some are left to be removed later.
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

    /// The requests whose sessions began to flush, before a restart, and had not ended; in order. Each is to be given to
    /// ``resumeFlush(_:)``.
    public var interruptedFlushes: [SequenceNumber] { interrupted.keys.sorted() }

    /// Takes up a flush that a restart interrupted, before anything else happens.
    ///
    /// - Parameter session: as it was.
    public mutating func resumeFlush(_ session: SessionStart) {
        guard let last = session.cause.flatMap({ interrupted.removeValue(forKey: $0) }) else { return }
        let taken = stored.take(
            app: session.app, device: session.device, user: session.externalID, through: last,
            where: Self.condition(session, nil))
        if taken.count > 0 { removals.append(Removal(purpose: .flush(session, rules), entries: taken)) }
    }
}

extension CustomEntry {
    /// The profile that a stored entry names.
    fileprivate var brazeID: String? { if case .stored(_, let brazeID) = way { brazeID } else { nil } }
}
