extension ControlOp {
    static let settle = ControlOp("settle", [.instance, .entries]) { reader throws(ProtocolError) in
        .settle(try SettleRequest(reader))
    }
}

/// `op: settle`
public struct SettleRequest: Hashable, Sendable {
    /// The states that the forwarder may give an entry that it claimed.
    static let states: [EntryState] = [.sent, .rejected, .unknown, .queued]

    /// The run of the forwarder.
    public var instance: UUID128
    /// The entries, at most as many as one claim may ask for.
    public var entries: [Settlement]

    /// Joins the parts.
    public init(instance: UUID128, entries: [Settlement]) {
        self.instance = instance
        self.entries = entries
    }
}

/// The new state of an entry that the forwarder had.
public struct Settlement: Hashable, Sendable {
    /// The largest length of a reason in bytes: enough of an endpoint's answer for a person.
    public static let longestReason = 1000

    /// The entry.
    public var number: EntryNumber
    /// `sent`, `rejected`, `unknown`, or `queued` again.
    public var state: EntryState
    /// The reason for people.
    public var reason: String?

    /// Joins the parts; cuts a reason at ``longestReason`` bytes.
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
    /// Returns the error with the path of an enclosing value before its field.
    fileprivate func within(_ path: String) -> ProtocolError {
        var error = self
        error.field = field.map { "\(path).\($0)" } ?? path
        return error
    }
}
