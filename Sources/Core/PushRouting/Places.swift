import PushModel

/// The places to run, in all and of each handler: the invocations that wait for one, in order, and the numbers in use.
///
/// Owners and observers have separate places, so that no observer delays an owner. A handler has a share of the places
/// (`MaxConcurrent=`), a queue (`Queue=`) and a breaker. The name identifies a handler. The limits of the newest
/// configuration apply to older invocations too: they protect what the handler calls. A handler that a reload removed
/// stays until its last invocation has ended.
struct Places: Sendable {
    private struct OfHandler {
        struct Share {
            /// The invocations that hold a common place.
            var running = 0
            /// The invocations that have a place of the handler and wait for a common one.
            var granted = 0
            /// The invocations that are ready and do not run, those with a granted place included.
            var waiting = 0
            /// The invocations that wait for a place of the handler, in order, with stale ids, which `passOn` skips.
            var queue = Queue<InvocationID>()

            var own: Int { running + granted }
        }

        /// The handler as last configured; never a built-in one, which needs no places.
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

        /// Returns how many more owners or observers it may run; never below 0, though a reload may lower the limit
        /// below the number that runs.
        ///
        /// - Parameter all: the free common places for that role; `nil`: `leavesPlaces` was applied before.
        func free(ofAll all: Int?, ofObservers isObserver: Bool) -> Int {
            let limit = handler.maxConcurrent.map { max(0, $0 - shares.owners.own - shares.observers.own) } ?? .max
            guard let all, handler.leavesPlaces else { return limit }
            // Each place that the handler takes also lowers the free places by one: hence half of the difference.
            return min(limit, max(0, (all - shares[ofObservers: isObserver].own + 1) / 2))
        }
    }

    /// The most callbacks that one request has for one handler.
    private static let callbacksMax = 4

    /// The limits of running invocations, and below them the numbers that run.
    private var limits = PerRole(0)
    private(set) var running = PerRole(0)
    /// The invocations that are ready to run, in order. One without a place of its handler moves to its queue.
    private var ready = PerRole(Queue<InvocationID>())
    private var byHandler: [String: OfHandler] = [:]
    /// The invocations that have a handler's place and wait for a common one.
    private var granted = PerRole(Set<InvocationID>())
    /// The invocations that wait for a handler's place; the id of one that ended stays until its turn comes.
    private var held: Set<InvocationID> = []
    /// The handlers that may run more when another leaves a common place.
    private var leaving: Set<String> = []
    /// The handlers whose breakers opened in this turn.
    private var opened: [String] = []
    /// Copies of the queues from when a breaker opened, none empty. Their invocations for that handler go to other
    /// routes, in this turn and, if there are many, in the next ones.
    private var diverting = Queue<(waiting: Queue<InvocationID>, handler: String)>()

    /// Whether no invocation is ready and none runs.
    var isEmpty: Bool {
        running.owners + running.observers == 0 && ready.owners.isEmpty && ready.observers.isEmpty
    }

    /// Whether a waiting invocation may start or bypass a handler. After a turn: whether the turn ended before it had
    /// checked all.
    ///
    /// - Parameter startsNone: whether the router starts no more handlers.
    func hasWorkLeft(startsNone: Bool) -> Bool {
        if !diverting.isEmpty { return true }
        guard !startsNone else { return false }
        return running.owners < limits.owners && !ready.owners.isEmpty
            || running.observers < limits.observers && !ready.observers.isEmpty
    }

    // MARK: Configuration

