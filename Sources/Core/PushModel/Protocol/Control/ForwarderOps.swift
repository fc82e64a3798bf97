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

extension ControlOp {
    static let settle = ControlOp("settle", [.instance, .entries]) { reader throws(ProtocolError) in
        .settle(try SettleRequest(reader))
    }
}

/// `op: settle`
public struct SettleRequest: Hashable, Sendable {
    /// The states that the forwarder may set for an entry that it claimed.
    public static let states: [EntryState] = [.sent, .rejected, .unknown, .queued]

    /// The run of the forwarder.
    public var instance: UUID128
    /// The entries, with the limit of one claim.
    public var entries: [Settlement]

    /// Joins the parts.
    public init(instance: UUID128, entries: [Settlement]) {
        self.instance = instance
        self.entries = entries
    }
}

/// The new state of an entry that the forwarder claimed.
public struct Settlement: Hashable, Sendable {
    /// The limit of a reason in bytes: as much of an endpoint's answer as a person reads.
    static let longestReason = 1000

    /// The entry.
    public var number: EntryNumber
    /// `sent`, `rejected`, `unknown`, or `queued` again.
    public var state: EntryState
    /// The reason for people.
    public var reason: String?

    /// Joins the parts; cuts a reason after ``longestReason`` bytes.
    public init(_ number: EntryNumber, _ state: EntryState, reason: String? = nil) {
        self.number = number
        self.state = state
        self.reason = reason?.prefix(bytes: Self.longestReason)
    }
}

extension SettleRequest {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        let instance = try reader.instance()
        let elements = try reader.entries()
        var entries: [Settlement] = []
        for (index, element) in elements.enumerated() {
            do {
                entries.append(try Settlement(element))
            } catch {
                throw error.within("entries[\(index)]")
            }
        }
        self.init(instance: instance, entries: entries)
    }

    func write(to writer: inout JSONWriter) {
        writer.member("instance", instance.description)
        writer.member("entries", array: { list in entries.forEach { $0.write(to: &list) } })
    }
}

extension Settlement {
    private static let keys = RequestKeys([.number, .state, .reason])

    fileprivate init(_ element: JSONNode) throws(ProtocolError) {
        guard element.kind == .object else {
            throw ProtocolError(.invalidType, message: "an entry is an object; this is \(element.kind.name)")
        }
        self = try ObjectReader.read(element) { (reader) throws(ProtocolError) in
            try reader.allow(Self.keys)
            let number = EntryNumber(try reader.integer(.number, in: 1...Int64.max))
            let state = try reader.state(of: SettleRequest.states)
            let reason = try reader.string(.reason)
            guard reason != nil || state == .sent || state == .queued else {
                throw reader.missing(.reason, ": the reason is kept with the entry")
            }
            return Settlement(number, state, reason: reason)
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("number", number.value)
            $0.member("state", state.rawValue)
            if let reason { $0.member("reason", reason) }
        }
    }
}

extension ProtocolError {
    /// The same error for a value inside another value.
    fileprivate func within(_ path: String) -> ProtocolError {
        var error = self
        error.field = field.map { "\(path).\($0)" } ?? path
        return error
    }
}

extension ControlOp {
    static let sending = ControlOp("sending", [.instance, .phase, .reason, .failures, .until]) {
        reader throws(ProtocolError) in .sending(try SendingReport(reader))
    }
}

/// `op: sending`
public struct SendingReport: Hashable, Sendable {
    /// The run of the forwarder.
    public var instance: UUID128
    /// The phase of the forwarder.
    public var phase: SendingState.Phase
    /// The reason for people; `nil` while it sends.
    public var reason: String?
    /// The number of requests that failed in a row.
    public var failures: Int
    /// The end of the wait.
    public var until: WallTime?

    /// Joins the parts; cuts a long reason at its end.
    public init(
        instance: UUID128, phase: SendingState.Phase, reason: String? = nil, failures: Int = 0, until: WallTime? = nil
    ) {
        self.instance = instance
        self.phase = phase
        self.reason = reason?.prefix(bytes: Settlement.longestReason)
        self.failures = failures
        self.until = until
    }
}

extension SendingReport {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        guard let phase = try reader.word(.phase, SendingState.Phase.self) else {
            throw reader.missing(.phase, ": \(SendingState.Phase.inWords)")
        }
        let failures = reader[.failures] == nil ? 0 : Int(try reader.integer(.failures, in: 0...1_000_000_000))
        self.init(
            instance: try reader.instance(), phase: phase, reason: try reader.string(.reason), failures: failures,
            until: try reader.time(.until))
    }

    func write(to writer: inout JSONWriter) {
        writer.member("instance", instance.description)
        writer.member("phase", phase.rawValue)
        if let reason { writer.member("reason", reason) }
        writer.member("failures", failures)
        if let until { writer.member("until", until.rfc3339) }
    }
}

extension ControlOp {
    static let peek = ControlOp("peek", [.after, .limit], readOnly: "peek") { reader throws(ProtocolError) in
        .peek(
            after: EntryNumber(try reader.integer(.after, in: 0...Int64.max)),
            limit: Int(try reader.integer(.limit, in: ClaimRequest.limits)))
    }
}

extension ControlOp {
    static let depart = ControlOp("depart", [.instance, .entries]) { reader throws(ProtocolError) in
        .depart(try DepartRequest(reader))
    }
}

/// `op: depart`
public struct DepartRequest: Hashable, Sendable {
    /// The run of the forwarder.
    public var instance: UUID128
    /// The entries, with the limit of one claim.
    public var entries: [EntryNumber]

    /// Joins the two.
    public init(instance: UUID128, entries: [EntryNumber]) {
        self.instance = instance
        self.entries = entries
    }
}

extension DepartRequest {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        let instance = try reader.instance()
        self.init(instance: instance, entries: try entryNumbers(try reader.entries(), of: .entries))
    }

    func write(to writer: inout JSONWriter) {
        writer.member("instance", instance.description)
        writer.member("entries", array: { $0.numbers(entries) })
    }
}

extension ControlReply {
    /// The entries that may be sent, and the time from the request on in which they may be sent; `nil`: at any time.
    public func departed() throws(ControlReplyError) -> (entries: [EntryNumber], valid: Duration?) {
        guard let list = root["entries"], list.kind == .array else { throw .unreadable("entries is missing") }
        let numbers = list.elements.compactMap(\.int64)
        guard numbers.count == list.count else { throw .unreadable("entries has more than numbers") }
        let valid = root["valid_ms"]?.int64.map { Duration.milliseconds(min(max(0, $0), Self.longestValidity)) }
        return (numbers.map { EntryNumber($0) }, valid)
    }

    /// An hour, in milliseconds; every lease is shorter.
    private static var longestValidity: Int64 { 3_600_000 }
}
