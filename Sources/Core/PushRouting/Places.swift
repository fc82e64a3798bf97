import PushModel

/// The places to run: which invocations wait for one, in which order, and how many have one, of all and of each handler.
///
/// Owners and observers have places apart: no observer keeps an owner waiting. A handler has a part of them
/// (`MaxConcurrent=`), a queue (`Queue=`) and a breaker. Handlers go by their names. The limits are those of the newest
/// configuration, for invocations of an older one too: they protect what the handler calls. A handler that the
/// configuration has no more keeps its last invocations until nothing is left of it.
struct Places: Sendable {
    private struct OfHandler {
        struct Share {
            /// Invocations that hold a place of all.
            var running = 0
            /// Invocations that have a place of the handler, and wait for one of all.
            var granted = 0
            /// Invocations that are to run and do not, those with a granted place among them.
            var waiting = 0
            /// Who waits for a place of the handler, in order; who does not any more is passed over.
            var queue = Queue<InvocationID>()

            var own: Int { running + granted }
        }

        /// As configured last; not as one that is built in, which needs none of this.
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

        /// How many more owners or observers it may run; never below 0, though a reload may leave it with more than it may
        /// have.
        ///
        /// - Parameter all: how many places of all are free for them; `nil`: what it leaves to others was looked at before.
        func free(ofAll all: Int?, ofObservers isObserver: Bool) -> Int {
            let limit = handler.maxConcurrent.map { max(0, $0 - shares.owners.own - shares.observers.own) } ?? .max
            guard let all, handler.leavesPlaces else { return limit }
            // Each that it takes is one less for the others.
            return min(limit, max(0, (all - shares[ofObservers: isObserver].own + 1) / 2))
        }
    }

    /// How many callbacks a request has for one handler, at most.
    private static let callbacksMax = 4

    /// How many may run, and how many do.
    private var limits = PerRole(0)
    private(set) var running = PerRole(0)
    /// Who is to run, in order. Who finds no place of its handler then goes on to the handler's queue.
    private var ready = PerRole(Queue<InvocationID>())
    private var byHandler: [String: OfHandler] = [:]
    /// Who has been given a handler's place, and waits for one of all.
    private var granted = PerRole(Set<InvocationID>())
    /// Who waits for a handler's place; an id that ended meanwhile stays until its turn comes.
    private var held: Set<InvocationID> = []
    /// Handlers that may run more when another leaves a place.
    private var leaving: Set<String> = []
    /// Handlers whose breakers opened in this turn.
    private var opened: [String] = []
    /// The queues as they were then, in which is all that waited for such a handler: it goes elsewhere, in this turn or, if it
    /// is much, in the next ones. None is empty.
    private var diverting = Queue<(waiting: Queue<InvocationID>, handler: String)>()

    /// Whether nobody is to run, and nobody runs.
    var isEmpty: Bool {
        running.owners + running.observers == 0 && ready.owners.isEmpty && ready.observers.isEmpty
    }

    /// Whether somebody waits who may start, or go past a handler; after a turn only if not all were looked at who wait.
    ///
    /// - Parameter startsNone: whether nothing is started any more.
    func hasWorkLeft(startsNone: Bool) -> Bool {
        if !diverting.isEmpty { return true }
        guard !startsNone else { return false }
        return running.owners < limits.owners && !ready.owners.isEmpty
            || running.observers < limits.observers && !ready.observers.isEmpty
    }

    // MARK: Configuration

    /// The limits and the handlers are these now. A breaker goes on as it is if all settings of its handler are the same.
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

    /// What every handler does, by name.
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

    /// Whether some handler could not take another invocation; most of the time none is so far, and nobody has to look
    /// which one a request needs.
    var mayRefuse: Bool {
        byHandler.values.contains { $0.waiting + Self.callbacksMax > $0.handler.queueMax }
    }

    /// Counts a request that a handler has no room for, and says why for people; `nil`: all find a place or room in a queue.
    ///
    /// - Parameters:
    ///   - needed: how many new invocations each handler would have.
    ///   - startsNone: whether nothing is started any more.
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

    /// An invocation is to run and waits for its places.
    mutating func join(_ id: InvocationID, _ handler: Handler, isObserver: Bool) {
        if byHandler[handler.name] == nil {
            // What was accepted before a reload that took the handler away.
            var places = OfHandler(handler)
            (places.isConfigured, places.breaker) = (false, nil)
            byHandler[handler.name] = places
        }
        byHandler[handler.name]?.shares[ofObservers: isObserver].waiting += 1
        ready[ofObservers: isObserver].append(id)
    }

    /// The next one that is to run, where a place of all is free for it.
    mutating func nextReady(ofObservers isObserver: Bool) -> InvocationID? {
        guard running[ofObservers: isObserver] < limits[ofObservers: isObserver] else { return nil }
        return ready[ofObservers: isObserver].popFirst()
    }