    /// Applies the limits and handlers of a table. A breaker keeps its state if its handler's settings are the same.
    mutating func configure(_ table: RoutingTable) {
        (limits.owners, limits.observers) = (table.limits.handlers, table.limits.observers)
        for (name, handler) in table.handlers where !handler.kind.isBuiltIn {
            guard var places = byHandler[name] else {
                byHandler[name] = OfHandler(handler)
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

    /// Returns the state of every handler, by name.
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

    /// Whether some handler might refuse another request. Usually none does, which spares the check by handler.
    var mayRefuse: Bool {
        byHandler.values.contains { $0.waiting + Self.callbacksMax > $0.handler.queueMax }
    }

    /// Counts a request that a handler has no room for, and returns the reason for people; `nil`: each handler has a
    /// place or room in its queue.
    ///
    /// - Parameters:
    ///   - needed: the number of new invocations of each handler.
    ///   - startsNone: whether the router starts no more handlers.
    mutating func refuse(_ needed: [(handler: String, count: Int)], startsNone: Bool) -> String? {
        var free = startsNone ? 0 : max(0, free(ofObservers: false))
        for (name, count) in needed {
            guard let own = byHandler[name] else { continue }
            let starting = own.waiting > 0 ? 0 : min(count, own.free(ofAll: free, ofObservers: false), free)
            free -= starting
            guard starting < count, own.waiting + count - starting > own.handler.queueMax else { continue }
            byHandler[name]?.refused += 1
            return "\(own.waiting) callbacks wait for the handler \(name) already, "
                + (own.handler.queueMax == 0 ? "which lets none wait (Queue=)" : "the most that is allowed (Queue=)")
        }
        return nil
    }

    // MARK: Waiting

    /// Adds an invocation that is ready to run.
    mutating func join(_ id: InvocationID, _ handler: Handler, isObserver: Bool) {
        if byHandler[handler.name] == nil {
            // A reload removed the handler after the router accepted the request.
            var places = OfHandler(handler)
            (places.isConfigured, places.breaker) = (false, nil)
            byHandler[handler.name] = places
        }
        byHandler[handler.name]?.shares[ofObservers: isObserver].waiting += 1
        ready[ofObservers: isObserver].append(id)
    }

    /// Returns the next invocation that is ready, if a common place is free.
    mutating func nextReady(ofObservers isObserver: Bool) -> InvocationID? {
        guard running[ofObservers: isObserver] < limits[ofObservers: isObserver] else { return nil }
        return ready[ofObservers: isObserver].popFirst()
    }

    /// Removes a ready invocation that ended or goes to another route before it had both places.
    mutating func leaveQueue(_ invocation: Invocation, _ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        guard let handler = invocation.handler?.value.name else { return }
        held.remove(invocation.record.id)
        byHandler[handler]?.shares[ofObservers: invocation.record.isObserver].waiting -= 1
        dropQueueIfEmpty(handler)
        let hadPlace = takeBackGrant(of: invocation.record.id, handler)
        dropIfUnused(handler)
        if hadPlace { passOn(handler, invocations, &schedule) }
    }

    /// Whether an invocation waits because its handler has no free place, or more in its queue than `Queue=` allows.
    func isHeldUp(_ id: InvocationID, of handler: Handler) -> Bool {
        guard let own = byHandler[handler.name] else { return false }
        return held.contains(id) || hasGrant(id) || own.waiting > own.handler.queueMax
    }

    // MARK: Places

    /// Takes a common place and one of the handler for a ready invocation.
    ///
    /// - Returns: whether the handler had one; if not, the invocation joins the handler's queue.
    mutating func take(_ id: InvocationID, of handler: Handler, isObserver: Bool) -> Bool {
        let name = handler.name
        // Changes the entry in place: a local copy of it would copy its queue on each append.
        guard !held.contains(id) else { return false }
        let free = free(ofObservers: isObserver)
        // A reload may have taken away a granted place. The grant already applied `leavesPlaces`.
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

    /// Gives back both places of an invocation; invocations that wait for its handler get them.
    mutating func leave(_ invocation: Invocation, _ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        let isObserver = invocation.record.isObserver
        running[ofObservers: isObserver] -= 1
        guard let handler = invocation.handler?.value.name else { return }
        byHandler[handler]?.shares[ofObservers: isObserver].running -= 1
        dropIfUnused(handler)
        passOn(handler, invocations, &schedule)
        guard !leaving.isEmpty else { return }
        for other in leaving.sorted() where other != handler { passOn(other, invocations, &schedule) }
    }

    /// Grants the free places of all handlers that have a queue.
    mutating func passOnAll(_ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        for name in byHandler.filter(\.value.hasQueue).keys.sorted() { passOn(name, invocations, &schedule) }
    }

    /// Grants a handler's free places to invocations of its queue, which then wait for a common place.
    mutating func passOn(_ handler: String, _ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        passOn(handler, ofObservers: false, invocations, &schedule)
        passOn(handler, ofObservers: true, invocations, &schedule)
    }

    private mutating func passOn(
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
                guard schedule.mayLook else { return schedule.leave(handler) }
                schedule.countLook()
            }
            _ = byHandler[handler]?.shares[ofObservers: isObserver].queue.popFirst()
            held.remove(id)
        }
        if byHandler[handler]?.hasQueue != true { leaving.remove(handler) }
    }

    /// Returns the number of common places that are neither in use nor granted.
    private func free(ofObservers isObserver: Bool) -> Int {
        limits[ofObservers: isObserver] - running[ofObservers: isObserver] - granted[ofObservers: isObserver].count
    }

    /// Whether an invocation has a place of its handler and waits for a common one.
    private func hasGrant(_ id: InvocationID) -> Bool { granted.owners.contains(id) || granted.observers.contains(id) }

    /// Whether a handler may run one more owner or observer.
    ///
    /// - Parameter all: the free common places for that role; `nil`: an earlier call already applied `leavesPlaces`.
    private func hasFree(_ handler: String, ofAll all: Int?, ofObservers isObserver: Bool) -> Bool {
        byHandler[handler].map { $0.free(ofAll: all, ofObservers: isObserver) > 0 } ?? false
    }

    /// - Returns: whether it had a granted place.
    private mutating func takeBackGrant(of id: InvocationID, _ handler: String) -> Bool {
        let isObserver = granted.observers.remove(id) != nil
        guard isObserver || granted.owners.remove(id) != nil else { return false }
        byHandler[handler]?.shares[ofObservers: isObserver].granted -= 1
        return true
    }

    /// Drops stale ids from a handler's queue if no invocation waits for it.
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
    mutating func letThrough(_ id: InvocationID, to handler: String) { byHandler[handler]?.breaker?.letThrough(id) }

    /// Counts an invocation that bypassed a handler.
    mutating func passOver(_ handler: String) { byHandler[handler]?.passedOver += 1 }

    /// Notes that a handler answered or failed. Ignores one with older settings: the newer ones may differ.
    ///
    /// - Returns: the change of the breaker, for the journal.
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

    /// Notes that an invocation, perhaps the probe, ended without an answer or a failure.
    mutating func withdraw(_ id: InvocationID, from handler: Handler, at now: Instant) {
        if handler.breaker != nil { byHandler[handler.name]?.breaker?.withdrew(id, at: now) }
    }

    /// Returns the next invocation that waited for a handler when its breaker opened; the caller sends it to the next
    /// route if it still waits. Invocations beyond the limit of a turn stay; they also bypass the handler if they come
    /// to their start before.
    mutating func nextToDivert(_ schedule: inout Schedule) -> (id: InvocationID, handler: String)? {
        while let handler = opened.popLast() {
            let own = byHandler[handler]?.shares ?? PerRole(OfHandler.Share())
            for queue in [ready.owners, ready.observers, own.owners.queue, own.observers.queue] where !queue.isEmpty {
                diverting.append((queue, handler))
            }
        }
        guard !schedule.isSpent,
            let (next, isLast, handler) = diverting.changeFirst({
                ($0.waiting.popFirst(), $0.waiting.isEmpty, $0.handler)
            })
        else { return nil }
        schedule.countLook()
        if isLast { _ = diverting.popFirst() }
        return next.map { ($0, handler) }
    }
}

/// A value for owners and one for observers.
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
    /// Whether an invocation is ready to run by a handler.
    func isReady(_ id: InvocationID, for handler: String) -> Bool {
        read(id) { $0.stage == .ready && $0.handler?.value.name == handler } ?? false
    }
}
