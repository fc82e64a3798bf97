import PushDispatch
import PushModel

extension Router {
    /// Counts a new invocation as in flight and puts it on its way.
    mutating func admit(_ invocation: consuming Invocation, at now: Moment, _ effects: inout Effects) {
        usage.began(
            invocation.record.id, of: invocation.request.peer, bytes: invocation.byteCount,
            memory: invocation.request.memoryInFlight)
        enter(invocation, at: now, &effects)
    }

    /// Puts an invocation where it belongs: at the end of its lane, or on its way.
    mutating func enter(_ entering: consuming Invocation, at now: Moment, _ effects: inout Effects) {
        var invocation = entering
        let isRelay = invocation.table.mode == .relay
        // A router in production hands Braze its payloads at once, and owes its time from acceptance on.
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

    /// Lets the heads of lanes go whose turn has come.
    private mutating func takeTurns(at now: Moment, _ effects: inout Effects) {
        while budget.acts > 0, let id = turns.popFirst() {
            budget.acts -= 1
            guard var invocation = invocations[id] else { continue }
            invocation.waitedFor = invocation.lane.flatMap { lanes[$0]?.headWaitedFor }
            begin(&invocation, at: now, &effects)
        }
    }

    /// The invocation itself begins: the platform would call now.
    private mutating func begin(_ invocation: inout Invocation, at now: Moment, _ effects: inout Effects) {
        guard invocation.owner == .route else { return handOver(invocation, at: now, &effects) }
        if let deadline = invocation.record.deadline {
            // The clock is about to end it.
            guard now.monotonic < deadline else { return }
        } else {
            guard pick(&invocation, from: now.monotonic, at: now, &effects) else { return }
        }
        run(&invocation, at: now, &effects)
    }

    /// Goes on with the next route that matches, after a handler declined.
    mutating func tryNextRoute(_ invocation: inout Invocation, at now: Moment, _ effects: inout Effects) {
        guard !invocation.isPinned else {
            return conclude(invocation, .unrouted, because: .handlerDeclined, at: now, &effects)
        }
        invocation.bypassed.declined.append(
            invocation.handler?.value.name ?? "", took: now.monotonic - (invocation.attempts.latest ?? now.monotonic))
        invocation.position += 1
        invocation.attempts.goOnToNextHandler()
        invocation.record.started = false
        guard let start = invocation.clockStart else { preconditionFailure("declined before its clock ran") }
        guard pick(&invocation, from: start, at: now, &effects) else { return }
        run(&invocation, at: now, &effects)
    }

    /// Picks route and handler, and sets the deadline; ends the invocation and returns false when it cannot.
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

    /// Runs what is built in; queues everything else for a place to run.
    mutating func run(_ invocation: inout Invocation, at now: Moment, _ effects: inout Effects) {
        guard let handler = invocation.handler?.value else {
            preconditionFailure("an invocation ran before it had a handler")
        }
        guard admits(invocation, to: handler.name, at: now) else { return divert(&invocation, at: now, &effects) }
        handlerPlaces.letThrough(invocation.record.id, to: handler.name)
        switch handler.kind {
        case .journal, .discard:
            note(answered: true, of: invocation, at: now, &effects)
            // The time of a handler that declined is no waiting.
            invocation.attempts.begin(at: now.monotonic)
            invocation.attempts.start(at: now.monotonic)
            endAttempt(&invocation, .handled, at: now, &effects)
            let completion = invocation.completions.byHandler(HandlerAnswer.Content())
            conclude(invocation, .handled, completion: completion, at: now, &effects)
        case .exec, .worker, .socket, .http, .notify:
            let id = invocation.record.id
            invocation.stage = .ready
            handlerPlaces.join(handler, isObserver: invocation.record.isObserver)
            invocations.put(invocation)
            queue(id, isObserver: invocation.record.isObserver)
            touched.append(id)
        }
    }

    /// Ends a turn: what became possible in it is begun, what changed is written.
    mutating func endTurn(at now: Moment, _ effects: inout Effects) {
        latest = now
        goOnWithWorkLeft()
        divertWaiting(at: now, &effects)
        repeat {
            takeTurns(at: now, &effects)
            fillPlaces(at: now, &effects)
            // What goes past a handler at its start may end, and with that begin the turn of another.
        } while !turns.isEmpty && budget.acts > 0
        budget = TurnBudget()
        for id in touched {
            let room = table.limits.payloadMemory - usage.payloadBytes
            let kept = invocations.change(id) { invocation in
                invocation.save(&effects)
                return invocation.park(room)
            }
            if let kept { usage.keeps(payloadOf: kept) }
        }
        touched.removeAll(keepingCapacity: true)
        dropStaleTimers()
        noteNextDue()
    }

    /// Keeps an invocation until it goes on; its payload too, as far as there is room for payloads.
    mutating func park(_ invocation: consuming Invocation) {
        usage.keeps(payloadOf: invocation.park(table.limits.payloadMemory - usage.payloadBytes))
        invocations.put(invocation)
    }

    /// Queues an invocation for a place to run: observers have theirs apart and keep no owner waiting.
    mutating func queue(_ id: InvocationID, isObserver: Bool) {
        if isObserver { readyObservers.append(id) } else { ready.append(id) }
    }

    /// Starts as many handlers as there are places, in order.
    private mutating func fillPlaces(at now: Moment, _ effects: inout Effects) {
        guard !isDraining else { return }
        while usage.handlers < table.limits.handlers, !budget.isSpent, let id = ready.popFirst() {
            start(id, at: now, &effects)
        }
        while usage.observers < table.limits.observers, !budget.isSpent, let id = readyObservers.popFirst() {
            start(id, at: now, &effects)
        }
    }

    /// Whether places are free that somebody waits for; after a turn only if not all were looked at who wait.
    var mayFillPlaces: Bool {
        guard !isDraining else { return false }
        return usage.handlers < table.limits.handlers && !ready.isEmpty
            || usage.observers < table.limits.observers && !readyObservers.isEmpty
    }

    /// Goes on with what earlier turns left of lanes and of handlers' queues.
    private mutating func goOnWithWorkLeft() {
        while budget.looks > 0, let lane = workLeft.lanes.popFirst() { findHead(of: lane) }
        for handler in exchange(&workLeft.handlers, with: []).sorted() { passOn(handler) }
    }

    /// Starts a handler, unless its invocation has ended meanwhile or is about to.
    private mutating func start(_ id: InvocationID, at now: Moment, _ effects: inout Effects) {
        budget.looks -= 1
        guard var invocation = invocations[id], invocation.stage == .ready, let handler = invocation.handler?.value,
            let deadline = invocation.record.deadline, now.monotonic < deadline
        else { return }
        guard admits(invocation, to: handler.name, at: now) else { return divert(&invocation, at: now, &effects) }
        let isObserver = invocation.record.isObserver
        let free = freePlaces(ofObservers: isObserver)
        guard handlerPlaces.take(id, of: handler, free: free, isObserver: isObserver) else { return }
        usage.took(placeOfObserver: isObserver)
        budget.acts -= 1
        invocation.stage = .starting
        invocation.attempts.begin(at: now.monotonic)
        watchTermination(of: invocation, at: now)
        if !handler.idempotent { invocation.record.started = true }
        invocation.save(&effects)
        invocations.put(invocation)
        // It may have to make room for others now.
        touched.append(id)
        let run = HandlerRun(
            invocation: invocation.record, request: invocation.request,
            subject: invocation.subject ?? InvocationSubject(), handler: handler, deadline: deadline,
            attempt: invocation.attempts.count)
        effects.append(invocation.subject == nil ? .load(run) : .start(run))
    }

    /// The lane's head is done: the next one's turn has come.
    mutating func advance(_ lane: DeviceKey, past invocation: Invocation, at now: Moment) {
        guard lanes[lane]?.head == invocation.record.id else {
            // What never came to its lane has nobody ahead.
            if invocation.ahead != nil { lanes.leave(lane) }
            return
        }
        lanes.popHead(lane, at: now.monotonic, handler: invocation.handler?.value.name)
        findHead(of: lane)
    }

    /// Gives the turn to the first of a lane that still waits.
    private mutating func findHead(of lane: DeviceKey) {
        while let next = lanes[lane]?.head {
            if invocations.contains(next) {
                lanes.takeTurn(lane)
                return turns.append(next)
            }
            // It expired while it waited.
            guard budget.looks > 0 else { return workLeft.lanes.append(lane) }
            budget.looks -= 1
            lanes.dropHead(lane)
        }
        lanes.end(lane)
    }
}

extension AcceptedRequest {
    /// The lane of what the push service hands to a device; iOS, the web, what names no device, and what a person does
    /// have none.
    var lane: DeviceKey? {
        guard platform.hasLanes, operation != .interact, let device else { return nil }
        return DeviceKey(app: app, device: device)
    }
}
