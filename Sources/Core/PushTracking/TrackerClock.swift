import PushModel

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
