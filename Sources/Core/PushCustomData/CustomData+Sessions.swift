public import PushModel

extension CustomData {
    /// Flushes what waits for a session of this app, on this device, of this user: in the order in which it was saved.
    ///
    /// An entry that names an app, a device or a user waits for a session of that one; of what it does not name, any will
    /// do. Attributes need a profile: a session with neither user nor device leaves them where they are.
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
        var session = session
        session.at = min(session.at, now)
        let hasProfile = session.externalID != nil || session.device != nil
        let flushed = stored.take(app: session.app, device: session.device, user: session.externalID) { held in
            (hasProfile || held.kind == .customEvent) && (suite == nil || held.entry.suite.isSame(as: suite))
        }
        for held in flushed {
            bytes -= held.size
            flush(held.entry, session, now: now, into: &output)
        }
        return flushed.count
    }

    private mutating func flush(
        _ entry: CustomEntry, _ session: SessionStart, now: WallTime, into output: inout CustomDataOutput
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
        if cannotSend { flushedUnsent += 1 }
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
        output.records.append(.entry(sent, .queued, reason: nil))
    }

    /// Takes everything that waits in a suite out of it, for good.
    ///
    /// - Parameters:
    ///   - suite: the suite.
    ///   - app: only what waits for this app; `nil`: whatever waits.
    ///   - now: the clock.
    ///   - output: the entries' ends are appended.
    /// - Returns: how many entries were discarded.
    @discardableResult
    public mutating func reset(
        suite: String, app: String?, now: WallTime, into output: inout CustomDataOutput
    ) -> Int {
        let discarded = stored.takeAll { held in
            let entry = held.entry
            return entry.suite.isSame(as: suite) && (app == nil || entry.app.isSame(as: app))
        }
        for held in discarded {
            bytes -= held.size
            output.records.append(.moved(EntryMove(number: held.number, state: .discarded, at: now)))
        }
        return discarded.count
    }
}

extension CustomEntry {
    /// The profile that a stored entry names.
    fileprivate var brazeID: String? { if case .stored(_, let brazeID) = way { brazeID } else { nil } }

    /// Where it is stored; `nil` for what is sent at once.
    fileprivate var suite: String? { if case .stored(let suite, _) = way { suite } else { nil } }
}