    /// An invocation that waited for its places does so no more, without having got them all: it ended, or goes elsewhere.
    mutating func leaveQueue(_ invocation: Invocation, _ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        guard let handler = invocation.handler?.value.name else { return }
        held.remove(invocation.record.id)
        byHandler[handler]?.shares[ofObservers: invocation.record.isObserver].waiting -= 1
        dropQueueIfEmpty(handler)
        let hadPlace = takeBackGrant(of: invocation.record.id, handler)
        dropIfUnused(handler)
        if hadPlace { passOn(handler, invocations, &schedule) }
    }

    /// Whether an invocation waits because its handler runs as many as it may, or has more waiting than it should.
    func isHeldUp(_ id: InvocationID, of handler: Handler) -> Bool {
        guard let own = byHandler[handler.name] else { return false }
        return held.contains(id) || hasGrant(id) || own.waiting > own.handler.queueMax
    }

    // MARK: Places

    /// Takes a place of all and one of the handler for an invocation that waits for them.
    ///
    /// - Returns: whether the handler had one; else the invocation waits for that.
    mutating func take(_ id: InvocationID, of handler: Handler, isObserver: Bool) -> Bool {
        let name = handler.name
        // In place: a copy of the queue for each that joins it would cost as much as is in it.
        guard !held.contains(id) else { return false }
        let free = free(ofObservers: isObserver)
        // A reload may have taken away the place that it was given; what was to be left to others was looked at then.
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

    /// An invocation that held its places leaves them; those that waited for its handler's go on.
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

    /// The same of all handlers for whose places others wait.
    mutating func passOnAll(_ invocations: InvocationsInFlight, _ schedule: inout Schedule) {
        for name in byHandler.filter(\.value.hasQueue).keys.sorted() { passOn(name, invocations, &schedule) }
    }

    /// Has those that wait for a handler queue for a place of all, as many as it has places for: they have the handler's.
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

    /// How many places of all are free and meant for nobody.
    private func free(ofObservers isObserver: Bool) -> Int {
        limits[ofObservers: isObserver] - running[ofObservers: isObserver] - granted[ofObservers: isObserver].count
    }

    /// Whether an invocation has been given a place of its handler, and waits for one of all.
    private func hasGrant(_ id: InvocationID) -> Bool { granted.owners.contains(id) || granted.observers.contains(id) }

    /// Whether the handler may run one more owner or observer.
    ///
    /// - Parameter all: how many places of all are free for them; `nil`: what it leaves to others was looked at before.
    private func hasFree(_ handler: String, ofAll all: Int?, ofObservers isObserver: Bool) -> Bool {
        byHandler[handler].map { $0.free(ofAll: all, ofObservers: isObserver) > 0 } ?? false
    }

    /// - Returns: whether it had been given a place.
    private mutating func takeBackGrant(of id: InvocationID, _ handler: String) -> Bool {
        let isObserver = granted.observers.remove(id) != nil
        guard isObserver || granted.owners.remove(id) != nil else { return false }
        byHandler[handler]?.shares[ofObservers: isObserver].granted -= 1
        return true
    }

    /// Drops what is left in the queue of those that wait no more, if nobody waits.
    private mutating func dropQueueIfEmpty(_ handler: String) {
        guard byHandler[handler]?.waiting == 0, byHandler[handler]?.hasQueue == true else { return }
        byHandler[handler]?.shares.owners.queue = Queue()
        byHandler[handler]?.shares.observers.queue = Queue()
    }

    private mutating func dropIfUnused(_ handler: String) {
        if let own = byHandler[handler], !own.isConfigured, own.isUnused { byHandler[handler] = nil }
    }

    // MARK: Breakers

    /// Whether a handler's breaker lets an invocation through.
    func admits(_ id: InvocationID, to handler: String, at now: Instant) -> Bool {
        byHandler[handler]?.breaker?.admits(id, at: now) ?? true
    }

    /// An invocation that was admitted goes to the handler.
    mutating func letThrough(_ id: InvocationID, to handler: String) { byHandler[handler]?.breaker?.letThrough(id) }

    /// Counts an invocation that went past a handler.
    mutating func passOver(_ handler: String) { byHandler[handler]?.passedOver += 1 }

    /// A handler answered, or did not. One of older settings says nothing about the newer ones.
    ///
    /// - Returns: what the journal has to know.
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

    /// An invocation that may have been a probe showed nothing.
    mutating func withdraw(_ id: InvocationID, from handler: Handler, at now: Instant) {
        if handler.breaker != nil { byHandler[handler.name]?.breaker?.withdrew(id, at: now) }
    }

    /// The next of those that waited for a handler when its breaker opened: it goes past the handler if it still waits for
    /// it. What is too much for one turn is left, and goes past its handler as well if it comes to its start before.
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

/// One value for owners, and one for observers.
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
    /// Whether an invocation is to run and waits for its places.
    func isReady(_ id: InvocationID, for handler: String) -> Bool {
        read(id) { $0.stage == .ready && $0.handler?.value.name == handler } ?? false
    }
}
