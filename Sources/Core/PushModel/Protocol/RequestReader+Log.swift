extension LogRequest {
    /// The keys of an entry without those of its target.
    static let entryKeys = RequestKeys([.kind, .suite, .brazeID, .name, .properties, .attributes])

    static let keys = Request.keys + Target.keys + entryKeys

    /// Reads the kind and the way of an entry. The custom data checks its contents by the provider's rules later: an
    /// entry that breaks them is rejected and kept, while the request is accepted.
    init(_ reader: ObjectReader, _ root: JSONNode) throws(ProtocolError) {
        guard let kind = try reader.word(.kind, EntryKind.self) else {
            throw reader.missing(.kind, ": \(EntryKind.inWords)")
        }
        for key in kind.foreignKeys where reader[key] != nil {
            throw ProtocolError(
                .unknownKey, field: key.word,
                message: "kind \(kind.rawValue) has no \(key.word); it has "
                    + kind.ownKeys.map(\.word).joined(separator: " and "))
        }
        if let attributes = reader[.attributes], attributes.count > Self.attributesMax {
            throw reader.invalid(
                .attributes,
                "attributes has \(attributes.count) members; one request has at most \(Self.attributesMax)")
        }
        self.init(
            target: try Target(reader), suite: try reader.name(.suite), brazeID: try reader.name(.brazeID),
            kind: kind,
            object: root)
    }

    /// The keys of an element of a handler's `log`: those of `op: log` without those that belong to the request.
    private static let handlerKeys = RequestKeys([.app, .device, .externalID]) + entryKeys

    /// Reads an element of a handler's `log`.
    ///
    /// - Throws: the first error of the element.
    public init(loggedByHandler element: JSONNode) throws(ProtocolError) {
        guard element.kind == .object else {
            throw ProtocolError(.invalidType, message: "an entry is an object; this is \(element.kind.name)")
        }
        self = try ObjectReader.read(element) { (reader) throws(ProtocolError) in
            try reader.allow(Self.handlerKeys, of: "an entry")
            return try LogRequest(reader, element)
        }
        if let error = target.nulError { throw error }
    }
}

extension EntryKind {
    /// The keys for the contents of an entry of this kind.
    fileprivate var ownKeys: [RequestKey] { self == .customEvent ? [.name, .properties] : [.attributes] }

    fileprivate var foreignKeys: [RequestKey] { self == .customEvent ? [.attributes] : [.name, .properties] }
}
