import PushModel
import PushRouter

/// The output lines of a simulation, without line feeds.
enum SimulationLine {
    /// The line for the end of an invocation.
    ///
    /// - Parameter attempts: the attempts with a row in the ledger.
    static func invocation(_ end: InvocationEnd, _ attempts: [AttemptRecord] = [], at time: WallTime) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "invocation")
            writer.member("seq", end.invocation.id.seq.value)
            writer.member("n", end.invocation.id.n)
            if let id = end.request.id { writer.member("id", id) }
            writer.member("at", time.milliseconds)
            writer.member("callback", end.invocation.callback.rawValue)
            writer.member("provider", end.invocation.provider)
            writer.member("route", end.invocation.route)
            writer.member("handler", end.invocation.handler)
            if end.invocation.isObserver { writer.member("observer", true) }
            writer.members(of: end.result, at: end.invocation.callback)
            guard !attempts.isEmpty else { return }
            writer.member(
                "attempts", array: { list in attempts.forEach { attempt in list.object { $0.members(of: attempt) } } })
        }
        return writer.bytes
    }

    /// The line for a refused line of the scenario.
    static func error(_ error: ProtocolError, line: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "error")
            writer.member("line", line)
            if let id = error.id { writer.member("id", id) }
            writer.member("error", object: { $0.members(of: error) })
        }
        return writer.bytes
    }

    /// The line for a saved, flushed or rejected entry of custom data.
    ///
    /// - Parameters:
    ///   - request: the request that led to it; for a flush the session's.
    static func entry(
        _ entry: CustomEntry, _ state: EntryState, reason: String?, by request: SequenceNumber, at time: WallTime
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "entry")
            writer.member("entry", entry.number.value)
            writer.member("seq", request.value)
            writer.member("at", time.milliseconds)
            writer.member("state", state.rawValue)
            writer.member("kind", entry.kind.rawValue)
            switch entry.destination {
            case .sent(let identifier):
                // A track's entry without a user is for nobody.
                if entry.destination != .unidentified { writer.member(of: identifier) }
            case .stored(let suite, let brazeID):
                writer.member("suite", suite)
                if let brazeID { writer.member("braze_id", brazeID) }
            }
            if let name = entry.name { writer.member("name", name) }
            if !entry.data.isEmpty {
                writer.member(entry.kind == .customEvent ? "properties" : "attributes", raw: entry.data)
            }
            if let reason { writer.member("reason", reason) }
        }
        return writer.bytes
    }

    /// The line for an interaction that no longer waits for its push.
    static func interaction(_ end: WaitingInteractions.End, at time: WallTime) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "interaction")
            writer.member("seq", end.cause.value)
            if let id = end.id { writer.member("id", id) }
            writer.member("at", time.milliseconds)
            writer.member("verdict", end.verdict.rawValue)
            writer.member("delivery", end.delivery?.value)
            if let reason = end.reason { writer.member("reason", reason) }
        }
        return writer.bytes
    }

    /// The line for a handler's breaker that opened or closed.
    static func breaker(_ change: BreakerChange, at time: WallTime) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "breaker")
            writer.member("at", time.milliseconds)
            writer.member("handler", change.handler)
            writer.member("state", (change.isOpen ? HandlerStatus.BreakerState.open : .closed).rawValue)
        }
        return writer.bytes
    }

    /// The line for an analytics event. `time` is the event's time in seconds, as in Braze's wire format; `at` is in
    /// milliseconds, as in every line.
    static func analytics(_ event: AnalyticsEvent, at time: WallTime) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "analytics")
            writer.member("at", time.milliseconds)
            writer.members(of: event)
        }
        return writer.bytes
    }
}
