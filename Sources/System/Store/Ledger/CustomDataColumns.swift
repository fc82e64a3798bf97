import PushModel

/// The columns of custom data, in the order of the values in rows, and how they become records again.
enum CustomDataColumns {
    static let entry = """
        entries.number, entries.cause, entries.kind, entries.suite, entries.identifier_kind, entries.identifier, \
        entries.identifier_label, entries.platform, entries.app, entries.device, entries.external_id, entries.name, \
        entries.data, entries.time, entries.saved_at, entries.state, entries.settled_at, entries.settled_by, \
        entries.claimant, entries.reason, entries.reason_code, entries.field
        """
    /// The columns of a new entry's row; what is wrong with it has a row of its own.
    static let entryCount: Int32 = 20

    static let attribute = """
        attributes.anonymous, attributes.owner, attributes.kind, attributes.name, attributes.value, attributes.set_at, \
        attributes.entry
        """

    static let sending = "sending.phase, sending.reason, sending.failures, sending.until_at, sending.since_at"

    /// What a restart gives back: the condition of the index of that name, word for word.
    static let isUnfinished = "state IN ('pending', 'queued', 'claimed', 'unknown')"
    /// What came to its end: the condition of the index of that name, word for word.
    static let isFinished = "state IN ('flushed', 'sent', 'rejected', 'discarded')"
}

// Parameters: ?1 is column 0.
extension Statement {
    /// Binds the key of `attributes`.
    mutating func bind(keyOf row: AttributeRow) {
        bind(row.owner)
        bind(row.kind.rawValue, at: 3)
        bind(row.name, at: 4)
    }

    /// Binds whose a profile is to `?1` and `?2`.
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

// Columns: each reads the columns of its list above, which start at 0.
extension Statement {
    func entryRecord() throws(StoreError) -> EntryRecord {
        let state: EntryState = try name(15)
        guard state != .claimed || !isNull(18) else { throw unreadable(18, "an entry is claimed by nobody") }
        return EntryRecord(
            entry: CustomEntry(
                number: EntryNumber(try integer(0, in: StoredRange.number)), cause: try seq(1), kind: try name(2),
                way: try way(),
                platform: try name(7), app: text(8), device: text(9), externalID: text(10), name: text(11),
                data: bytes(12), time: try time(13),
                savedAt: try time(14)),
            state: state, settledAt: isNull(16) ? nil : try time(16),
            settledBy: try optionalSeq(17), claimant: isNull(18) ? nil : try uuid(18),
            reason: text(19), problem: try problem())
    }

    /// The reason of a rejected entry has the field before what is wrong.
    private func problem() throws(StoreError) -> EntryProblem? {
        guard !isNull(20) else { return nil }
        let (field, reason) = (text(21) ?? "", text(19) ?? "")
        let message = field.isEmpty ? reason[...] : reason.dropFirst(field.count + 2)
        return EntryProblem(try name(20), String(message), field: field)
    }

    private func way() throws(StoreError) -> EntryWay {
        if let suite = text(3) { return .stored(suite: suite, brazeID: text(5)) }
        let identifier = text(5) ?? ""
        let kind: IdentifierKind = try name(4)
        return switch kind {
        case .externalID: .sent(.externalID(identifier))
        case .brazeID: .sent(.brazeID(identifier))
        case .alias: .sent(.alias(name: identifier, label: text(6) ?? ""))
        }
    }

    func attributeRecord() throws(StoreError) -> AttributeRecord {
        let owner = text(1) ?? ""
        return AttributeRecord(
            owner: integer(0) == 0 ? .user(owner) : .device(owner), kind: try name(2), name: text(3) ?? "",
            value: text(4) ?? "", setAt: try time(5), entry: EntryNumber(try integer(6, in: StoredRange.number)))
    }

    func sendingState() throws(StoreError) -> SendingState {
        SendingState(
            phase: try name(0), reason: text(1), failures: Int(try integer(2, in: 0...Int64(Int32.max))),
            until: isNull(3) ? nil : try time(3), since: try time(4))
    }
}
