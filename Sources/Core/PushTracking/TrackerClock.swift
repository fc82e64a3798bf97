import PushModel

/// The tracker's own time: the civil clock without its steps back. A step back prolongs no wait, and a timer for a time
/// of the clock stays due at the same instant.
struct TrackerClock: Sendable {
    private var last: Int64?
    private var setBack: Int64 = 0

    mutating func read(_ now: WallTime) {
        if let last, now.milliseconds < last {
            setBack = setBack.saturatingAdd(last.saturatingSubtract(now.milliseconds))
        }
        last = now.milliseconds
    }

    /// The clock, in Unix seconds.
    var seconds: Int64 { WallTime(milliseconds: last ?? 0).seconds }

    /// Returns the tracker's time at a present or future reading of the clock.
    func own(_ time: WallTime) -> Int64 { time.milliseconds.saturatingAdd(setBack) }

    /// Returns the reading of the clock at a time of the tracker.
    func wall(_ own: Int64) -> WallTime { WallTime(milliseconds: own.saturatingSubtract(setBack)) }
}

/// A decision that is due at a time of the tracker.
struct TrackerTimer: Comparable, Sendable {
    enum Purpose: UInt8, Sendable {
        case heldInteraction, pendingStart, sessionEnd
    }

    var due: Int64
    var cause: SequenceNumber
    var purpose: Purpose
    /// The device of a session's end; the slot of a pending start; `noSlot` for a held interaction.
    var slot: UInt32

    static func < (left: TrackerTimer, right: TrackerTimer) -> Bool {
        (left.due, left.cause, left.purpose.rawValue) < (right.due, right.cause, right.purpose.rawValue)
    }
}

extension WallTime {
    /// Unix seconds as the tracker keeps them: until the year 2106.
    var clockSeconds: UInt32 { UInt32(clamping: seconds) }
}

extension Duration {
    /// Whole seconds.
    var seconds: Int64 { components.seconds }
}
