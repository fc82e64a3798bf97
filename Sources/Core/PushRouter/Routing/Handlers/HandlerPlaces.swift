import PushModel

/// The places to run: the invocations that wait for a place, in order, and the number of places in use, in all and by
/// handler.
///
/// Owners and observers have separate places, so that no observer delays an owner. A handler has a limit of places
/// (`MaxConcurrent=`), a queue (`Queue=`) and a breaker. The limits are those of the newest configuration, also for
/// invocations accepted under an older one: they protect the service behind the handler. A handler that left the
/// configuration stays here until its last invocation ends. The key of a handler is its name.
struct HandlerPlaces: Sendable {
    private struct HandlerState {
        struct Share {
            /// Invocations that hold a place.
            var running = 0
            /// Invocations that have a place of the handler and wait for a place of all.
            var granted = 0
            /// Invocations in stage `ready`, those with a granted place included.
            var waiting = 0
            /// The invocations that wait for a place of the handler, in order. It may hold ids that no longer wait.
            var queue = Queue<InvocationID>()

            var own: Int { running + granted }
        }

        /// The handler of the newest configuration; never a built-in one, which needs no places.
        var handler: Handler
        var isConfigured = true
        var shares = PerRole(Share())
        var breaker: Breaker?
        var refused: UInt64 = 0
        var passedOver: UInt64 = 0

        init(_ handler: Handler) {
            self.handler = handler
            breaker = handler.breaker.map(Breaker.init)
        }

        var running: Int { shares.owners.running + shares.observers.running }
        var waiting: Int { shares.owners.waiting + shares.observers.waiting }
        var hasQueue: Bool { !shares.owners.queue.isEmpty || !shares.observers.queue.isEmpty }
        var isUnused: Bool { running == 0 && waiting == 0 }

        /// Returns the number of further owners or observers that the handler may run; at least 0, although a reload
        /// may lower the limit below the current use.
        ///
        /// - Parameter all: the free places of all; `nil`: the places left to other handlers were checked before.
        func free(ofAll all: Int?, ofObservers isObserver: Bool) -> Int {
            let limit = handler.maxConcurrent.map { max(0, $0 - shares.owners.own - shares.observers.own) } ?? .max
            guard let all, handler.leavesPlaces else { return limit }
            // Each place that the handler takes leaves one fewer for the others.
            return min(limit, max(0, (all - shares[ofObservers: isObserver].own + 1) / 2))
        }
    }

    /// The most callbacks that one request has for one handler.
    private static let callbacksMax = 4

    /// The limits of places, and below them the places in use.
    private var limits = PerRole(0)
    private(set) var running = PerRole(0)
    /// The invocations to run, in order. An invocation without a free place of its handler moves to the handler's
    /// queue.
    private var ready = PerRole(Queue<InvocationID>())
    private var byHandler: [String: HandlerState] = [:]
    /// The invocations that have a place of their handler and wait for a place of all.
    private var granted = PerRole(Set<InvocationID>())
    /// The invocations in handlers' queues; the id of an ended one stays until its turn.
    private var held: Set<InvocationID> = []
    /// Handlers of `leavesPlaces` with a queue: they may run more after another handler frees a place.
    private var leaving: Set<String> = []
    /// The handlers whose breakers opened in this turn.
    private var opened: [String] = []
    /// Copies of the queues in which invocations waited for a handler when its breaker opened. These invocations go to
    /// the next route, in this turn or, if they are many, in later turns. No queue in the list is empty.
    private var diverting = Queue<(waiting: Queue<InvocationID>, handler: String)>()

    /// Whether no invocation waits to run or runs.
    var isEmpty: Bool {
        running.owners + running.observers == 0 && ready.owners.isEmpty && ready.observers.isEmpty
    }

    /// Whether a waiting invocation may start or pass over a handler now. After a turn, true only if the turn left
    /// invocations unexamined.
    ///
    /// - Parameter startsNone: whether the router no longer starts invocations.
    func hasWorkLeft(startsNone: Bool) -> Bool {
        if !diverting.isEmpty { return true }
        guard !startsNone else { return false }
        return running.owners < limits.owners && !ready.owners.isEmpty
            || running.observers < limits.observers && !ready.observers.isEmpty
    }

    // MARK: Configuration

