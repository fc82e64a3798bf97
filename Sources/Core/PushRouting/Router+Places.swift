import PushModel

/// Places, queues and breakers of handlers: who waits, who goes past, who is refused.
extension Router {
    /// An invocation that held a place to run leaves it; one that waited for its handler goes on.
    mutating func leavePlace(of invocation: Invocation) {
        usage.left(placeOfObserver: invocation.record.isObserver)
        guard let handler = invocation.handler?.value.name else { return }
        handlerPlaces.leave(handler, isObserver: invocation.record.isObserver)
        passOn(handler)
        guard !handlerPlaces.leaving.isEmpty else { return }
        for other in handlerPlaces.leaving.sorted() where other != handler { passOn(other) }
    }

    /// How many places are free and meant for nobody; observers have their own.
    func freePlaces(ofObservers isObserver: Bool) -> Int {
        let unused =
            isObserver ? table.limits.observers - usage.observers : table.limits.handlers - usage.handlers
        return unused - handlerPlaces.granted(toObservers: isObserver)
    }

    /// An invocation that waited for places does so no more, without having got them all.
    mutating func leaveQueue(_ invocation: Invocation) {
        guard let handler = invocation.handler?.value.name else { return }
        let isObserver = invocation.record.isObserver
        if handlerPlaces.leaveQueue(invocation.record.id, of: handler, isObserver: isObserver) { passOn(handler) }
    }

    /// Has those that wait for a handler queue for a place to run, as many as it has places for: they have the handler's.
    mutating func passOn(_ handler: String) {
        passOn(handler, ofObservers: false)
        passOn(handler, ofObservers: true)
    }

    private mutating func passOn(_ handler: String, ofObservers isObserver: Bool) {
        while let id = handlerPlaces.first(of: handler, ofObservers: isObserver) {
            guard isReady(id, for: handler), !handlerPlaces.hasGrant(id) else {
                guard budget.looks > 0 else {
                    workLeft.handlers.insert(handler)
                    return
                }
                budget.looks -= 1
                handlerPlaces.dropFirst(of: handler, ofObservers: isObserver)
                continue
            }
            let free = freePlaces(ofObservers: isObserver)
            guard handlerPlaces.hasFree(handler, ofAll: free, ofObservers: isObserver) else { return }
            handlerPlaces.dropFirst(of: handler, ofObservers: isObserver)
            handlerPlaces.grant(id, handler, isObserver: isObserver)
            queue(id, isObserver: isObserver)
        }
    }

    /// Whether an invocation is to run and waits for its places.
    private func isReady(_ id: InvocationID, for handler: String) -> Bool {
        invocations.read(id) { $0.stage == .ready && $0.handler?.value.name == handler } ?? false
    }

    // MARK: Breakers

    /// Whether the breaker of a handler lets an invocation through. Only a router in production has breakers: an app has
    /// none.
    func admits(_ invocation: Invocation, to handler: String, at now: Moment) -> Bool {
        invocation.table.mode != .relay
            || handlerPlaces.admits(invocation.record.id, to: handler, at: now.monotonic)
    }

    /// Notes whether a handler answered, which may close or open its breaker.
    mutating func note(answered: Bool, of invocation: Invocation, at now: Moment, _ effects: inout Effects) {
        guard invocation.table.mode == .relay, let handler = invocation.handler,
            let change = handlerPlaces.note(
                answered: answered, invocation.record.id, by: handler.value, at: now.monotonic)
        else { return }
        effects.append(.breaker(change))
        if change.isOpen { opened.append(change.handler) }
    }

    /// The position of the next route for an invocation, past those whose handler has an open breaker.
    mutating func nextPosition(of invocation: inout Invocation, at now: Moment) -> Int? {
        var position = invocation.isPinned ? invocation.position : invocation.nextOwner
        while let candidate = position {
            let route = invocation.table.routes[candidate]
            if admits(invocation, to: route.handler, at: now) { return candidate }
            invocation.bypassed.passedOver.append(route.handler)
            handlerPlaces.passOver(route.handler)
            // If nobody else has it, this is whose it was.
            (invocation.record.route, invocation.record.handler) = (route.name, route.handler)
            invocation.record.budget = min(route.budget ?? invocation.table.budget, invocation.table.budget)
            invocation.record.deadline = invocation.clockStart.map { $0 + invocation.record.budget }
            guard !invocation.isPinned else { return nil }
            invocation.position = candidate + 1
            position = invocation.nextOwner
        }
        return nil
    }

