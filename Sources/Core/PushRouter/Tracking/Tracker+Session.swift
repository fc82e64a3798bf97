public import PushModel

extension Tracker {
    /// Begins or ends a session of an app.
    ///
    /// - Parameters:
    ///   - kind: the start or the end.
    ///   - source: the request and its target. An end applies to the open session of the app, of any user.
    ///   - now: the clock.
    ///   - output: receives the events and records.
    @discardableResult
    public mutating func session(
        _ kind: SessionRequest.Kind, _ source: TrackerSource, now: WallTime, into output: inout TrackerOutput
    ) -> SessionResult {
        begin(now, into: &output)
        var source = source
        source.at = min(source.at, now)
        switch kind {
        case .start: return startSession(source, now: now, into: &output)
        case .end: return endSession(source, now: now, into: &output)
        }
    }

    /// Begins a session unless it continues or resumes one of the same user (T7, T8).
    @discardableResult
    mutating func startSession(
        _ source: TrackerSource, now: WallTime, into output: inout TrackerOutput
    ) -> SessionResult {
        guard let name = source.device else { return .withoutDevice }
        let device = findOrAdd(name, app: source.app)
        let time = source.at.milliseconds
        if var session = devices[device].session, isBelieved(session) {
            if texts.find(source.externalID) == session.user {
                if session.isOpen { return .continued }
                let timeout = rules.sessionTimeout(on: session.platform)
                if time >= session.startedAt, time.saturatingSubtract(session.endedAt) <= timeout {
                    session.endedBy = 0
                    session.since = now.clockSeconds
                    devices[device].session = session
                    noteStaleTimer()
                    output.records.append(.session(row(of: device, session: session)))
                    return .continued
                }
            }
            emitSessionEnd(of: session, device, cause: source.cause, at: time, into: &output)
        }
        let leavesTimer = devices[device].session?.isOpen == false
        dropSession(device, into: &output)
        if leavesTimer { noteStaleTimer() }
        let user = texts.retain(source.externalID)
        let session = Devices.Session(
            user: user, number: source.cause.value, startedAt: time,
            since: now.clockSeconds, platform: source.platform)
        set(session, device, into: &output)
        output.records.append(.session(row(of: device, session: session)))
        output.events.append(event(.sessionStart, number: source.cause, source, at: source.at))
        if let window = takeStart(source, device, user, now: now, into: &output) {
            decideLater(source, device, user, window: window, now: now, into: &output)
        }
        return .started
    }

    private mutating func endSession(
        _ source: TrackerSource, now: WallTime, into output: inout TrackerOutput
    ) -> SessionResult {
        guard let name = source.device else { return .withoutDevice }
        guard let app = texts.find(source.app), let device = devices.find(name, app: app),
            var session = devices[device].session, session.isOpen, isBelieved(session)
        else { return .noSession }
        session.endedAt = source.at.milliseconds
        session.endedBy = source.cause.value
        session.since = now.clockSeconds
        // The timeout itself is included, so the session is over a millisecond later.
        session.endDue = clock.own(now).saturatingAdd(rules.sessionTimeout(on: session.platform)).saturatingAdd(1)
        devices[device].session = session
        let timer = TrackerTimer(due: session.endDue, cause: source.cause, purpose: .sessionEnd, slot: device)
        timers.insert(timer)
        output.records.append(.session(row(of: device, session: session)))
        return .ended
    }

    /// Removes an ended session that can no longer be resumed.
    mutating func finishSession(_ timer: TrackerTimer, into output: inout TrackerOutput) {
        guard let session = devices[timer.slot].session else { return }
        emitSessionEnd(of: session, timer.slot, cause: timer.cause, at: session.endedAt, into: &output)
        dropSession(timer.slot, into: &output)
        releaseIfUnused(timer.slot)
    }

    /// Whether the timer still belongs to the end of the device's session.
    func isCurrentEnd(_ timer: TrackerTimer) -> Bool {
        guard let session = devices[timer.slot].session else { return false }
        return session.endedBy == timer.cause.value && session.endDue == timer.due
    }

    /// Emits the one end event of a session: at its end, or when another user's session begins.
    private func emitSessionEnd(
        of session: Devices.Session, _ device: UInt32, cause: SequenceNumber, at time: Int64,
        into output: inout TrackerOutput
    ) {
        let key = key(of: device)
        let end = session.isOpen ? time : session.endedAt
        let source = TrackerSource(
            cause: session.isOpen ? cause : SequenceNumber(session.endedBy), platform: session.platform, app: key.app,
            device: key.device, externalID: texts[session.user], at: WallTime(milliseconds: end))
        let duration = Duration.milliseconds(max(0, end.saturatingSubtract(session.startedAt)))
        output.events.append(
            event(.sessionEnd(duration), number: SequenceNumber(session.number), source, at: source.at))
    }

    /// Whether a session counts: an open session unused for too long does not.
    private func isBelieved(_ session: Devices.Session) -> Bool {
        !session.isOpen || Int64(session.since) >= horizon(rules.remember.seconds)
    }

    // MARK: Memory

    /// The most sessions, or users' session starts, that one start forgets.
    static let forgottenAtOnce = 16

    /// Stores a session, and forgets sessions that were not used for long.
    mutating func set(_ session: Devices.Session, _ device: UInt32, into output: inout TrackerOutput) {
        devices[device].session = session
        sessionCount += 1
        let horizon = horizon(rules.remember.seconds)
        // The new session stays, even if all others have ended and wait for their end events. Each start removes a
        // limited number of old sessions.
        var left = Self.forgottenAtOnce
        while left > 0,
            let old = devices.nextOldSession(before: horizon, tooMany: sessionCount > rules.rememberUsersMax),
            old != device
        {
            left -= 1
            dropSession(old, into: &output)
            releaseIfUnused(old)
        }
    }

    private mutating func dropSession(_ device: UInt32, into output: inout TrackerOutput) {
        guard let session = devices[device].session else { return }
        output.records.append(.forgottenSession(SequenceNumber(session.number)))
        texts.release(session.user)
        devices[device].session = nil
        sessionCount -= 1
    }

    /// Returns the app and the name of a device; every device with a session has a name.
    func key(of device: UInt32) -> DeviceKey {
        DeviceKey(app: texts[devices[device].app], device: devices[device].name ?? "")
    }

    private func row(of device: UInt32, session: Devices.Session) -> SessionRow {
        SessionRow(
            number: SequenceNumber(session.number), key: key(of: device), platform: session.platform,
            externalID: texts[session.user], startedAt: WallTime(milliseconds: session.startedAt),
            end: session.isOpen
                ? nil
                : .init(
                    at: WallTime(milliseconds: session.endedAt), by: SequenceNumber(session.endedBy),
                    due: clock.wall(session.endDue)),
            since: WallTime(milliseconds: Int64(session.since) * 1000))
    }
}