    /// Takes over the limits and the handlers of a table. A breaker keeps its state if all settings of its handler are
    /// unchanged.
    mutating func configure(_ table: RoutingTable) {
        (limits.owners, limits.observers) = (table.limits.handlers, table.limits.observers)
        for (name, handler) in table.handlers where !handler.kind.isBuiltIn {
            guard var places = byHandler[name] else {
                byHandler[name] = HandlerState(handler)
                continue
            }
            if places.handler != handler {
                places.handler = handler
                places.breaker = handler.breaker.map(Breaker.init)
            }
            places.isConfigured = true
            if handler.leavesPlaces, places.hasQueue { leaving.insert(name) }
            byHandler[name] = places
        }
        for (name, places) in byHandler where table.handlers[name] == nil {
            byHandler[name]?.isConfigured = false
            byHandler[name]?.breaker = nil
            if places.isUnused { byHandler[name] = nil }
        }
    }

    /// Returns the status of each handler, sorted by name.
    func status(at now: Instant, showsBreakers: Bool) -> [HandlerStatus] {
        byHandler.sorted { $0.key < $1.key }.map { name, places in
            var status = HandlerStatus(
                name: name, running: places.running, waiting: places.waiting,
                observersRunning: places.shares.observers.running, observersWaiting: places.shares.observers.waiting,
                limit: places.handler.maxConcurrent, queueLimit: places.handler.queueMax, refused: places.refused,
                breaker: nil, pause: .zero,
                passedOver: places.passedOver, isDraining: !places.isConfigured)
            switch places.breaker?.state {
            case nil: break
            case .closed: status.breaker = .closed
            case .open(let until): (status.breaker, status.pause) = (.open, max(.zero, until - now))
            case .probing: status.breaker = .probing
            }
            if !showsBreakers { status.breaker = nil }
            return status
        }
    }

    // MARK: Refusing

    /// Whether some handler's queue could overflow with the next request. Usually false, which saves finding the
    /// handlers that a request needs.
    var mayRefuse: Bool {
        byHandler.values.contains { $0.waiting + Self.callbacksMax > $0.handler.queueMax }
    }

    /// Counts a request that a handler has no room for, and returns the reason for people; `nil`: every invocation
    /// finds a place or room in a queue.
    ///
    /// - Parameters:
    ///   - needed: the number of new invocations of each handler.
    ///   - startsNone: whether the router no longer starts invocations.
    mutating func refuse(_ needed: [(handler: String, count: Int)], startsNone: Bool) -> String? {
        var free = startsNone ? 0 : max(0, free(ofObservers: false))
        for (name, count) in needed {
            guard let own = byHandler[name] else { continue }
            let starting = own.waiting > 0 ? 0 : min(count, own.free(ofAll: free, ofObservers: false), free)
            free -= starting
            guard starting < count, own.waiting + count - starting > own.handler.queueMax else { continue }
            byHandler[name]?.refused += 1
            return "\(own.waiting) callbacks wait already for the handler \(name), "
                + (own.handler.queueMax == 0 ? "which has no queue (Queue=0)" : "the limit (Queue=)")
        }
        return nil
    }

    // MARK: Waiting

    /// Adds an invocation that waits for its places.
    mutating func join(_ id: InvocationID, _ handler: Handler, isObserver: Bool) {
        if byHandler[handler.name] == nil {
            // The request was accepted before a reload that removed the handler.
            var places = HandlerState(handler)
            (places.isConfigured, places.breaker) = (false, nil)
            byHandler[handler.name] = places
        }
        byHandler[handler.name]?.shares[ofObservers: isObserver].waiting += 1
        ready[ofObservers: isObserver].append(id)
    }

    /// Removes and returns the next invocation to run if a place of all is free.
    mutating func nextReady(ofObservers isObserver: Bool) -> InvocationID? {
        guard running[ofObservers: isObserver] < limits[ofObservers: isObserver] else { return nil }
        return ready[ofObservers: isObserver].popFirst()
    }

    /// Removes an invocation that stopped waiting before it had its places: it ended, or went to another route.
    mutating func leaveQueue(_ invocation: Invocation, _ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        guard let handler = invocation.handler?.value.name else { return }
        held.remove(invocation.record.id)
        byHandler[handler]?.shares[ofObservers: invocation.record.isObserver].waiting -= 1
        dropQueueIfEmpty(handler)
        let hadPlace = takeBackGrant(of: invocation.record.id, handler)
        dropIfUnused(handler)
        if hadPlace { grantPlaces(handler, invocations, &schedule) }
    }

