extension ControlOp {
    static let claim = ControlOp("claim", [.instance, .limit, .wait, .holding, .reserve]) {
        reader throws(ProtocolError) in .claim(try ClaimRequest(reader))
    }
}

/// `op: claim`
public struct ClaimRequest: Hashable, Sendable {
    /// The limits of entries in one claim.
    public static let limits: ClosedRange<Int64> = 1...1000
    /// The limit of entries that one run holds: the daemon settles all of them in one turn when the next run claims.
    public static let heldMax = 10_000

    /// The run of the forwarder.
    public var instance: UUID128
    /// The limit of entries in the answer.
    public var limit: Int
    /// Whether the answer waits until there is an entry.
    public var waits: Bool
    /// The entries that the run holds, in the first claim of a connection. The daemon puts the run's other claimed
    /// entries back to `queued` before it answers: the reply with them got lost, or the run did not send them.
    public var holding: [EntryNumber]?
    /// Whether the run announces with `depart` the entries that it is about to send. Until then an entry stays `queued`
    /// on disk. For a run without `depart`, an entry counts as sent once the daemon hands it over.
    public var reserves: Bool

    /// Joins the parts.
    public init(
        instance: UUID128, limit: Int, waits: Bool, holding: [EntryNumber]? = nil, reserves: Bool = false
    ) {
        self.instance = instance
        self.limit = limit
        self.waits = waits
        self.holding = holding
        self.reserves = reserves
    }
}

extension ClaimRequest {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        self.init(
            instance: try reader.instance(), limit: Int(try reader.integer(.limit, in: ClaimRequest.limits)),
            waits: try reader.bool(.wait) ?? false,
            holding: reader[.holding] == nil
                ? nil : try entryNumbers(try reader.list(.holding, atMost: ClaimRequest.heldMax), of: .holding),
            reserves: try reader.bool(.reserve) ?? false)
    }

    func write(to writer: inout JSONWriter) {
        writer.member("instance", instance.description)
        writer.member("limit", limit)
        writer.member("wait", waits)
        if let holding { writer.member("holding", array: { $0.numbers(holding) }) }
        if reserves { writer.member("reserve", true) }
    }
}

extension Claimed {
    /// Writes the members of the answer.
    public func write(to reply: inout JSONWriter) {
        reply.member("entries", array: { list in entries.forEach { $0.write(to: &list) } })
        guard let sending else { return reply.member("sending", nil as String?) }
        reply.member("sending", object: { sending.write(to: &$0) })
    }
}

extension ClaimedEntry {
    fileprivate func write(to list: inout JSONWriter) {
        list.object {
            $0.member("number", number.value)
            $0.member("kind", kind.rawValue)
            $0.member(of: identifier)
            if let app { $0.member("app", app) }
            if let name { $0.member("name", name) }
            $0.member("data", raw: data)
            $0.member("time", time.rfc3339)
        }
    }
}

extension SendingState {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("phase", phase.rawValue)
        writer.member("reason", reason)
        writer.member("failures", failures)
        writer.member("until", until?.rfc3339)
        writer.member("since", since.rfc3339)
    }
}

extension ControlReply {
    /// Reads the answer to a claim.
    public func claimed() throws(ControlReplyError) -> Claimed {
        guard let list = root["entries"], list.kind == .array else { throw .unreadable("entries is missing") }
        let nodes = list.elements
        var entries: [ClaimedEntry] = []
        entries.reserveCapacity(nodes.count)
        for node in nodes { entries.append(try Self.entry(node)) }
        guard let sending = root["sending"], sending.kind != .null else {
            return Claimed(entries: entries, sending: nil)
        }
        return Claimed(entries: entries, sending: try Self.state(sending))
    }

    private static func entry(_ node: JSONNode) throws(ControlReplyError) -> ClaimedEntry {
        guard let number = node["number"]?.int64, let kind = node["kind"]?.string.flatMap(EntryKind.init(rawValue:)),
            let identifier = identifier(node), let data = node["data"], data.kind == .object,
            let time = node["time"]?.string.flatMap(WallTime.init(rfc3339:))
        else { throw .unreadable("an entry lacks its number, kind, identifier, data or time") }
        return ClaimedEntry(
            number: EntryNumber(number), kind: kind, identifier: identifier, app: node["app"]?.string,
            name: node["name"]?.string, data: Array(data.rawBytes), time: time)
    }

    private static func identifier(_ node: JSONNode) -> UserIdentifier? {
        if let id = node["external_id"]?.string { return .externalID(id) }
        if let id = node["braze_id"]?.string { return .brazeID(id) }
        guard let name = node["alias"]?["name"]?.string, let label = node["alias"]?["label"]?.string else { return nil }
        return .alias(name: name, label: label)
    }

    private static func state(_ node: JSONNode) throws(ControlReplyError) -> SendingState {
        guard let phase = node["phase"]?.string.flatMap(SendingState.Phase.init(rawValue:)),
            let failures = node["failures"]?.int64,
            let since = node["since"]?.string.flatMap(WallTime.init(rfc3339:))
        else { throw .unreadable("sending lacks its phase, failures or since") }
        return SendingState(
            phase: phase, reason: node["reason"]?.string, failures: Int(failures),
            until: node["until"]?.string.flatMap(WallTime.init(rfc3339:)), since: since)
    }
}
