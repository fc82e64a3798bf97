/// Reads a list of entry numbers.
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

    /// Returns the id of the run of the forwarder that asks.
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

    /// - Parameter most: the largest number of elements; a longer list is refused before its elements are read.
    func list(_ key: RequestKey, atMost most: Int) throws(ProtocolError) -> [JSONNode] {
        let value = try required(key)
        guard value.kind == .array else { throw wrongType(key, value, wanted: "a list") }
        guard value.count <= most else { throw invalid(key, "\(key.word) has at most \(most)") }
        return node(value).elements
    }

    /// Returns the list of entries, at most as many as one claim may ask for.
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
    /// Returns the longest prefix of whole characters within `limit` bytes.
    func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = startIndex
        while case let next = index(after: end), utf8.distance(from: startIndex, to: next) <= limit { end = next }
        return String(self[..<end])
    }
}