    /// Whether an invocation waits because its handler is at its limit, or has more waiting invocations than its queue
    /// allows.
    func isBlockedByHandler(_ id: InvocationID, of handler: Handler) -> Bool {
        guard let own = byHandler[handler.name] else { return false }
        return held.contains(id) || hasGrant(id) || own.waiting > own.handler.queueMax
    }

    // MARK: Places

    /// Takes a place of all and a place of the handler for a waiting invocation.
    ///
    /// - Returns: whether the handler had a free place; if not, the invocation joins the handler's queue.
    mutating func take(_ id: InvocationID, of handler: Handler, isObserver: Bool) -> Bool {
        let name = handler.name
        // Changes the queue in place: a copy would cost time in proportion to its length.
        guard !held.contains(id) else { return false }
        let free = free(ofObservers: isObserver)
        // A reload may have withdrawn the granted place. The grant already checked the places left to other handlers.
        let wasGranted = takeBackGrant(of: id, name)
        guard hasFree(name, ofAll: wasGranted ? nil : free, ofObservers: isObserver) else {
            byHandler[name]?.shares[ofObservers: isObserver].queue.append(id)
            held.insert(id)
            if byHandler[name]?.handler.leavesPlaces == true { leaving.insert(name) }
            return false
        }
        running[ofObservers: isObserver] += 1
        byHandler[name]?.shares[ofObservers: isObserver].running += 1
        byHandler[name]?.shares[ofObservers: isObserver].waiting -= 1
        dropQueueIfEmpty(name)
        return true
    }

    /// Frees the places of an invocation, and passes them to invocations that wait for the handler.
    mutating func leave(_ invocation: Invocation, _ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        let isObserver = invocation.record.isObserver
        running[ofObservers: isObserver] -= 1
        guard let handler = invocation.handler?.value.name else { return }
        byHandler[handler]?.shares[ofObservers: isObserver].running -= 1
        dropIfUnused(handler)
        grantPlaces(handler, invocations, &schedule)
        guard !leaving.isEmpty else { return }
        for other in leaving.sorted() where other != handler { grantPlaces(other, invocations, &schedule) }
    }

    /// Calls ``grantPlaces(_:_:_:)`` for every handler with a queue.
    mutating func grantAllPlaces(_ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        for name in byHandler.filter(\.value.hasQueue).keys.sorted() { grantPlaces(name, invocations, &schedule) }
    }

    /// Grants the free places of a handler to invocations in its queue, which then wait for a place of all.
    mutating func grantPlaces(_ handler: String, _ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        grantPlaces(handler, ofObservers: false, invocations, &schedule)
        grantPlaces(handler, ofObservers: true, invocations, &schedule)
    }

    private mutating func grantPlaces(
        _ handler: String, ofObservers isObserver: Bool, _ invocations: InvocationsInFlight,
        _ schedule: inout Schedule
    ) {
        while let id = byHandler[handler]?.shares[ofObservers: isObserver].queue.first {
            if invocations.isReady(id, for: handler), !hasGrant(id) {
                let free = free(ofObservers: isObserver)
                guard hasFree(handler, ofAll: free, ofObservers: isObserver) else { return }
                byHandler[handler]?.shares[ofObservers: isObserver].granted += 1
                granted[ofObservers: isObserver].insert(id)
                ready[ofObservers: isObserver].append(id)
            } else {
                guard schedule.mayRead else { return schedule.leave(handler) }
                schedule.countRead()
            }
            _ = byHandler[handler]?.shares[ofObservers: isObserver].queue.popFirst()
            held.remove(id)
        }
        if byHandler[handler]?.hasQueue != true { leaving.remove(handler) }
    }

    /// Returns the number of free places of all that no granted invocation will take.
    private func free(ofObservers isObserver: Bool) -> Int {
        limits[ofObservers: isObserver] - running[ofObservers: isObserver] - granted[ofObservers: isObserver].count
    }

    /// Whether an invocation has a place of its handler and waits for a place of all.
    private func hasGrant(_ id: InvocationID) -> Bool { granted.owners.contains(id) || granted.observers.contains(id) }

    /// Whether a handler may run one more owner or observer.
    ///
    /// - Parameter all: the free places of all; `nil`: the places left to other handlers were checked before.
    private func hasFree(_ handler: String, ofAll all: Int?, ofObservers isObserver: Bool) -> Bool {
        byHandler[handler].map { $0.free(ofAll: all, ofObservers: isObserver) > 0 } ?? false
    }