    /// Goes on with the next route that matches, because the breaker of the handler is open.
    mutating func divert(_ invocation: inout Invocation, at now: Moment, _ effects: inout Effects) {
        budget.acts -= 1
        if invocation.stage == .ready { leaveQueue(invocation) }
        // It has not been started for this handler, and is in nobody's queue.
        invocation.stage = .waiting
        invocation.attempts.goOnToNextHandler()
        guard let start = invocation.clockStart else { preconditionFailure("went past a handler before its clock ran") }
        guard pick(&invocation, from: start, at: now, &effects) else { return }
        run(&invocation, at: now, &effects)
    }

    /// Notes where all that waits for handlers is whose breakers have just opened: it is to go past them.
    private mutating func noteWaiting() {
        while let handler = opened.popLast() {
            for queue in [ready, readyObservers] + handlerPlaces.queues(of: handler) where !queue.isEmpty {
                diverting.append((queue, handler))
            }
        }
    }

    /// Has what waits for handlers whose breakers have opened go past them. What is too much for one turn is left, and goes
    /// past its handler as well if it comes to its start before.
    mutating func divertWaiting(at now: Moment, _ effects: inout Effects) {
        noteWaiting()
        while !budget.isSpent,
            let (next, isLast, handler) = diverting.changeFirst({
                ($0.waiting.popFirst(), $0.waiting.isEmpty, $0.handler)
            })
        {
            budget.looks -= 1
            if isLast { _ = diverting.popFirst() }
            guard let id = next, isReady(id, for: handler), var invocation = invocations[id],
                !admits(invocation, to: handler, at: now),
                invocation.record.deadline.map({ now.monotonic < $0 }) == true
            else { continue }
            divert(&invocation, at: now, &effects)
        }
    }

    // MARK: Refusing

    /// Refuses a request whose callbacks would wait for a handler for which as many wait as may. Nothing has been done
    /// for it so far.
    ///
    /// Copies for observers, and what several handlers must hear, are nobody's reason to refuse: one handler would keep
    /// the request from the others. They wait, and end as `expired` if no place comes.
    ///
    /// - Parameters:
    ///   - callbacks: those that a route has.
    ///   - facts: what routes are held against, for each.
    mutating func checkQueues(
        for callbacks: [Callback], at now: Moment, _ facts: (Callback) -> RouteFacts
    ) throws(Refusal) {
        guard handlerPlaces.mayRefuse else { return }
        var needed: [(handler: String, count: Int)] = []
        for callback in callbacks {
            guard let handler = onlyHandler(for: facts(callback), at: now) else { continue }
            if let place = needed.firstIndex(where: { $0.handler == handler }) {
                needed[place].count += 1
            } else {
                needed.append((handler, 1))
            }
        }
        var free = isDraining ? 0 : max(0, freePlaces(ofObservers: false))
        for (handler, count) in needed where !handlerPlaces.hasRoom(for: count, of: handler, free: &free) {
            throw .overloaded(message: handlerPlaces.refuse(handler), retryAfter: retryDelay(at: now))
        }
    }

    /// The handler that an invocation would be queued for; `nil` where there is none, or several hear of it.
    private func onlyHandler(for facts: RouteFacts, at now: Moment) -> String? {
        let positions = facts.callback.isBroadcast ? table.positions(for: facts, observing: false) : []
        guard positions.count < 2 else { return nil }
        var position = positions.first ?? table.owner(of: facts)
        while let candidate = position {
            let name = table.routes[candidate].handler
            // No invocation has this id: who is asked is whether anybody new is let through.
            let nobody = InvocationID(seq: SequenceNumber(0), n: 0)
            if table.mode != .relay || handlerPlaces.admits(nobody, to: name, at: now.monotonic) {
                return table.handlers[name]?.kind.isBuiltIn == false ? name : nil
            }
            guard positions.isEmpty else { return nil }
            position = table.owner(of: facts, from: candidate + 1)
        }
        return nil
    }

    /// When a request that is refused for the load may be sent again: by the next deadline at the latest something makes
    /// room.
    func retryDelay(at now: Moment) -> Duration {
        nextDue.map { min(max($0 - now.monotonic, .milliseconds(10)), .seconds(1)) } ?? .milliseconds(100)
    }
}
