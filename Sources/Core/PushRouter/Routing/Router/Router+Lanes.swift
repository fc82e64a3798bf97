import PushModel

extension Router {
    /// Counts a new invocation as in flight and enters it into its lane or starts it.
    mutating func admit(_ invocation: consuming Invocation, at now: Moment, _ effects: inout Effects) {
        usage.began(
            invocation.record.id, of: invocation.request.peer.account, bytes: invocation.byteCount,
            memory: invocation.request.memoryInFlight)
        enter(invocation, at: now, &effects)
    }

    /// Appends an invocation to its lane, or begins it if the lane is empty or it has none.
    mutating func enter(_ entering: consuming Invocation, at now: Moment, _ effects: inout Effects) {
        var invocation = entering
        let isRelay = invocation.table.mode == .relay
        // In `relay` mode Braze gets its payloads at once, and the budget counts from acceptance.
        if isRelay, invocation.owner == .tracker { return handOver(invocation, at: now, &effects) }
        let start = invocation.clockStart ?? (isRelay ? invocation.request.acceptedAt.monotonic : nil)
        if let start {
            guard pick(&invocation, from: start, at: now, &effects) else { return }
        }
        if let lane = invocation.lane {
            if let ahead = lanes.join(lane, invocation.record.id, at: now.monotonic) {
                invocation.ahead = Int32(clamping: ahead)
                invocation.save(&effects)
                park(invocation)
                return
            }
        }
        begin(&invocation, at: now, &effects)
    }

    /// Begins the invocations that became heads of their lanes.
    private mutating func takeTurns(at now: Moment, _ effects: inout Effects) {
        while let id = schedule.takeTurn() {
            guard var invocation = invocations[id] else { continue }
            invocation.waitedFor = invocation.lane.flatMap { lanes[$0]?.headWaitedFor }
            begin(&invocation, at: now, &effects)
        }
    }

    /// Begins an invocation: at this moment the platform would run the callback.
    private mutating func begin(_ invocation: inout Invocation, at now: Moment, _ effects: inout Effects) {
        guard invocation.owner == .route else { return handOver(invocation, at: now, &effects) }
        if let deadline = invocation.record.deadline {
            // The deadline timer is due and will end the invocation.
            guard now.monotonic < deadline else { return }
        } else {
            guard pick(&invocation, from: now.monotonic, at: now, &effects) else { return }
        }
        run(&invocation, at: now, &effects)
    }

    /// Moves an invocation to the next matching route after its handler declined.
    mutating func tryNextRoute(_ invocation: inout Invocation, at now: Moment, _ effects: inout Effects) {
        guard !invocation.isPinned else {
            return conclude(invocation, .unrouted, because: .handlerDeclined, at: now, &effects)
        }
        let took = now.monotonic - (invocation.attempts.latest ?? now.monotonic)
        let name = invocation.handler?.value.name ?? ""
        invocation.bypassed.declined.append("\(name) declined after \(took.milliseconds) ms")
        invocation.position += 1
        invocation.attempts.advanceToNextHandler()
        invocation.record.started = false
        guard let start = invocation.clockStart else { preconditionFailure("declined before its clock ran") }
        guard pick(&invocation, from: start, at: now, &effects) else { return }
        run(&invocation, at: now, &effects)
    }

    /// Picks route and handler, and sets the deadline; if it cannot, concludes the invocation and returns false.
    mutating func pick(
        _ invocation: inout Invocation, from start: Instant, at now: Moment, _ effects: inout Effects
    ) -> Bool {
        invocation.clockStart = start
        guard let position = nextPosition(of: &invocation, at: now) else {
            guard invocation.bypassed.passedOver.isEmpty else {
                conclude(invocation, .failed, because: .breakerOpen, at: now, &effects)
                return false
            }
            let reason: RouterReason = invocation.record.route == nil ? .noRouteMatches : .everyRouteDeclined
            conclude(invocation, .unrouted, because: reason, at: now, &effects)
            return false
        }
        let route = invocation.table.routes[position]
        guard let handler = invocation.table.sharedHandlers[route.handler] else {
            preconditionFailure("route \(route.name) names the handler \(route.handler), which the table does not have")
        }
        invocation.position = position
        invocation.handler = handler
        invocation.record.route = route.name
        invocation.record.handler = handler.value.name
        invocation.record.budget = min(route.budget ?? invocation.table.budget, invocation.table.budget)
        let deadline = start + invocation.record.budget
        invocation.record.deadline = deadline
        guard now.monotonic < deadline else {
            conclude(invocation, invocation.missed, because: .routeTimeOver(route: route.name), at: now, &effects)
            return false
        }
        watch(invocation)
        return true
    }

    /// Runs a built-in handler at once; queues an invocation of any other handler for a place.
    mutating func run(_ invocation: inout Invocation, at now: Moment, _ effects: inout Effects) {
        guard let handler = invocation.handler?.value else {
            preconditionFailure("an invocation ran before it had a handler")
        }
        guard admits(invocation, to: handler.name, at: now) else { return divert(&invocation, at: now, &effects) }
        places.noteSent(invocation.record.id, to: handler.name)
        switch handler.kind {
        case .journal, .discard:
            note(answered: true, of: invocation, at: now, &effects)
            // The time that a declining handler took does not count as queue time.
            invocation.attempts.begin(at: now.monotonic)
            invocation.attempts.start(at: now.monotonic)
            endAttempt(&invocation, .handled, at: now, &effects)
            let completion = invocation.completions.byHandler(HandlerAnswer.Content())
            conclude(invocation, .handled, completion: completion, at: now, &effects)
        case .exec, .worker, .socket, .bridge, .notify:
            let id = invocation.record.id
            invocation.stage = .ready
            places.join(id, handler, isObserver: invocation.record.isObserver)
            invocations.put(invocation)
            schedule.touch(id)
        }
    }