    /// - Returns: whether the invocation had a granted place.
    private mutating func takeBackGrant(of id: InvocationID, _ handler: String) -> Bool {
        let isObserver = granted.observers.remove(id) != nil
        guard isObserver || granted.owners.remove(id) != nil else { return false }
        byHandler[handler]?.shares[ofObservers: isObserver].granted -= 1
        return true
    }

    /// Empties the handler's queues, which hold only ended ids, if no invocation waits.
    private mutating func dropQueueIfEmpty(_ handler: String) {
        guard byHandler[handler]?.waiting == 0, byHandler[handler]?.hasQueue == true else { return }
        byHandler[handler]?.shares.owners.queue = Queue()
        byHandler[handler]?.shares.observers.queue = Queue()
    }

    private mutating func dropIfUnused(_ handler: String) {
        if let own = byHandler[handler], !own.isConfigured, own.isUnused { byHandler[handler] = nil }
    }

    // MARK: Breakers

    /// Whether a handler's breaker admits an invocation.
    func admits(_ id: InvocationID, to handler: String, at now: Instant) -> Bool {
        byHandler[handler]?.breaker?.admits(id, at: now) ?? true
    }

    /// Notes that an admitted invocation goes to the handler.
    mutating func noteSent(_ id: InvocationID, to handler: String) { byHandler[handler]?.breaker?.noteSent(id) }

    /// Counts an invocation that passed over a handler.
    mutating func passOver(_ handler: String) { byHandler[handler]?.passedOver += 1 }

    /// Notes for the breaker whether a handler answered. Ignores a handler with settings other than the current ones.
    ///
    /// - Returns: the change for the journal; `nil` if the breaker did not change.
    mutating func note(answered: Bool, _ id: InvocationID, by handler: Handler, at now: Instant) -> BreakerChange? {
        guard handler.breaker != nil, let own = byHandler[handler.name],
            own.handler == handler || handler.kind.isBuiltIn, let rules = own.breaker?.rules
        else { return nil }
        let changed =
            answered
            ? byHandler[handler.name]?.breaker?.answered(id) : byHandler[handler.name]?.breaker?.failed(id, at: now)
        guard changed == true else { return nil }
        if !answered { opened.append(handler.name) }
        return BreakerChange(handler: handler.name, isOpen: !answered, rules: rules)
    }

    /// Notes that an invocation that may have been a probe ended without a result for the breaker.
    mutating func withdraw(_ id: InvocationID, from handler: Handler, at now: Instant) {
        if handler.breaker != nil { byHandler[handler.name]?.breaker?.noteWithdrawn(id, at: now) }
    }

    /// Returns the next invocation that waited for a handler when its breaker opened; the caller sends it past the
    /// handler if it still waits. Invocations beyond the turn's limit stay for later turns; one that comes to its start
    /// before is sent past its handler there.
    mutating func nextToDivert(_ schedule: inout Schedule) -> (id: InvocationID, handler: String)? {
        while let handler = opened.popLast() {
            let own = byHandler[handler]?.shares ?? PerRole(HandlerState.Share())
            for queue in [ready.owners, ready.observers, own.owners.queue, own.observers.queue] where !queue.isEmpty {
                diverting.append((queue, handler))
            }
        }
        guard !schedule.isSpent,
            let (next, isLast, handler) = diverting.changeFirst({
                ($0.waiting.popFirst(), $0.waiting.isEmpty, $0.handler)
            })
        else { return nil }
        schedule.countRead()
        if isLast { _ = diverting.popFirst() }
        return next.map { ($0, handler) }
    }
}

/// A pair of values: one for owners, one for observers.
struct PerRole<Value> {
    var owners: Value
    var observers: Value

    init(_ value: Value) { (owners, observers) = (value, value) }

    subscript(ofObservers isObserver: Bool) -> Value {
        _read { if isObserver { yield observers } else { yield owners } }
        _modify { if isObserver { yield &observers } else { yield &owners } }
    }
}

extension PerRole: Sendable where Value: Sendable {}

extension InvocationsInFlight {
    /// Whether an invocation waits for its places.
    func isReady(_ id: InvocationID, for handler: String) -> Bool {
        read(id) { $0.stage == .ready && $0.handler?.value.name == handler } ?? false
    }
}
