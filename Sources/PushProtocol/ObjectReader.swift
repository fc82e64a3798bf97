import PushModel

/// Reads the members of one object of a request, with errors that name the key.
struct ObjectReader {
    private let members: [(key: String, value: JSONNode)]

    init(_ node: JSONNode) { members = node.members }

    /// A member. Requests have few of them, so one after the other is compared.
    subscript(key: String) -> JSONNode? { members.first { $0.key == key }?.value }

    /// - Throws: `unknown_key` for a member that is not among `keys`, nor among the caller's own.
    func allow(_ keys: [String], and own: Set<String> = []) throws(ProtocolError) {
        for (key, _) in members where !keys.contains(key) && !own.contains(key) {
            let known = keys.sorted().joined(separator: ", ")
            throw ProtocolError(.unknownKey, field: key, message: "this op takes no such key; it takes \(known)")
        }
    }

    /// Any value; `null` is a value like any other.
    func required(_ key: String) throws(ProtocolError) -> JSONNode {
        guard let value = self[key] else {
            throw ProtocolError(.missingKey, field: key, message: "\(key) is missing")
        }
        return value
    }

    func string(_ key: String) throws(ProtocolError) -> String? {
        guard let text = try text(key) else { return nil }
        guard !text.isEmpty else {
            throw ProtocolError(.invalidValue, field: key, message: "\(key) is empty; leave it out instead")
        }
        return text
    }

    /// A text that names something: at most 255 bytes, as much is remembered of many.
    func name(_ key: String) throws(ProtocolError) -> String? {
        guard let text = try string(key) else { return nil }
        guard text.utf8.count <= 255 else {
            throw ProtocolError(.invalidValue, field: key, message: "\(key) is longer than 255 bytes")
        }
        return text
    }

    /// A text that a person typed, which may be none.
    func text(_ key: String) throws(ProtocolError) -> String? {
        guard let value = self[key] else { return nil }
        guard let text = value.string else { throw wrongType(key, value, wanted: "a string") }
        return text
    }

    func bool(_ key: String) throws(ProtocolError) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let bool = value.bool else { throw wrongType(key, value, wanted: "true or false") }
        return bool
    }

    func object(_ key: String) throws(ProtocolError) -> JSONNode {
        let value = try required(key)
        guard value.kind == .object else { throw wrongType(key, value, wanted: "an object") }
        return value
    }

    /// One word of a closed set.
    func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Word.Type
    ) throws(ProtocolError) -> Word? where Word.RawValue == String {
        guard let text = try string(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw ProtocolError(.invalidValue, field: key, message: "\(key) is one of \(words(Word.self))")
        }
        return word
    }

    /// A closed set, for messages.
    func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> String where Word.RawValue == String {
        Word.allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// A time: RFC 3339, or Unix milliseconds.
    func time(_ key: String) throws(ProtocolError) -> WallTime? {
        guard let value = self[key] else { return nil }
        let time: WallTime?
        switch value.kind {
        case .string: time = value.string.flatMap(WallTime.init(rfc3339:))
        case .number: time = value.int64.map(WallTime.init(milliseconds:))
        default: throw wrongType(key, value, wanted: "an RFC 3339 time or Unix milliseconds")
        }
        guard let time, WallTime.years.contains(time) else {
            throw ProtocolError(
                .invalidValue, field: key,
                message: "\(key) is an RFC 3339 time, such as 2026-11-21T09:00:00Z, or a whole number of Unix "
                    + "milliseconds, within the years 1 to 9999")
        }
        return time
    }

    func wrongType(_ key: String, _ value: JSONNode, wanted: String) -> ProtocolError {
        ProtocolError(.invalidType, field: key, message: "\(key) is \(wanted); this is \(value.kind.name)")
    }
}

extension WallTime {
    /// What RFC 3339 can write in UTC: the years 1 to 9999.
    fileprivate static let years =
        WallTime(milliseconds: -62_135_596_800_000)...WallTime(milliseconds: 253_402_300_799_999)
}
