extension ControlRequest {
    /// The request as a line, with its line feed.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("op", operation.name.rawValue)
            if let id { writer.member("id", id) }
            operation.write(to: &writer)
        }
        return writer.line()
    }
}

extension ControlRequest.Operation {
    /// The word for it on the socket.
    public var name: Name {
        switch self {
        case .status: .status
        case .metrics: .metrics
        case .sync: .sync
        case .claim: .claim
        case .peek: .peek
        case .depart: .depart
        case .settle: .settle
        case .sending: .sending
        case .flush: .flush
        case .reset: .reset
        case .resolve: .resolve
        case .replay: .replay
        case .purge: .purge
        case .erase: .erase
        case .logLevel: .logLevel
        case .reload: .reload
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .status, .reload: break
        case .metrics(let format): writer.member("format", format.rawValue)
        case .sync(let timeout): writer.member("timeout_ms", timeout.milliseconds)
        case .claim(let claim):
            writer.member("instance", claim.instance.description)
            writer.member("limit", claim.limit)
            writer.member("wait", claim.waits)
            if let holding = claim.holding { writer.member("holding", array: { $0.numbers(holding) }) }
            if claim.reserves { writer.member("reserve", true) }
        case .peek(let after, let limit):
            writer.member("after", after.value)
            writer.member("limit", limit)
        case .depart(let depart):
            writer.member("instance", depart.instance.description)
            writer.member("entries", array: { $0.numbers(depart.entries) })
        case .settle(let settle):
            writer.member("instance", settle.instance.description)
            writer.member("entries", array: { list in settle.entries.forEach { list.settlement($0) } })
        case .sending(let report):
            writer.member("instance", report.instance.description)
            writer.member("phase", report.phase.rawValue)
            if let reason = report.reason { writer.member("reason", reason) }
            writer.member("failures", report.failures)
            if let until = report.until { writer.member("until", until.rfc3339) }
        case .flush(let flush):
            writer.members(of: flush.target)
            if let suite = flush.suite { writer.member("suite", suite) }
        case .reset(let suite, let app):
            writer.member("suite", suite)
            if let app { writer.member("app", app) }
        case .resolve(let resolve):
            if let entries = resolve.entries {
                writer.member("entries", array: { $0.numbers(entries) })
            } else {
                writer.member("entries", "all")
            }
            writer.member("state", resolve.state.rawValue)
        case .logLevel(let level): if let level { writer.member("level", level) }
        case .erase(let person):
            if let user = person.externalID {
                writer.member("external_id", user)
            } else if let device = person.devices.first {
                writer.member("device", device.text)
            }
        case .replay(let requests), .purge(let requests):
            writer.member("requests", array: { list in requests.forEach { list.int($0.value) } })
        }
    }
}

extension JSONWriter {
    fileprivate mutating func numbers(_ entries: [EntryNumber]) { entries.forEach { int($0.value) } }

    fileprivate mutating func settlement(_ settlement: Settlement) {
        object {
            $0.member("number", settlement.number.value)
            $0.member("state", settlement.state.rawValue)
            if let reason = settlement.reason { $0.member("reason", reason) }
        }
    }

    fileprivate mutating func members(of target: Target) {
        if let platform = target.platform { member("platform", platform.rawValue) }
        if let app = target.app { member("app", app) }
        if let device = target.device { member("device", device) }
        if let user = target.externalID { member("external_id", user) }
    }
}
