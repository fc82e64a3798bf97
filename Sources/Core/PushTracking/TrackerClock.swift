import PushModel

/// The tracker's own time: the clock, but standing still where that is set back. What waits then waits no longer for it,
/// and what is due at a time of the clock is due at the same instant afterwards.
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

    /// The tracker's time at this reading of the clock, or one to come.
    func own(_ time: WallTime) -> Int64 { time.milliseconds.saturatingAdd(setBack) }

    /// What the clock will show at this time of the tracker's.
    func wall(_ own: Int64) -> WallTime { WallTime(milliseconds: own.saturatingSubtract(setBack)) }
}

/// Something that is to be decided at a time of the tracker's.
struct TrackerTimer: Comparable, Sendable {
    enum Purpose: UInt8, Sendable {
        case heldInteraction, pendingStart, sessionEnd
    }

    var due: Int64
    var cause: SequenceNumber
    var purpose: Purpose
    /// For the end of a session its device, for a start its slot among the pending ones; else `noSlot`.
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
