/// Reads the members of one object of a request, with errors that name the key. The reader and its views are valid only
/// during the closure of `read`.
struct ObjectReader {
    private let node: JSONNode
    private let members: JSONNamedMembers

    /// Calls `body` with a reader of an object.
    @inline(__always)
    static func read<Result>(
        _ node: JSONNode, _ body: (ObjectReader) throws(ProtocolError) -> Result
    ) throws(ProtocolError) -> Result {
        try JSONNamedMembers.read(node, RequestKey.names) { (members) throws(ProtocolError) in
            try body(ObjectReader(node: node, members: members))
        }
    }

    /// The value of a member; `nil` if there is none.
    @inline(__always)
    subscript(key: RequestKey) -> JSONView? { members[key.rawValue] }

    /// The node of a view.
    func node(_ view: JSONView) -> JSONNode { node.document.node(view) }

    /// - Parameters:
    ///   - keys: the allowed keys.
    ///   - own: allowed keys that are not the protocol's.
    ///   - owner: the owner of the keys, for the message.
    /// - Throws: `unknown_key` for the first other member.
    func allow(
        _ keys: RequestKeys, and own: Set<String> = [], of owner: StaticString = "this op"
    ) throws(ProtocolError) {
        guard members.hasOthers || members.found & ~keys.bits != 0 else { return }
        let object = node.view
        for (key, _) in object.members {
            if let place = RequestKey.names.place(of: key, in: object), keys.bits & 1 << UInt64(place) != 0 { continue }
            guard let name = key.string, !own.contains(name) else { continue }
            throw ProtocolError(
                .unknownKey, field: name, message: "\(owner) has no such key; it has \(keys.inWords)")
        }
    }

    /// A mandatory member of any value, `null` included.
    func required(_ key: RequestKey) throws(ProtocolError) -> JSONView {
        guard let value = self[key] else { throw missing(key) }
        return value
    }

    func string(_ key: RequestKey) throws(ProtocolError) -> String? { try nonEmpty(key)?.string }

    /// Returns the value of a member that is a non-empty string.
    private func nonEmpty(_ key: RequestKey) throws(ProtocolError) -> JSONView? {
        guard let value = self[key] else { return nil }
        guard value.isString else { throw wrongType(key, value, wanted: "a string") }
        guard value.textLength > 0 else {
            throw invalid(key, "\(key.word) is empty; leave it out instead")
        }
        return value
    }

    /// A name of at most ``Target/longestName`` bytes.
    func name(_ key: RequestKey) throws(ProtocolError) -> String? {
        guard let value = try nonEmpty(key) else { return nil }
        guard value.textLength <= Target.longestName else {
            throw invalid(key, "\(key.word) is longer than \(Target.longestName) bytes")
        }
        return value.string
    }

    /// A text that a person typed; it may be empty.
    func text(_ key: RequestKey) throws(ProtocolError) -> String? {
        guard let value = self[key] else { return nil }
        guard value.isString else { throw wrongType(key, value, wanted: "a string") }
        return value.string
    }

    func bool(_ key: RequestKey) throws(ProtocolError) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let bool = value.bool else { throw wrongType(key, value, wanted: "true or false") }
        return bool
    }

    func object(_ key: RequestKey) throws(ProtocolError) -> JSONNode {
        let value = try required(key)
        guard value.isObject else { throw wrongType(key, value, wanted: "an object") }
        return node(value)
    }

    /// Returns one word of a closed set.
    func word<Word: RequestWord>(_ key: RequestKey, _ type: Word.Type) throws(ProtocolError) -> Word? {
        guard let value = try nonEmpty(key) else { return nil }
        guard let word = Word.words.value(for: value) else {
            throw invalid(key, "\(key.word) is one of \(Word.inWords)")
        }
        return word
    }

    /// Returns a time given as RFC 3339 or Unix milliseconds.
    func time(_ key: RequestKey) throws(ProtocolError) -> WallTime? {
        guard let value = self[key] else { return nil }
        let time: WallTime?
        switch value.kind {
        case .string: time = value.string.flatMap(WallTime.init(rfc3339:))
        case .number: time = value.int64.map(WallTime.init(milliseconds:))
        default: throw wrongType(key, value, wanted: "an RFC 3339 time or Unix milliseconds")
        }
        guard let time, WallTime.years.contains(time) else {
            throw invalid(
                key,
                "\(key.word) is an RFC 3339 time, such as 2026-11-21T09:00:00Z, or a whole number of Unix "
                    + "milliseconds, within the years 1 to 9999")
        }
        return time
    }

    // MARK: Errors

    /// The error for a missing mandatory member.
    ///
    /// - Parameter more: a hint, appended to the message.
    func missing(_ key: RequestKey, _ more: String? = nil) -> ProtocolError {
        let what = "\(key.word) is missing"
        return ProtocolError(.missingKey, field: key.word, message: more.map { "\(what)\($0)" } ?? what)
    }

    /// The error for an invalid value.
    func invalid(_ key: RequestKey, _ message: String) -> ProtocolError {
        ProtocolError(.invalidValue, field: key.word, message: message)
    }

    func wrongType(_ key: RequestKey, _ value: JSONView, wanted: String) -> ProtocolError {
        ProtocolError(
            .invalidType, field: key.word, message: "\(key.word) is \(wanted); this is \(value.kind.name)")
    }
}

extension WallTime {
    /// The times that RFC 3339 can write in UTC: the years 1 to 9999.
    fileprivate static let years =
        WallTime(milliseconds: -62_135_596_800_000)...WallTime(milliseconds: 253_402_300_799_999)
}
