public import PushModel

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
