extension EntryRecord: StoredRecord {
    // Entries of custom data: one custom event, or attributes that are set together. suite: the suite that stores the
    // entry; NULL if the entry is sent, for the profile of the identifier. settled_at: when the state last changed,
    // settled_by: the request that changed it; NULL in the first state. reason_code and field: the rule that a rejected
    // entry breaks, and the place.
    public static let table = LedgerTable(
        "entries",
        [
            .integer("number"), .integer("cause"), .name("kind", EntryKind.self), .text("suite").orNull,
            .name("identifier_kind", IdentifierKind.self).orNull, .text("identifier").orNull,
            .text("identifier_label").orNull, .name("platform", Platform.self), .text("app").orNull,
            .text("device").orNull, .text("external_id").orNull, .text("name").orNull, .bytes("data"),
            .integer("time"), .integer("saved_at"), .name("state", EntryState.self), .integer("settled_at").orNull,
            .integer("settled_by").orNull, .bytes("claimant").orNull, .text("reason").orNull,
            .text("reason_code").orNull, .text("field").orNull,
        ])

    public func write(to row: inout RowWriter) {
        row.add(entry.number, entry.cause, entry.kind, entry.destination)
        row.add(entry.platform, entry.app, entry.device, entry.externalID)
        row.add(entry.name, entry.data, entry.time, entry.savedAt)
        row.add(state, settledAt, settledBy, claimant)
        row.add(reason)
        if let problem { row.add(problem.code, problem.field) }
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        entry = CustomEntry(
            number: try row.next(), cause: try row.next(), kind: try row.next(), destination: try row.next(),
            platform: try row.next(), app: try row.next(), device: try row.next(), externalID: try row.next(),
            name: try row.next(), data: try row.next(), time: try row.next(), savedAt: try row.next())
        (state, settledAt, settledBy, claimant) = try row.next()
        if state == .claimed, claimant == nil { throw row.unreadable("an entry is claimed, but has no claimant") }
        let (reason, code, field): (String?, RejectionCode?, String) = try row.next()
        self.reason = reason
        // The reason of a rejected entry is the field, a colon, and the message.
        let message = (reason ?? "").dropFirst(field.isEmpty ? 0 : field.count + 2)
        problem = code.map { EntryProblem($0, String(message), field: field) }
    }
}

/// The suite of a stored entry, and the identifier of the profile in three columns.
extension EntryDestination: StoredValue {
    public func write(to row: inout RowWriter) {
        let none: String? = nil
        switch self {
        case .stored(let suite, let brazeID):
            row.add(suite, brazeID.map { _ in IdentifierKind.brazeID }, brazeID, none)
        case .sent(.externalID(let id)): row.add(none, IdentifierKind.externalID, id, none)
        case .sent(.brazeID(let id)): row.add(none, IdentifierKind.brazeID, id, none)
        case .sent(.alias(let name, let label)): row.add(none, IdentifierKind.alias, name, label)
        }
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let suite: String? = try row.next()
        if suite != nil { try row.skip(1) }
        let kind: IdentifierKind? = suite == nil ? try row.name() : nil
        let (identifier, label): (String?, String) = try row.next()
        self =
            switch kind {
            case .externalID: .sent(.externalID(identifier ?? ""))
            case .brazeID: .sent(.brazeID(identifier ?? ""))
            case .alias: .sent(.alias(name: identifier ?? "", label: label))
            case nil: .stored(suite: suite ?? "", brazeID: identifier)
            }
    }
}

/// The kind of an identifier. The ledger stores the raw values.
public enum IdentifierKind: String, Sendable, CaseIterable {
    case externalID = "external_id"
    case brazeID = "braze_id"
    case alias
}
