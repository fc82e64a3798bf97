extension ControlOp {
    static let resolve = ControlOp("resolve", [.entries, .state]) { reader throws(ProtocolError) in
        .resolve(try ResolveRequest(reader))
    }
}

/// `op: resolve`
public struct ResolveRequest: Hashable, Sendable {
    /// The states that a person may give an entry of unknown outcome.
    static let states: [EntryState] = [.queued, .discarded]
    /// The largest number of entries of one request.
    public static let entriesMax = 1000

    /// The entries; `nil`: all entries of unknown outcome.
    public var entries: [EntryNumber]?
    /// `queued` again, or `discarded`.
    public var state: EntryState

    /// Joins the two.
    public init(entries: [EntryNumber]?, state: EntryState) {
        self.entries = entries
        self.state = state
    }
}

extension ResolveRequest {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        self.init(entries: try Self.entries(reader), state: try reader.state(of: Self.states))
    }

    private static func entries(_ reader: ObjectReader) throws(ProtocolError) -> [EntryNumber]? {
        let value = try reader.required(.entries)
        if value.equals("all") { return nil }
        guard value.kind == .array else {
            throw reader.wrongType(.entries, value, wanted: "a list of entry numbers, or \"all\"")
        }
        guard value.count <= Self.entriesMax else {
            throw reader.invalid(.entries, "entries has at most \(Self.entriesMax)")
        }
        return try entryNumbers(reader.node(value).elements, of: .entries)
    }

    func write(to writer: inout JSONWriter) {
        if let entries {
            writer.member("entries", array: { $0.numbers(entries) })
        } else {
            writer.member("entries", "all")
        }
        writer.member("state", state.rawValue)
    }
}
