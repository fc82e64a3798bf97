import PushModel

/// The statements that write custom data.
final class CustomDataRows {
    private var moveEntry: RowStatement
    private var selectAttribute: Statement
    private var replaceAttribute: Statement
    private var deleteAttribute: Statement
    private let path: String

    init(_ database: borrowing Database) throws(StoreError) {
        path = database.path
        moveEntry = try RowStatement(
            """
            UPDATE entries SET state = ?2, settled_at = ?3, settled_by = ?4, claimant = ?5, reason = ?6,
                reason_code = CASE ?2 WHEN '\(EntryState.rejected.rawValue)'
                    THEN '\(RejectionCode.blamedByEndpoint.rawValue)' END
            WHERE number = ?1
            """, count: 6, database)
        let isField = "WHERE anonymous = ?1 AND owner = ?2 AND kind = ?3 AND name = ?4"
        selectAttribute = try database.prepare("SELECT value FROM attributes \(isField)")
        replaceAttribute = try database.prepare(AttributeRecord.table.insertion("INSERT OR REPLACE"))
        deleteAttribute = try database.prepare("DELETE FROM attributes \(isField)")
    }

    /// Changes an entry's state.
    func move(_ values: RowValues) throws(StoreError) {
        try moveEntry.run(values)
        guard moveEntry.changes != 1 else { return }
        var values = values
        let number = try reading { () throws(RowError) in try values.integer() }
        throw StoreError(
            .contradiction, message: "a row changes entry \(number) of custom data, which the ledger does not have",
            context: path)
    }

    /// Changes a field of a profile. The new value may depend on the stored one, so the change is applied here, at the
    /// ledger.
    func change(_ values: RowValues) throws(StoreError) {
        var values = values
        let row = try reading { () throws(RowError) in try AttributeRow(reading: &values) }
        guard let value = row.change.apply(to: try value(of: row)) else {
            deleteAttribute.bind(keyOf: row)
            return try deleteAttribute.run()
        }
        replaceAttribute.bind(keyOf: row)
        replaceAttribute.bind(String(decoding: plainly(value), as: UTF8.self), at: 5)
        replaceAttribute.bind(row.at.milliseconds, at: 6)
        replaceAttribute.bind(row.entry.value, at: 7)
        try replaceAttribute.run()
    }

    private func value(of row: AttributeRow) throws(StoreError) -> [UInt8]? {
        // The changes `set` and `remove` do not depend on the old value.
        switch row.change {
        case .set, .remove: return nil
        case .add, .drop, .increment: break
        }
        selectAttribute.bind(keyOf: row)
        defer { selectAttribute.reset() }
        return try selectAttribute.step() ? selectAttribute.bytes(0) : nil
    }
}

/// Removes needless escapes from a string, or from an array with strings, so that equal texts are equal bytes: many
/// producers write `caf\u00e9`.
private func plainly(_ value: [UInt8]) -> [UInt8] {
    guard value.contains(UInt8(ascii: "\\")),
        let document = try? JSONDocument(scanning: value, limits: JSONLimits(depth: .max))
    else { return value }
    var writer = JSONWriter(reserving: value.count)
    switch document.root.kind {
    case .string: writer.write(plainly: document.root)
    case .array: writer.array { list in document.root.elements.forEach { list.write(plainly: $0) } }
    case .object, .number, .bool, .null: return value
    }
    return writer.bytes
}

extension JSONWriter {
    fileprivate mutating func write(plainly node: JSONNode) {
        if let text = node.string { string(text) } else { raw(node.rawBytes) }
    }
}

// Parameters: ?1 is column 0.
extension Statement {
    /// Binds the key of `attributes`.
    fileprivate mutating func bind(keyOf row: AttributeRow) {
        bind(row.owner)
        bind(row.kind.rawValue, at: 3)
        bind(row.name, at: 4)
    }

    /// Binds the owner of a profile to `?1` and `?2`.
    mutating func bind(_ owner: ProfileOwner) {
        switch owner {
        case .user(let user):
            bind(0, at: 1)
            bind(user, at: 2)
        case .device(let device):
            bind(1, at: 1)
            bind(device, at: 2)
        }
    }
}
