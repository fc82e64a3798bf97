extension ControlOp {
    static let settle = ControlOp("settle", [.instance, .entries]) { reader throws(ProtocolError) in
        .settle(try SettleRequest(reader))
    }
}

/// `op: settle`
public struct SettleRequest: Hashable, Sendable {
    /// The states that the forwarder may set for an entry that it claimed.
    static let states: [EntryState] = [.sent, .rejected, .unknown, .queued]

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
