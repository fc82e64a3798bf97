public import PushModel

extension Tracker {
    /// When the tracker next needs the clock; `nil` when nothing waits. It may turn out that nothing is to be done then.
    public var nextDue: WallTime? { timers.first.map { clock.wall($0.due) } }

    /// Decides what is due: influenced opens and held interactions at the end of the grace, sessions at their timeout.
    ///
    /// Of what comes at the same time as a request, the request comes first. What is too much for one go is left for the
    /// next (``isBehind``).
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
                // The timer that giving up leaves behind is this one, and it is taken out.
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

    /// At how many deliveries timers that are taken in one go look. One that is taken is carried out, so it may be more by
    /// those of one device.
    static let looksAtOnce = 1 << 18

    /// At how many deliveries it looks to decide what a timer is for.
    private func looks(for timer: TrackerTimer) -> Int {
        guard timer.purpose == .pendingStart, let start = pendingStarts[timer.slot] else { return 0 }
        return devices[start.device].unopened.all.count
    }

    /// Whether a timer still means something.
    private func isCurrent(_ timer: TrackerTimer) -> Bool {
        switch timer.purpose {
        case .heldInteraction: held[timer.cause] != nil
        case .pendingStart: true
        case .sessionEnd: isCurrentEnd(timer)
        }
    }

    /// At how many timers one call looks for stale ones, and how many of them it takes out.
    private static let staleLooksAtOnce = 32
    private static let staleTakenAtOnce = 8

    /// What a timer was for is settled before its time. Those that mean nothing are taken out before they are most: each that
    /// comes takes out some, from where the one before stopped, and among so many there are more than come.
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
    /// Both ends of the grace are included: it is over a millisecond after it.
    var waitMilliseconds: Int64 { grace.milliseconds.saturatingAdd(1) }
}
