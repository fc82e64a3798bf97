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

/// The tracker's own time: the wall clock, except that setting the clock back stops it instead. So a set-back clock
/// makes no wait longer, and a timer due at a time of the clock stays due at the same instant.
struct TrackerClock: Sendable {
    private var last: Int64?
    private var setBack: Int64 = 0

    mutating func read(_ now: WallTime) {
        if let last, now.milliseconds < last {
            setBack = setBack.saturatingAdd(last.saturatingSubtract(now.milliseconds))
        }
        last = now.milliseconds
    }

    /// The wall clock in Unix seconds.
    var seconds: Int64 { WallTime(milliseconds: last ?? 0).seconds }

    /// Returns the tracker's time at this reading of the clock, or at a future one.
    func own(_ time: WallTime) -> Int64 { time.milliseconds.saturatingAdd(setBack) }

    /// Returns the clock's reading at this time of the tracker.
    func wall(_ own: Int64) -> WallTime { WallTime(milliseconds: own.saturatingSubtract(setBack)) }
}

/// A timer in the tracker's time.
struct TrackerTimer: Comparable, Sendable {
    enum Purpose: UInt8, Sendable {
        case heldInteraction, pendingStart, sessionEnd
    }

    var due: Int64
    var cause: SequenceNumber
    var purpose: Purpose
    /// The device of an ended session, or the slot of a pending start; otherwise `noSlot`.
    var slot: UInt32

    static func < (left: TrackerTimer, right: TrackerTimer) -> Bool {
        (left.due, left.cause, left.purpose.rawValue) < (right.due, right.cause, right.purpose.rawValue)
    }
}

extension WallTime {
    /// Unix seconds in 32 bits, as the tracker stores them: until the year 2106.
    var clockSeconds: UInt32 { UInt32(clamping: seconds) }
}

extension Duration {
    /// The duration in whole seconds.
    var seconds: Int64 { components.seconds }
}

extension Tracker {
    /// The time at which the tracker next needs ``takeDue(now:into:)``; `nil` if no timer is set. The timer may turn
    /// out to be stale.
    public var nextDue: WallTime? { timers.first.map { clock.wall($0.due) } }

    /// Handles due timers: influenced opens and held interactions at the end of the grace, sessions at their timeout.
    ///
    /// A request at the same time comes first. Work beyond the limits of one call is left for the next (``isBehind``).
    public mutating func takeDue(now: WallTime, into output: inout TrackerOutput) {
        begin(now, into: &output)
        var left = Self.workAtOnce
        var readsLeft = Self.readsAtOnce
        var room = Self.rowsAtOnce
        hasMoreDue = false
        while let timer = timers.first, timer.due <= clock.own(now) {
            guard left > 0, readsLeft > 0, room > 0 else {
                hasMoreDue = true
                return
            }
            left -= 1
            readsLeft -= readCount(for: timer)
            _ = timers.popFirst()
            guard isCurrent(timer) else {
                staleTimers -= 1
                continue
            }
            switch timer.purpose {
            case .heldInteraction:
                // `giveUp` counts this timer as stale, but it is already removed.
                staleTimers -= 1
                giveUp(timer.cause, into: &output)
            case .pendingStart:
                guard decide(timer, room: &room, into: &output) else {
                    timers.insert(timer)
                    hasMoreDue = true
                    return
                }
            case .sessionEnd: finishSession(timer, into: &output)
            }
        }
    }

    /// The limit of bytes of rows of influenced opens in one call: all rows of a turn are in one batch of the log.
    static let rowsAtOnce = 512 << 10

    /// The limit of deliveries that the timers of one call read. The last timer may exceed it by the deliveries of one
    /// device.
    static let readsAtOnce = 1 << 18

    /// Returns the number of deliveries that a timer's decision reads.
    private func readCount(for timer: TrackerTimer) -> Int {
        guard timer.purpose == .pendingStart, let start = pendingStarts[timer.slot] else { return 0 }
        return devices[start.device].unopened.all.count
    }

    /// Whether a timer is still valid.
    private func isCurrent(_ timer: TrackerTimer) -> Bool {
        switch timer.purpose {
        case .heldInteraction: held[timer.cause] != nil
        case .pendingStart: true
        case .sessionEnd: isCurrentEnd(timer)
        }
    }

    /// The limits of timers that one call visits in search of stale ones, and of stale ones that it removes.
    private static let staleLooksAtOnce = 32
    private static let staleTakenAtOnce = 8

    /// Notes that a timer became stale because its purpose was settled early. Removes some stale timers if more than
    /// half are stale, continuing where the last call stopped: it removes them faster than new ones come.
    mutating func noteStaleTimer() {
        staleTimers += 1
        guard staleTimers > 1000, 2 * staleTimers > timers.count else { return }
        var left = Self.staleTakenAtOnce
        for _ in 0..<Self.staleLooksAtOnce where left > 0 && timers.count > 0 {
            staleHand = staleHand == 0 ? timers.count - 1 : min(staleHand, timers.count) - 1
            guard !isCurrent(timers[staleHand]) else { continue }
            timers.remove(at: staleHand)
            staleTimers -= 1
            left -= 1
        }
    }
}

extension TrackerRules {
    /// The length of a wait: the end of the grace is included, so the wait ends a millisecond later.
    var waitMilliseconds: Int64 { grace.milliseconds.saturatingAdd(1) }
}
