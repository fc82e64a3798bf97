import PushModel

extension LogRequest {
    /// What an entry takes beside the keys that say whom it is about.
    static let entryKeys = ["kind", "suite", "braze_id", "name", "properties", "attributes"]

    static let keys = Request.keys + Target.keys + entryKeys

    /// Reads what an entry is and where it goes. Whether what it tells keeps to the provider's rules is for the custom data to
    /// judge: what breaks them is set aside, not refused.
    init(_ reader: ObjectReader, _ root: JSONNode) throws(ProtocolError) {
        guard let kind = try reader.word("kind", EntryKind.self) else {
            throw ProtocolError(
                .missingKey, field: "kind", message: "kind is missing: \(reader.words(EntryKind.self))")
        }
        for key in kind.foreignKeys where reader[key] != nil {
            throw ProtocolError(
                .unknownKey, field: key,
                message: "kind \(kind.rawValue) has no \(key); it has \(kind.ownKeys.joined(separator: " and "))")
        }
        self.init(
            target: try Target(reader), suite: try reader.name("suite"), brazeID: try reader.name("braze_id"),
            kind: kind,
            object: root)
    }
}

extension EntryKind {
    /// The keys that say what an entry of this kind tells.
    fileprivate var ownKeys: [String] { self == .customEvent ? ["name", "properties"] : ["attributes"] }

    fileprivate var foreignKeys: [String] { self == .customEvent ? ["attributes"] : ["name", "properties"] }
}
