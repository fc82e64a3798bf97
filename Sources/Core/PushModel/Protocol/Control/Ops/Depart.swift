extension ControlOp {
    static let depart = ControlOp("depart", [.instance, .entries]) { reader throws(ProtocolError) in
        .depart(try DepartRequest(reader))
    }
}

/// `op: depart`
public struct DepartRequest: Hashable, Sendable {
    /// The run of the forwarder.
    public var instance: UUID128
    /// The entries, at most as many as one claim may ask for.
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
    /// Reads the answer to `depart`: the entries that may be sent, and for how long after the request; `nil`: at any
    /// time.
    public func departed() throws(ControlReplyError) -> (entries: [EntryNumber], valid: Duration?) {
        guard let list = root["entries"], list.kind == .array else { throw .unreadable("entries is missing") }
        let numbers = list.elements.compactMap(\.int64)
        guard numbers.count == list.count else { throw .unreadable("entries has more than numbers") }
        let valid = root["valid_ms"]?.int64.map { Duration.milliseconds(min(max(0, $0), Self.longestValidity)) }
        return (numbers.map { EntryNumber($0) }, valid)
    }

    /// An hour in milliseconds, the longest lease.
    private static var longestValidity: Int64 { 3_600_000 }
}
