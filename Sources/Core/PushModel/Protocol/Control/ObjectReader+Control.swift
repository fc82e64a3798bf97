/// Reads the entry numbers in a list.
func entryNumbers(_ elements: [JSONNode], of key: RequestKey) throws(ProtocolError) -> [EntryNumber] {
    var numbers: [EntryNumber] = []
    for (index, element) in elements.enumerated() {
        guard let number = element.int64, number > 0 else {
            throw ProtocolError(
                .invalidValue, field: "\(key.word)[\(index)]", message: "an entry's number is a whole number above 0")
        }
        numbers.append(EntryNumber(number))
    }
    return numbers
}

extension ObjectReader {
    func requiredName(_ key: RequestKey) throws(ProtocolError) -> String {
        guard let name = try name(key) else { throw missing(key) }
        return name
    }

    /// The run of the forwarder that asks.
    func instance() throws(ProtocolError) -> UUID128 {
        guard let instance = UUID128(try requiredName(.instance)) else {
            throw invalid(.instance, "instance is the UUID of this run of the forwarder: 32 hexadecimal digits")
        }
        return instance
    }

    func integer(_ key: RequestKey, in range: ClosedRange<Int64>) throws(ProtocolError) -> Int64 {
        let value = try required(key)
        guard value.kind == .number else { throw wrongType(key, value, wanted: "a number") }
        guard let number = value.int64, range.contains(number) else {
            let limits =
                range.upperBound == .max
                ? "above \(range.lowerBound - 1)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw invalid(key, "\(key.word) is a whole number \(limits)")
        }
        return number
    }

    /// - Parameter most: the limit of elements, checked before they are read.
    func list(_ key: RequestKey, atMost most: Int) throws(ProtocolError) -> [JSONNode] {
        let value = try required(key)
        guard value.kind == .array else { throw wrongType(key, value, wanted: "a list") }
        guard value.count <= most else { throw invalid(key, "\(key.word) has at most \(most)") }
        return node(value).elements
    }

    /// The list of entries, with the limit of one claim.
    func entries() throws(ProtocolError) -> [JSONNode] {
        try list(.entries, atMost: Int(ClaimRequest.limits.upperBound))
    }

    func state(of states: [EntryState]) throws(ProtocolError) -> EntryState {
        let words = states.map(\.rawValue).joined(separator: ", ")
        guard let text = try string(.state) else { throw missing(.state, ": \(words)") }
        guard let state = states.first(where: { $0.rawValue == text }) else {
            throw invalid(.state, "state is one of \(words)")
        }
        return state
    }
}

extension JSONWriter {
    mutating func numbers(_ entries: [EntryNumber]) { entries.forEach { int($0.value) } }

    mutating func requests(_ requests: [SequenceNumber]) { requests.forEach { int($0.value) } }
}

extension String {
    /// The longest beginning of whole characters that fits into `limit` bytes.
    func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = startIndex
        while case let next = index(after: end), utf8.distance(from: startIndex, to: next) <= limit { end = next }
        return String(self[..<end])
    }
}

extension JSONWriter {
    /// Writes the member for the identifier of a profile.
    public mutating func member(of identifier: UserIdentifier) {
        switch identifier {
        case .externalID(let id): member("external_id", id)
        case .brazeID(let id): member("braze_id", id)
        case .alias(let name, let label):
            member(
                "alias",
                object: {
                    $0.member("name", name)
                    $0.member("label", label)
                })
        }
    }
}

/// The answer to a claim.
public struct Claimed: Hashable, Sendable {
    /// The entries, in order of number; this run of the forwarder has claimed them.
    public var entries: [ClaimedEntry]
    /// The last reported state of sending; `nil` before the first report.
    public var sending: SendingState?

    /// Joins the two.
    public init(entries: [ClaimedEntry], sending: SendingState?) {
        self.entries = entries
        self.sending = sending
    }
}

/// The part of an entry that the forwarder needs.
public struct ClaimedEntry: Hashable, Sendable {
    /// The number, by which the forwarder settles the entry.
    public var number: EntryNumber
    /// The kind.
    public var kind: EntryKind
    /// The identifier of the profile.
    public var identifier: UserIdentifier
    /// The app.
    public var app: String?
    /// The name of an event; `nil` for attributes.
    public var name: String?
    /// The properties of the event, or the attributes: a JSON object without white space.
    public var data: [UInt8]
    /// The time of the event.
    public var time: WallTime

    /// Joins the parts.
    public init(
        number: EntryNumber, kind: EntryKind, identifier: UserIdentifier, app: String?, name: String?, data: [UInt8],
        time: WallTime
    ) {
        self.number = number
        self.kind = kind
        self.identifier = identifier
        self.app = app
        self.name = name
        self.data = data
        self.time = time
    }

    /// Takes the forwarder's part of an entry; `nil` if the entry is stored instead of sent.
    public init?(_ entry: CustomEntry) {
        guard case .sent(let identifier) = entry.destination else { return nil }
        self.init(
            number: entry.number, kind: entry.kind, identifier: identifier, app: entry.app, name: entry.name,
            data: entry.data, time: entry.time)
    }
}
