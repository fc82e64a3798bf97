extension JSONScanner {
    /// Up to this many keys are compared with each other; more are hashed.
    private static let comparedKeys = 32

    /// Refuses the object at `index`, which ends with the tape, when two of its keys are the same text.
    func refuseDuplicateKeys(ofObjectAt index: Int) throws(JSONError) {
        let count = tape[index].count
        guard count > 1 else { return }
        if count > Self.comparedKeys { return try refuseDuplicateKeysByHash(ofObjectAt: index) }
        // A key whose bit is not set yet cannot have come before; most objects need no comparison at all.
        var seen: UInt64 = 0
        var key = index + 1
        while key < tape.count {
            if tape[key].hasEscapes { return try refuseDuplicateKeysByHash(ofObjectAt: index) }
            let bit = Self.bloomBit(of: text[tape[key].content])
            if seen & bit != 0, comesBefore(key, from: index + 1) { throw duplicate(key) }
            seen |= bit
            key = tape[key + 1].next
        }
    }

    private static func bloomBit(of name: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64 {
        guard let first = name.first, let last = name.last else { return 1 }
        let middle = name[name.startIndex + name.count / 2]
        return 1 << UInt64((name.count + Int(first) * 5 + Int(middle) * 23 + Int(last) * 11) & 63)
    }

    /// Whether a key without escapes equals one of those from `first` on that are before it.
    private func comesBefore(_ key: Int, from first: Int) -> Bool {
        let name = text[tape[key].content]
        var earlier = first
        while earlier < key {
            let other = tape[earlier].content
            if other.count == name.count, text[other].elementsEqual(name) { return true }
            earlier = tape[earlier + 1].next
        }
        return false
    }

    private func refuseDuplicateKeysByHash(ofObjectAt index: Int) throws(JSONError) {
        var seen: Set<JSONKey> = []
        seen.reserveCapacity(tape[index].count)
        var key = index + 1
        while key < tape.count {
            guard seen.insert(JSONKey(tape[key], in: text)).inserted else { throw duplicate(key) }
            key = tape[key + 1].next
        }
    }

    private func duplicate(_ key: Int) -> JSONError {
        let name = String(decoding: JSONKey(tape[key], in: text).bytes, as: UTF8.self)
        let shown = name.count > 40 ? "\(name.prefix(40))..." : name
        let start = tape[key].range.lowerBound
        return JSONError(.duplicateKey, at: start, "the key \"\(shown)\" comes twice in one object")
    }
}

/// The text of a key, unescaped, as bytes: equal only when every character is. `String` would take characters for
/// equal that Unicode calls canonically equivalent, which are different keys of JSON.
struct JSONKey: Hashable {
    let bytes: [UInt8]

    init(_ entry: JSONEntry, in text: UnsafeBufferPointer<UInt8>) {
        let content = UnsafeBufferPointer(rebasing: text[entry.content])
        bytes = entry.hasEscapes ? unescape(content) : Array(content)
    }

    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
