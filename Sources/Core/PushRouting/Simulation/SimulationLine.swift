import PushModel

/// The lines that a simulation prints, without line feeds.
enum SimulationLine {
    /// An invocation ended.
    static func invocation(_ end: InvocationEnd, at time: WallTime) -> [UInt8] {
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
            writer.members(of: end.result)
        }
        return writer.bytes
    }

    /// A line was not accepted.
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

    /// The tracker decided an event.
    static func analytics(_ event: AnalyticsEvent) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "analytics")
            writer.members(of: event)
        }
        return writer.bytes
    }
}
