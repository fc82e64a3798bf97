import PushModel

/// What every handler runs and has waiting: its places (`MaxConcurrent=`), its queue (`Queue=`) and its breaker.
///
/// Handlers go by their names. The limits are those of the newest configuration, for invocations of an older one too:
/// they protect what the handler calls. A handler that the configuration has no more keeps its last ones until nothing is
/// left of it.
struct HandlerPlaces: Sendable {
    private struct Places {
        /// What owners or observers have of it: places of all are apart for the two.
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
        var owners = Share()
        var observers = Share()
        var breaker: Breaker?
        var refused: UInt64 = 0
        var passedOver: UInt64 = 0

        init(_ handler: Handler) {
            self.handler = handler
            breaker = handler.breaker.map(Breaker.init)
        }

        subscript(ofObservers isObserver: Bool) -> Share {
            get { isObserver ? observers : owners }
            _modify { if isObserver { yield &observers } else { yield &owners } }
        }

        var running: Int { owners.running + observers.running }
        var waiting: Int { owners.waiting + observers.waiting }
        var hasQueue: Bool { !owners.queue.isEmpty || !observers.queue.isEmpty }

        /// How many more owners or observers it may run; never below 0, though a reload may leave it with more than it may
        /// have.
        ///
        /// - Parameter all: how many places of all are free for them; `nil`: what it leaves to others was looked at before.
        func free(ofAll all: Int?, ofObservers isObserver: Bool) -> Int {
            let limit = handler.maxConcurrent.map { max(0, $0 - owners.own - observers.own) } ?? .max
            guard let all, handler.leavesPlaces else { return limit }
            // Each that it takes is one less for the others.
            return min(limit, max(0, (all - self[ofObservers: isObserver].own + 1) / 2))
        }
        var isUnused: Bool { running == 0 && waiting == 0 }
    }

    /// How many callbacks a request has for one handler, at most.
    private static let callbacksMax = 4

    private var byHandler: [String: Places] = [:]
    /// Who has been given a handler's place, and waits for one of all.
    private var grantedOwners: Set<InvocationID> = []
    private var grantedObservers: Set<InvocationID> = []
    /// Who waits for a handler's place; an id that ended meanwhile stays until its turn comes.
    private var held: Set<InvocationID> = []
    /// Handlers that may run more when another leaves a place.
    private(set) var leaving: Set<String> = []

    // MARK: Configuration