    /// Ends a turn: begins the invocations that the turn made ready, and writes the changed rows.
    mutating func endTurn(at now: Moment, _ effects: inout Effects) {
        continueRemainingWork()
        divertWaiting(at: now, &effects)
        repeat {
            takeTurns(at: now, &effects)
            fillPlaces(at: now, &effects)
            // An invocation that passes over a handler at its start may end, and so give the turn to the next one in
            // its lane.
        } while schedule.mayTakeTurn
        for id in schedule.touched {
            let room = table.limits.payloadMemory - usage.payloadBytes
            let kept = invocations.change(id) { invocation in
                invocation.save(&effects)
                return invocation.park(room)
            }
            if let kept { usage.keeps(payloadOf: kept) }
        }
        // Work that the tracker is behind with counts as work left, not as a due time.
        let due = memory.tracker.isBehind ? nil : memory.tracker.nextDue
        schedule.endTurn(at: now, tracker: due, invocations)
    }

    /// Stores an invocation that waits, with its payload if the payload memory has room.
    mutating func park(_ invocation: consuming Invocation) {
        usage.keeps(payloadOf: invocation.park(table.limits.payloadMemory - usage.payloadBytes))
        invocations.put(invocation)
    }

    /// Starts handlers in order while there are free places.
    private mutating func fillPlaces(at now: Moment, _ effects: inout Effects) {
        guard !startsNone else { return }
        while !schedule.isSpent, let id = places.nextReady(ofObservers: false) { start(id, at: now, &effects) }
        while !schedule.isSpent, let id = places.nextReady(ofObservers: true) { start(id, at: now, &effects) }
    }

    /// Continues the work on lanes and on handlers' queues that earlier turns left.
    private mutating func continueRemainingWork() {
        while let lane = schedule.takeLane() { findHead(of: lane) }
        for handler in schedule.takeHandlers() { places.grantPlaces(handler, invocations, &schedule) }
    }

    /// Starts a handler, unless its invocation has ended or its deadline has passed.
    private mutating func start(_ id: InvocationID, at now: Moment, _ effects: inout Effects) {
        schedule.countRead()
        guard var invocation = invocations[id], invocation.stage == .ready, let handler = invocation.handler?.value,
            let deadline = invocation.record.deadline, now.monotonic < deadline
        else { return }
        guard admits(invocation, to: handler.name, at: now) else { return divert(&invocation, at: now, &effects) }
        guard places.take(id, of: handler, isObserver: invocation.record.isObserver) else { return }
        schedule.countAct()
        invocation.stage = .starting
        invocation.attempts.begin(at: now.monotonic)
        watchTermination(of: invocation, at: now)
        if !handler.idempotent { invocation.record.started = true }
        invocation.save(&effects)
        invocations.put(invocation)
        // Touched, so that ``endTurn(at:_:)`` drops the payload if others need the memory.
        schedule.touch(id)
        var run = HandlerRun(
            invocation: invocation.record, request: invocation.request,
            subject: invocation.subject ?? InvocationSubject(), handler: handler, deadline: deadline,
            attempt: invocation.attempts.count, epoch: epoch)
        // Another machine that goes on with the log would give the number to another request.
        run.mayStartEarly =
            handler.idempotent && handler.kind.command != nil && epoch == nil && run.attempt == 1
            && invocation.bypassed.declined.isEmpty
        effects.append(invocation.subject == nil ? .load(run) : .start(run))
    }

    /// Removes an ended invocation from its lane; if it was the head, the next one's turn begins.
    mutating func advance(_ lane: DeviceKey, past invocation: Invocation, at now: Moment) {
        guard lanes[lane]?.head == invocation.record.id else {
            // An invocation without `ahead` never joined its lane.
            if invocation.ahead != nil { lanes.leave(lane) }
            return
        }
        lanes.popHead(lane, at: now.monotonic, handler: invocation.handler?.value.name)
        findHead(of: lane)
    }

    /// Gives the turn to the first invocation of a lane that is still in flight.
    private mutating func findHead(of lane: DeviceKey) {
        while let next = lanes[lane]?.head {
            if invocations.contains(next) {
                lanes.takeTurn(lane)
                return schedule.giveTurn(to: next)
            }
            // The invocation expired in the lane.
            guard schedule.mayRead else { return schedule.leave(lane) }
            schedule.countRead()
            lanes.dropHead(lane)
        }
        lanes.end(lane)
    }
}

extension AcceptedRequest {
    /// The lane of a delivery by the push service to a device; `nil` on iOS and the web, without a device, and for
    /// interactions.
    var lane: DeviceKey? {
        guard platform.hasLanes, operation != .interact, let device else { return nil }
        return DeviceKey(app: app, device: device)
    }
}

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
