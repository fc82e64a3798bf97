import PushModel

/// The places of handlers that run only so many invocations at once (`MaxConcurrent=`), and who waits for one of them.
struct HandlerPlaces: Sendable {
    private struct Places {
        var taken = 0
        var waiting = Queue<InvocationID>()
    }

    private var byHandler: [String: Places] = [:]
    /// Who has been given a handler's place, and waits for one of all.
    private var granted: [InvocationID: String] = [:]
    /// Who waits for a handler's place; an id that ended meanwhile stays until its turn comes.
    private var held: Set<InvocationID> = []

    /// Takes a place of the handler for an invocation.
    ///
    /// - Returns: whether there was one, or the handler has no limit; else it waits for one.
    mutating func take(_ id: InvocationID, of handler: Handler) -> Bool {
        guard let limit = handler.maxConcurrent else { return true }
        if granted.removeValue(forKey: id) != nil { return true }
        guard byHandler[handler.name]?.taken ?? 0 < limit else {
            byHandler[handler.name]?.waiting.append(id)
            held.insert(id)
            return false
        }
        byHandler[handler.name, default: Places()].taken += 1
        return true
    }

    /// Leaves a place of the handler.
    ///
    /// - Returns: its name if others wait for the place.
    mutating func leave(_ handler: Handler) -> String? {
        handler.maxConcurrent == nil ? nil : leave(handler.name)
    }

    /// Takes back the place of an invocation that ended before it was started.
    ///
    /// - Returns: the name of the handler if others wait for the place.
    mutating func giveBack(_ id: InvocationID) -> String? {
        granted.isEmpty ? nil : granted.removeValue(forKey: id).flatMap { leave($0) }
    }

    private mutating func leave(_ handler: String) -> String? {
        guard var places = byHandler[handler] else { return nil }
        places.taken -= 1
        byHandler[handler] = places.taken == 0 && places.waiting.isEmpty ? nil : places
        return places.waiting.isEmpty ? nil : handler
    }

    /// The one that has waited longest for a place of the handler.
    mutating func next(of handler: String) -> InvocationID? {
        guard let id = byHandler[handler]?.waiting.popFirst() else {
            if byHandler[handler]?.taken == 0 { byHandler[handler] = nil }
            return nil
        }
        held.remove(id)
        return id
    }

    /// Gives an invocation a place of the handler.
    mutating func grant(_ id: InvocationID, _ handler: String) {
        byHandler[handler, default: Places()].taken += 1
        granted[id] = handler
    }

    /// Whether an invocation waits, or has waited until now, because its handler runs as many as it may.
    func keepsWaiting(_ id: InvocationID) -> Bool { held.contains(id) || granted[id] != nil }
}
