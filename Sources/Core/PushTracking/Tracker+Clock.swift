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
        hasMoreDue = false
        while let timer = timers.first, timer.due <= clock.own(now) {
            guard left > 0 else {
                hasMoreDue = true
                return
            }
            left -= 1
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

    /// Whether a timer still means something.
    private func isCurrent(_ timer: TrackerTimer) -> Bool {
        switch timer.purpose {
        case .heldInteraction: held[timer.cause] != nil
        case .pendingStart: true
        case .sessionEnd: isCurrentEnd(timer)
        }
    }

    /// What a timer was for is settled before its time. Those that mean nothing are taken out before they are most.
    mutating func noteStaleTimer() {
        staleTimers += 1
        guard staleTimers > 1000, 2 * staleTimers > timers.count else { return }
        var current = timers
        current.removeAll { !isCurrent($0) }
        timers = current
        staleTimers = 0
    }
}

extension TrackerRules {
    /// Both ends of the grace are included: it is over a millisecond after it.
    var waitMilliseconds: Int64 { grace.milliseconds.saturatingAdd(1) }
}
