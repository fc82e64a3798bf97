import PushModel

extension Router {
    /// The most due timers in one turn: after a suspend of the machine very many may be due at once.
    private static let dueAtOnce = 64

    /// Handles due timers in order of time. Timers beyond the limit stay due for the next turn.
    mutating func takeDue(at now: Moment, _ effects: inout Effects) {
        var left = Self.dueAtOnce
        while left > 0, let timer = schedule.takeDue(at: now.monotonic) {
            left -= 1
            guard invocations.waits(for: timer), var invocation = invocations[timer.invocation] else { continue }
            switch timer.purpose {
            case .deadline:
                miss(invocation, at: now, &effects)
            case .terminate:
                // An invocation that does not run yet has less than its grace left when it starts. A timer after the
                // deadline leads to a stop instead.
                guard invocation.stage == .running, let deadline = invocation.record.deadline,
                    now.monotonic < deadline
                else { continue }
                invocation.stage = .terminating
                invocations.put(invocation)
                effects.append(.terminate(timer.invocation))
            case .retry: run(&invocation, at: now, &effects)
            }
        }
    }

    /// Sets the timer for the invocation's deadline.
    mutating func watch(_ invocation: Invocation) {
        guard let deadline = invocation.record.deadline else { preconditionFailure("watched before it had a deadline") }
        schedule.add(DueTimer(due: deadline, purpose: .deadline, invocation: invocation.record.id))
    }

    /// Sets the timer for SIGTERM to the handler of an invocation that is about to start, if the handler has a grace
    /// period.
    mutating func watchTermination(of invocation: Invocation, at now: Moment) {
        guard let due = invocation.terminationDue, now.monotonic < due else { return }
        schedule.add(DueTimer(due: due, purpose: .terminate, invocation: invocation.record.id))
    }

    private mutating func miss(_ missed: Invocation, at now: Moment, _ effects: inout Effects) {
        var invocation = missed
        if invocation.stage == .waiting, let lane = invocation.lane.flatMap({ lanes[$0] }), let head = lane.head {
            invocation.waitedFor = Predecessor(
                id: head, handler: invocations[head]?.handler?.value.name, took: lane.headAge(at: now.monotonic))
        }
        let isBlockedByHandler =
            invocation.stage == .ready && invocation.attempts.countOfHandler == 0
            && invocation.handler.map { places.isBlockedByHandler(invocation.record.id, of: $0.value) } == true
        if invocation.holdsPlace { places.leave(invocation, invocations, &schedule) }
        if invocation.hasFailedAtDeadline { note(answered: false, of: invocation, at: now, &effects) }
        if invocation.holdsPlace {
            endAttempt(&invocation, .timedOut, at: now, &effects)
            effects.append(.stop(invocation.record.id))
        }
        let reason: RouterReason =
            switch invocation.stage {
            case .waiting: .waitingInLane
            case .running, .terminating: .notFinishedAtDeadline(invocation.attempts.facts.insteadOfAnswer)
            case .ready where isBlockedByHandler: .queueFull
            case .ready, .starting, .pausing:
                invocation.attempts.first == nil
                    ? .noHandlerStartedInTime
                    : .notDoneAfterRetries(
                        attempts: invocation.attempts.count, last: invocation.attempts.lastReason)
            }
        // The program has not begun, as the router knows by now; `started` was set in case of a crash.
        if invocation.stage == .starting { invocation.record.started = false }
        // An invocation that waited in this handler's queue never reached it, even if an earlier handler had it.
        conclude(invocation, isBlockedByHandler ? .expired : invocation.missed, because: reason, at: now, &effects)
    }
}
