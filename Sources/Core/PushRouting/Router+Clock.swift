import PushModel

extension Router {
    /// The limit of timers that one turn handles: after a suspend of the machine very many may be due at once.
    private static let dueAtOnce = 64

    /// Handles the timers that are due, in order of time. The rest of a turn is still due after it.
    mutating func takeDue(at now: Moment, _ effects: inout Effects) {
        var left = Self.dueAtOnce
        while left > 0, let timer = schedule.takeDue(at: now.monotonic) {
            left -= 1
            guard invocations.waits(for: timer), var invocation = invocations[timer.invocation] else { continue }
            switch timer.purpose {
            case .deadline:
                miss(invocation, at: now, &effects)
            case .terminate:
                // A handler that starts later has less than its grace; after the deadline `miss` stops it.
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

    /// Sets the timer for the deadline of an invocation.
    mutating func watch(_ invocation: Invocation) {
        guard let deadline = invocation.record.deadline else { preconditionFailure("watched before it had a deadline") }
        schedule.add(DueTimer(due: deadline, purpose: .deadline, invocation: invocation.record.id))
    }

    /// Sets the timer for the handler's SIGTERM before the deadline, if its settings ask for one.
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
        let isHeldUp =
            invocation.stage == .ready && invocation.attempts.countOfHandler == 0
            && invocation.handler.map { places.isHeldUp(invocation.record.id, of: $0.value) } == true
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
            case .ready where isHeldUp: .queueFull
            case .ready, .starting, .pausing:
                invocation.attempts.first == nil
                    ? .noHandlerStartedInTime
                    : .notDoneAfterRetries(
                        attempts: invocation.attempts.count, last: invocation.attempts.lastReason)
            }
        // The program is known not to have begun; `started` was written in case of a crash.
        if invocation.stage == .starting { invocation.record.started = false }
        // A handler that an invocation only waited for did not miss the deadline, whichever handler had it before.
        conclude(invocation, isHeldUp ? .expired : invocation.missed, because: reason, at: now, &effects)
    }
}
