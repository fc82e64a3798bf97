public import PushModel

extension Tracker {
    /// The time at which the tracker next needs the clock; `nil`: nothing waits. The timer may turn out to be stale.
    public var nextDue: WallTime? { timers.first.map { clock.wall($0.due) } }

    /// Fires due timers: influenced opens and held interactions at the end of the grace, sessions at their timeout.
    ///
    /// At the same time a request comes before a timer. A call does limited work; the next does the rest (``isBehind``).
    public mutating func takeDue(now: WallTime, into output: inout TrackerOutput) {
        begin(now, into: &output)
        var left = Self.workAtOnce
        var looksLeft = Self.looksAtOnce
        hasMoreDue = false
        while let timer = timers.first, timer.due <= clock.own(now) {
            guard left > 0, looksLeft > 0 else {
                hasMoreDue = true
                return
            }
            left -= 1
            looksLeft -= looks(for: timer)
            _ = timers.popFirst()
            guard isCurrent(timer) else {
                staleTimers -= 1
                continue
            }
            switch timer.purpose {
            case .heldInteraction:
                // `giveUp` counts its timer as stale, but this timer has just left the heap.
                staleTimers -= 1
                giveUp(timer.cause, into: &output)
            case .pendingStart:
                guard decide(timer, into: &output) else {
                    timers.insert(timer)
                    hasMoreDue = true
                    return
                }
            case .sessionEnd: finishSession(timer, into: &output)
            }
        }
    }

    /// The most deliveries that the timers of one call check. A timer runs to its end, so the deliveries of one device
    /// may exceed the limit.
    static let looksAtOnce = 1 << 18

    /// Returns the number of deliveries that a timer checks.
    private func looks(for timer: TrackerTimer) -> Int {
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

    /// The most timers that one call checks for stale ones, and the most that it removes.
    private static let staleLooksAtOnce = 32
    private static let staleTakenAtOnce = 8

    /// Counts a timer that has become stale. Once stale timers are the majority, each call also removes some, from
    /// where the last call stopped: more than the one that it adds.
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
    /// The grace plus one millisecond: the grace is inclusive.
    var waitMilliseconds: Int64 { grace.milliseconds.saturatingAdd(1) }
}
