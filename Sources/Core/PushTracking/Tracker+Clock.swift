public import PushModel

extension Tracker {
    /// When the tracker next needs the clock; `nil` when nothing waits. It may turn out that nothing is to be done then.
    public var nextDue: WallTime? { timers.first.map { clock.wall($0.due) } }

    /// Decides what is due: influenced opens and held interactions at the end of the grace, sessions at their timeout.
    ///
    /// Of what comes at the same time as a request, the request comes first.
    public mutating func takeDue(now: WallTime, into output: inout TrackerOutput) {
        begin(now, into: &output)
        while let timer = timers.first, timer.due <= clock.own(now) {
            _ = timers.popFirst()
            switch timer.purpose {
            case .heldInteraction: giveUp(timer.cause, into: &output)
            case .pendingStart: decide(timer, into: &output)
            case .sessionEnd: if isCurrentEnd(timer) { finishSession(timer, into: &output) }
            }
        }
    }
}

extension TrackerRules {
    /// Both ends of the grace are included: it is over a millisecond after it.
    var waitMilliseconds: Int64 { grace.milliseconds.saturatingAdd(1) }
}