    /// The handlers are these now. A breaker goes on as it is if all settings of its handler are the same.
    mutating func configure(_ handlers: [String: Handler]) {
        for (name, handler) in handlers where !handler.kind.isBuiltIn {
            guard var places = byHandler[name] else {
                byHandler[name] = Places(handler)
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
        for (name, places) in byHandler where handlers[name] == nil {
            byHandler[name]?.isConfigured = false
            byHandler[name]?.breaker = nil
            if places.isUnused { byHandler[name] = nil }
        }
    }

    /// The names of the handlers for whose places others wait.
    var withQueue: [String] { byHandler.filter(\.value.hasQueue).keys.sorted() }

    /// What every handler does, by name.
    func status(at now: Instant) -> [HandlerStatus] {
        byHandler.sorted { $0.key < $1.key }.map { name, places in
            var status = HandlerStatus(
                name: name, running: places.running, waiting: places.waiting,
                observersRunning: places.observers.running, observersWaiting: places.observers.waiting,
                limit: places.handler.maxConcurrent, queueLimit: places.handler.queueMax, refused: places.refused,
                breaker: nil, pause: .zero,
                passedOver: places.passedOver, isDraining: !places.isConfigured)
            switch places.breaker?.state {
            case nil: break
            case .closed: status.breaker = .closed
            case .open(let until): (status.breaker, status.pause) = (.open, max(.zero, until - now))
            case .probing: status.breaker = .probing
            }
            return status
        }
    }

    // MARK: The queue

    /// Whether some handler could not take another invocation; most of the time none is so far, and nobody has to look
    /// which one a request needs.
    var mayRefuse: Bool {
        byHandler.values.contains { $0.waiting + Self.callbacksMax > $0.handler.queueMax }
    }

    /// Whether a handler can take so many new invocations: they find a place or room in its queue.
    ///
    /// - Parameter places: how many places of all are free; what starts at once is taken off.
    func hasRoom(for count: Int, of name: String, free places: inout Int) -> Bool {
        guard let own = byHandler[name] else { return true }
        let starting = own.waiting > 0 ? 0 : min(count, own.free(ofAll: places, ofObservers: false), places)
        places -= starting
        return starting == count || own.waiting + count - starting <= own.handler.queueMax
    }

    /// Counts a request that was refused, and says why for people.
    mutating func refuse(_ name: String) -> String {
        byHandler[name]?.refused += 1
        guard let own = byHandler[name] else { return "" }
        return "\(own.waiting) callbacks wait for the handler \(name) already, "
            + (own.handler.queueMax == 0 ? "which lets none wait (Queue=)" : "the most that is allowed (Queue=)")
    }

    /// An invocation is to run and waits for its places.
    mutating func join(_ handler: Handler, isObserver: Bool) {
        if byHandler[handler.name] == nil {
            // What was accepted before a reload that took the handler away.
            var places = Places(handler)
            (places.isConfigured, places.breaker) = (false, nil)
            byHandler[handler.name] = places
        }
        byHandler[handler.name]?[ofObservers: isObserver].waiting += 1
    }

    /// An invocation that waited does not any more: it ended, or goes elsewhere.
    ///
    /// - Returns: whether the handler's place that it had been given is free for others.
    mutating func leaveQueue(_ id: InvocationID, of handler: String, isObserver: Bool) -> Bool {
        held.remove(id)
        byHandler[handler]?[ofObservers: isObserver].waiting -= 1
        dropQueueIfEmpty(handler)
        let hadPlace = takeBackGrant(of: id, handler)
        dropIfUnused(handler)
        return hadPlace
    }

    /// Who waits for a place of the handler, owners and observers.
    func queues(of handler: String) -> [Queue<InvocationID>] {
        byHandler[handler].map { [$0.owners.queue, $0.observers.queue] } ?? []
    }

    /// Whether an invocation waits because its handler runs as many as it may, or has more waiting than it should.
    func isHeldUp(_ id: InvocationID, of handler: Handler) -> Bool {
        guard let own = byHandler[handler.name] else { return false }
        return held.contains(id) || hasGrant(id) || own.waiting > own.handler.queueMax
    }

    // MARK: Places

    /// Takes a place of the handler for an invocation that waits.
    ///
    /// - Parameters:
    ///   - free: how many places of all are free for it; one of them is for this invocation.
    ///   - isObserver: whether it is an observer's.
    /// - Returns: whether there was one, or the handler has no limit; else it waits for one.
    mutating func take(_ id: InvocationID, of handler: Handler, free: Int, isObserver: Bool) -> Bool {
        let name = handler.name
        // In place: a copy of the queue for each that joins it would cost as much as is in it.
        guard !held.contains(id) else { return false }
        // A reload may have taken away the place that it was given; what was to be left to others was looked at then.
        let wasGranted = takeBackGrant(of: id, name)
        guard hasFree(name, ofAll: wasGranted ? nil : free, ofObservers: isObserver) else {
            byHandler[name]?[ofObservers: isObserver].queue.append(id)
            held.insert(id)
            if byHandler[name]?.handler.leavesPlaces == true { leaving.insert(name) }
            return false
        }
        byHandler[name]?[ofObservers: isObserver].running += 1
        byHandler[name]?[ofObservers: isObserver].waiting -= 1
        dropQueueIfEmpty(name)
        return true
    }

    /// Leaves a place of the handler.
    mutating func leave(_ handler: String, isObserver: Bool) {
        byHandler[handler]?[ofObservers: isObserver].running -= 1
        dropIfUnused(handler)
    }

    /// Whether an invocation has been given a place of its handler, and waits for one of all.
    func hasGrant(_ id: InvocationID) -> Bool { grantedOwners.contains(id) || grantedObservers.contains(id) }

    /// Whether the handler may run one more owner or observer.
    ///
    /// - Parameter all: how many places of all are free for them; `nil`: what it leaves to others was looked at before.
    func hasFree(_ handler: String, ofAll all: Int?, ofObservers isObserver: Bool) -> Bool {
        byHandler[handler].map { $0.free(ofAll: all, ofObservers: isObserver) > 0 } ?? false
    }

    /// The owner or observer that has waited longest for a place of the handler.
    mutating func first(of handler: String, ofObservers isObserver: Bool) -> InvocationID? {
        if let id = byHandler[handler]?[ofObservers: isObserver].queue.first { return id }
        if byHandler[handler]?.hasQueue != true { leaving.remove(handler) }
        return nil
    }

    /// That one waits no more.
    mutating func dropFirst(of handler: String, ofObservers isObserver: Bool) {
        if let id = byHandler[handler]?[ofObservers: isObserver].queue.popFirst() { held.remove(id) }
    }

    /// Gives an invocation a place of the handler.
    mutating func grant(_ id: InvocationID, _ handler: String, isObserver: Bool) {
        byHandler[handler]?[ofObservers: isObserver].granted += 1
        if isObserver { grantedObservers.insert(id) } else { grantedOwners.insert(id) }
    }

    /// How many owners or observers have been given a place of their handlers: each will have one of all.
    func granted(toObservers isObserver: Bool) -> Int { isObserver ? grantedObservers.count : grantedOwners.count }

    /// - Returns: whether it had been given a place.
    private mutating func takeBackGrant(of id: InvocationID, _ handler: String) -> Bool {
        let isObserver = grantedObservers.remove(id) != nil
        guard isObserver || grantedOwners.remove(id) != nil else { return false }
        byHandler[handler]?[ofObservers: isObserver].granted -= 1
        return true
    }

    /// Drops what is left in the queue of those that wait no more, if nobody waits.
    private mutating func dropQueueIfEmpty(_ handler: String) {
        guard byHandler[handler]?.waiting == 0, byHandler[handler]?.hasQueue == true else { return }
        byHandler[handler]?.owners.queue = Queue()
        byHandler[handler]?.observers.queue = Queue()
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
        return changed == true ? BreakerChange(handler: handler.name, isOpen: !answered, rules: rules) : nil
    }

    /// An invocation that may have been a probe showed nothing.
    mutating func withdraw(_ id: InvocationID, from handler: Handler, at now: Instant) {
        if handler.breaker != nil { byHandler[handler.name]?.breaker?.withdrew(id, at: now) }
    }
}
