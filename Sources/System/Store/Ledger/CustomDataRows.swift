import PushModel

/// The statements that write custom data.
final class CustomDataRows {
    private var insertEntry: Statement
    private var updateProblem: Statement
    private var moveEntry: Statement
    private var selectAttribute: Statement
    private var replaceAttribute: Statement
    private var deleteAttribute: Statement
    private var replaceSending: Statement
    private let path: String

    init(_ database: borrowing Database) throws(StoreError) {
        path = database.path
        insertEntry = try database.prepare(
            "INSERT INTO entries VALUES (\(parameters(CustomDataColumns.entryCount)), NULL, NULL)")
        updateProblem = try database.prepare("UPDATE entries SET reason_code = ?2, field = ?3 WHERE number = ?1")
        moveEntry = try database.prepare(
            """
            UPDATE entries SET state = ?2, settled_at = ?3, settled_by = ?4, claimant = ?5, reason = ?6,
                reason_code = CASE ?2 WHEN '\(EntryState.rejected.rawValue)'
                    THEN '\(RejectionCode.blamedByEndpoint.rawValue)' END
            WHERE number = ?1
            """)
        let isField = "WHERE anonymous = ?1 AND owner = ?2 AND kind = ?3 AND name = ?4"
        selectAttribute = try database.prepare("SELECT value FROM attributes \(isField)")
        replaceAttribute = try database.prepare("INSERT OR REPLACE INTO attributes VALUES (\(parameters(7)))")
        deleteAttribute = try database.prepare("DELETE FROM attributes \(isField)")
        replaceSending = try database.prepare("INSERT OR REPLACE INTO sending VALUES (1, \(parameters(5, from: 2)))")
    }

    /// Applies one row.
    func apply(_ kind: RowKind, _ values: RowValues) throws(StoreError) {
        switch kind {
        case .entry: try insertEntry.run(values, count: CustomDataColumns.entryCount)
        case .entryProblem: try updateProblem.run(values, count: 3)
        case .entryMove:
            try moveEntry.run(values, count: 6)
            guard moveEntry.changes == 1 else {
                var values = values
                let number = try reading { () throws(RowError) in try values.integer() }
                throw StoreError(.contradiction, message: "there is no entry \(number) of custom data", context: path)
            }
        case .attribute:
            var values = values
            try write(try reading { () throws(RowError) in try values.attributeRow() })
        case .sending: try replaceSending.run(values, count: 5, from: 2)
        case .attempt, .output, .deadLetter, .noDeadLetters, .gap, .lifeSign, .request, .invocation, .invocationUpdate,
            .event, .device, .forgottenDevice, .trackedDelivery, .openedDelivery, .influencedDelivery,
            .forgottenDelivery, .interaction, .session, .forgottenSession, .starts, .forgottenStarts, .pendingStart,
            .decidedStart, .heldInteraction, .settledInteraction:
            preconditionFailure("\(kind) is no row of custom data")
        }
    }

    /// What becomes of a field depends on what it is: the change is made here, where the profile is.
    private func write(_ row: AttributeRow) throws(StoreError) {
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
        // What sets a field need not know what it was.
        switch row.change {
        case .set, .remove: return nil
        case .add, .drop, .increment: break
        }
        selectAttribute.bind(keyOf: row)
        defer { selectAttribute.reset() }
        return try selectAttribute.step() ? selectAttribute.bytes(0) : nil
    }
}

/// A string, or an array with strings, without escapes that nobody needs, so that equal texts are equal bytes: many
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
