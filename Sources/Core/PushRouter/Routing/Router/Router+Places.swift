import PushModel

/// Handlers that take no invocation now: an invocation passes over a handler with an open breaker, and a request for a
/// handler with a full queue is refused.
extension Router {
    /// Whether a handler's breaker admits an invocation. Only `relay` mode has breakers, because an app has none.
    func admits(_ invocation: Invocation, to handler: String, at now: Moment) -> Bool {
        invocation.table.mode != .relay
            || places.admits(invocation.record.id, to: handler, at: now.monotonic)
    }

    /// Notes whether a handler answered, which may close or open its breaker.
    mutating func note(answered: Bool, of invocation: Invocation, at now: Moment, _ effects: inout Effects) {
        guard invocation.table.mode == .relay, let handler = invocation.handler,
            let change = places.note(
                answered: answered, invocation.record.id, by: handler.value, at: now.monotonic)
        else { return }
        effects.append(.breaker(change))
    }

    /// Returns the position of the invocation's next route, skipping handlers with an open breaker.
    mutating func nextPosition(of invocation: inout Invocation, at now: Moment) -> Int? {
        var position = invocation.isPinned ? invocation.position : invocation.nextOwner
        while let candidate = position {
            let route = invocation.table.routes[candidate]
            if admits(invocation, to: route.handler, at: now) { return candidate }
            invocation.bypassed.passedOver.append(route.handler)
            places.passOver(route.handler)
            // If no later route takes the invocation, its row names this one.
            (invocation.record.route, invocation.record.handler) = (route.name, route.handler)
            invocation.record.budget = min(route.budget ?? invocation.table.budget, invocation.table.budget)
            invocation.record.deadline = invocation.clockStart.map { $0 + invocation.record.budget }
            guard !invocation.isPinned else { return nil }
            invocation.position = candidate + 1
            position = invocation.nextOwner
        }
        return nil
    }

    /// Moves an invocation to the next matching route because its handler's breaker is open.
    mutating func divert(_ invocation: inout Invocation, at now: Moment, _ effects: inout Effects) {
        schedule.countAct()
        if invocation.stage == .ready { places.leaveQueue(invocation, invocations, &schedule) }
        // The invocation has not been started for this handler, and waits in no queue.
        invocation.stage = .waiting
        invocation.attempts.advanceToNextHandler()
        guard let start = invocation.clockStart else { preconditionFailure("went past a handler before its clock ran") }
        guard pick(&invocation, from: start, at: now, &effects) else { return }
        run(&invocation, at: now, &effects)
    }

    /// Moves the invocations that wait for handlers with a newly opened breaker to their next routes.
    mutating func divertWaiting(at now: Moment, _ effects: inout Effects) {
        while let (id, handler) = places.nextToDivert(&schedule) {
            guard invocations.isReady(id, for: handler), var invocation = invocations[id],
                !admits(invocation, to: handler, at: now),
                invocation.record.deadline.map({ now.monotonic < $0 }) == true
            else { continue }
            divert(&invocation, at: now, &effects)
        }
    }

    /// Refuses a request if one of its callbacks would wait for a handler with a full queue. The router has not changed
    /// for the request yet.
    ///
    /// Observers' copies and broadcasts to several handlers never cause a refusal: one handler would keep the request
    /// from the others. They wait, and end as `expired` if no place becomes free.
    ///
    /// - Parameters:
    ///   - callbacks: the callbacks that a route owns.
    ///   - facts: returns the facts that routes match on, for a callback.
    mutating func checkQueues(
        for callbacks: [Callback], at now: Moment, _ facts: (Callback) -> RouteFacts
    ) throws(Refusal) {
        guard places.mayRefuse else { return }
        var needed: [(handler: String, count: Int)] = []
        for callback in callbacks {
            guard let handler = onlyHandler(for: facts(callback), at: now) else { continue }
            if let place = needed.firstIndex(where: { $0.handler == handler }) {
                needed[place].count += 1
            } else {
                needed.append((handler, 1))
            }
        }
        if let message = places.refuse(needed, startsNone: startsNone) {
            throw .overloaded(message: message, retryAfter: retryDelay(at: now))
        }
    }

    /// Returns the handler that an invocation would be queued for; `nil` if there is none, or several get it.
    private func onlyHandler(for facts: RouteFacts, at now: Moment) -> String? {
        let positions = facts.callback.isBroadcast ? table.positions(for: facts, observing: false) : []
        guard positions.count < 2 else { return nil }
        var position = positions.first ?? table.owner(of: facts)
        while let candidate = position {
            let name = table.routes[candidate].handler
            // No invocation has this id: the question is whether the breaker admits a new one.
            let nobody = InvocationID(seq: SequenceNumber(0), n: 0)
            if table.mode != .relay || places.admits(nobody, to: name, at: now.monotonic) {
                return table.handlers[name]?.kind.isBuiltIn == false ? name : nil
            }
            guard positions.isEmpty else { return nil }
            position = table.owner(of: facts, from: candidate + 1)
        }
        return nil
    }

    /// Returns the delay after which an overloaded sender may try again: the next deadline frees room at the latest.
    func retryDelay(at now: Moment) -> Duration {
        schedule.nextDue.map { min(max($0 - now.monotonic, .milliseconds(10)), .seconds(1)) } ?? .milliseconds(100)
    }
}
