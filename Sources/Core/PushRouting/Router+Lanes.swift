import PushDispatch
import PushModel
import PushTracking

extension Router {
    /// Counts a new invocation as in flight and puts it on its way.
    mutating func admit(_ invocation: consuming Invocation, at now: Moment, _ effects: inout Effects) {
        usage.began(
            invocation.record.id, of: invocation.request.peer.account, bytes: invocation.byteCount,
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
        while let id = schedule.takeTurn() {
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
        let took = now.monotonic - (invocation.attempts.latest ?? now.monotonic)
        let name = invocation.handler?.value.name ?? ""
        invocation.bypassed.declined.append("\(name) declined after \(took.milliseconds) ms")
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
        places.letThrough(invocation.record.id, to: handler.name)
        switch handler.kind {
        case .journal, .discard:
            note(answered: true, of: invocation, at: now, &effects)
            // The time of a handler that declined is no waiting.
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

    /// Ends a turn: what became possible in it is begun, what changed is written.
    mutating func endTurn(at now: Moment, _ effects: inout Effects) {
        goOnWithWorkLeft()
        divertWaiting(at: now, &effects)
        repeat {
            takeTurns(at: now, &effects)
            fillPlaces(at: now, &effects)
            // What goes past a handler at its start may end, and with that begin the turn of another.
        } while schedule.mayTakeTurn
        for id in schedule.touched {
            let room = table.limits.payloadMemory - usage.payloadBytes
            let kept = invocations.change(id) { invocation in
                invocation.save(&effects)
                return invocation.park(room)
            }
            if let kept { usage.keeps(payloadOf: kept) }
        }
        // What the tracker is behind with is work that is left, not due.
        let due = memory.tracker.isBehind ? nil : memory.tracker.nextDue
        schedule.endTurn(at: now, tracker: due, invocations)
    }

    /// Keeps an invocation until it goes on; its payload too, as far as there is room for payloads.
    mutating func park(_ invocation: consuming Invocation) {
        usage.keeps(payloadOf: invocation.park(table.limits.payloadMemory - usage.payloadBytes))
        invocations.put(invocation)
    }

    /// Starts as many handlers as there are places, in order.
    private mutating func fillPlaces(at now: Moment, _ effects: inout Effects) {
        guard !startsNone else { return }
        while !schedule.isSpent, let id = places.nextReady(ofObservers: false) { start(id, at: now, &effects) }
        while !schedule.isSpent, let id = places.nextReady(ofObservers: true) { start(id, at: now, &effects) }
    }

    /// Goes on with what earlier turns left of lanes and of handlers' queues.
    private mutating func goOnWithWorkLeft() {
        while let lane = schedule.takeLane() { findHead(of: lane) }
        for handler in schedule.takeHandlers() { places.passOn(handler, invocations, &schedule) }
    }

    /// Starts a handler, unless its invocation has ended meanwhile or is about to.
    private mutating func start(_ id: InvocationID, at now: Moment, _ effects: inout Effects) {
        schedule.countLook()
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
        // It may have to make room for others now.
        schedule.touch(id)
        let run = HandlerRun(
            invocation: invocation.record, request: invocation.request,
            subject: invocation.subject ?? InvocationSubject(), handler: handler, deadline: deadline,
            attempt: invocation.attempts.count, epoch: epoch)
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
                return schedule.giveTurn(to: next)
            }
            // It expired while it waited.
            guard schedule.mayLook else { return schedule.leave(lane) }
            schedule.countLook()
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
