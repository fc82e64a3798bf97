extension EntryRecord: StoredRecord {
    // Custom data on its way: one custom event, or attributes that are set together. A suite is where an entry is
    // stored; without one it is sent, for the profile that the identifier names. settled_at is when the state last
    // changed, by settled_by if that was a request; NULL while it is as it came. reason_code and field: which rule a
    // rejected entry breaks, and where.
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
        row.integer(entry.number.value)
        row.seq(entry.cause)
        row.word(entry.kind)
        switch entry.way {
        case .stored(let suite, let brazeID):
            row.text(suite)
            row.word(brazeID == nil ? nil : IdentifierKind.brazeID)
            row.text(brazeID)
            row.null()
        case .sent(.externalID(let id)): row.identifier(.externalID, id)
        case .sent(.brazeID(let id)): row.identifier(.brazeID, id)
        case .sent(.alias(let name, let label)): row.identifier(.alias, name, label)
        }
        row.word(entry.platform)
        row.text(entry.app)
        row.text(entry.device)
        row.text(entry.externalID)
        row.text(entry.name)
        row.bytes(entry.data)
        row.time(entry.time)
        row.time(entry.savedAt)
        row.word(state)
        row.time(settledAt)
        row.seq(settledBy)
        row.uuid(claimant)
        row.text(reason)
        guard let problem else { return }
        row.word(problem.code)
        row.text(problem.field)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        entry = CustomEntry(
            number: try row.entryNumber(), cause: try row.seq(), kind: try row.name(), way: try EntryWay(reading: &row),
            platform: try row.name(), app: try row.text(), device: try row.text(), externalID: try row.text(),
            name: try row.text(), data: try row.bytes(), time: try row.time(), savedAt: try row.time())
        state = try row.name()
        settledAt = try row.optionalTime()
        settledBy = try row.optionalSeq()
        claimant = try row.optionalUUID()
        if state == .claimed, claimant == nil { throw row.unreadable("an entry is claimed by nobody") }
        let reason = try row.text()
        self.reason = reason
        let code: RejectionCode? = try row.optionalName()
        let field = try row.text() ?? ""
        // The reason of a rejected entry has the field before what is wrong.
        let message = (reason ?? "").dropFirst(field.isEmpty ? 0 : field.count + 2)
        problem = code.map { EntryProblem($0, String(message), field: field) }
    }
}

extension EntryWay {
    @inlinable init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let suite = try row.text()
        if suite != nil { try row.skip(1) }
        let kind: IdentifierKind? = suite == nil ? try row.name() : nil
        let (identifier, label) = (try row.text(), try row.text())
        self =
            switch kind {
            case .externalID: .sent(.externalID(identifier ?? ""))
            case .brazeID: .sent(.brazeID(identifier ?? ""))
            case .alias: .sent(.alias(name: identifier ?? "", label: label ?? ""))
            case nil: .stored(suite: suite ?? "", brazeID: identifier)
            }
    }
}

/// What an identifier is, in the ledger. The raw values are kept there.
public enum IdentifierKind: String, Sendable, CaseIterable {
    case externalID = "external_id"
    case brazeID = "braze_id"
    case alias
}

extension RowWriter {
    fileprivate mutating func identifier(_ kind: IdentifierKind, _ identifier: String, _ label: String? = nil) {
        null()
        word(kind)
        text(identifier)
        text(label)
    }
}
