import PushModel

/// How rows of custom data become columns and columns become rows: one order of columns for both ways.
enum CustomDataColumns {
    static let entry = """
        entries.number, entries.cause, entries.kind, entries.suite, entries.identifier_kind, entries.identifier, \
        entries.identifier_label, entries.platform, entries.app, entries.device, entries.external_id, entries.name, \
        entries.data, entries.time, entries.saved_at, entries.state, entries.settled_at, entries.settled_by, \
        entries.claimant, entries.reason
        """
    static let entryCount: Int32 = 20
    /// The parameter that is the data: it is bound apart, without a copy.
    static let entryData: Int32 = 13

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

/// What an identifier is, in `entries`. The raw values are kept in ledgers.
private enum IdentifierKind: String {
    case externalID = "external_id"
    case brazeID = "braze_id"
    case alias
}

// Parameters: ?1 is column 0.
extension Statement {
    /// Binds all of a new entry but its data.
    mutating func bind(_ entry: CustomEntry, _ state: EntryState, reason: String?) {
        bind(entry.number.value, at: 1)
        bind(entry.cause.value, at: 2)
        bind(entry.kind.rawValue, at: 3)
        bind(entry.way)
        bind(entry.platform.rawValue, at: 8)
        bind(entry.app, at: 9)
        bind(entry.device, at: 10)
        bind(entry.externalID, at: 11)
        bind(entry.name, at: 12)
        bind(entry.time.milliseconds, at: 14)
        bind(entry.savedAt.milliseconds, at: 15)
        bind(state.rawValue, at: 16)
        bind(reason, at: 20)
    }

    private mutating func bind(_ way: EntryWay) {
        // Every parameter keeps the value of the run before, so all are bound, as they are or as NULL.
        var (suite, kind, identifier, label): (String?, IdentifierKind?, String?, String?)
        switch way {
        case .stored(let name, let brazeID?): (suite, kind, identifier) = (name, .brazeID, brazeID)
        case .stored(let name, nil): suite = name
        case .sent(.externalID(let id)): (kind, identifier) = (.externalID, id)
        case .sent(.brazeID(let id)): (kind, identifier) = (.brazeID, id)
        case .sent(.alias(let name, let aliasLabel)): (kind, identifier, label) = (.alias, name, aliasLabel)
        }
        bind(suite, at: 4)
        bind(kind?.rawValue, at: 5)
        bind(identifier, at: 6)
        bind(label, at: 7)
    }

    /// Binds the columns that a move changes, and the number to `?1`.
    mutating func bind(_ move: EntryMove) {
        bind(move.number.value, at: 1)
        bind(move.state.rawValue, at: 2)
        bind(move.at.milliseconds, at: 3)
        bind(move.by?.value, at: 4)
        if let claimant = move.claimant { bind(claimant, at: 5) } else { bind(nil as Int64?, at: 5) }
        bind(move.reason, at: 6)
    }

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

    mutating func bind(_ sending: SendingState) {
        bind(sending.phase.rawValue, at: 1)
        bind(sending.reason, at: 2)
        bind(Int64(sending.failures), at: 3)
        bind(sending.until?.milliseconds, at: 4)
        bind(sending.since.milliseconds, at: 5)
    }
}

// Columns: each reads the columns of its list above, which start at 0.
extension Statement {
    func entryRecord() throws(StoreError) -> EntryRecord {
        EntryRecord(
            entry: CustomEntry(
                number: EntryNumber(integer(0)), cause: SequenceNumber(integer(1)), kind: try name(2), way: try way(),
                platform: try name(7), app: text(8), device: text(9), externalID: text(10), name: text(11),
                data: bytes(12), time: WallTime(milliseconds: integer(13)),
                savedAt: WallTime(milliseconds: integer(14))),
            state: try name(15), settledAt: isNull(16) ? nil : WallTime(milliseconds: integer(16)),
            settledBy: isNull(17) ? nil : SequenceNumber(integer(17)), claimant: isNull(18) ? nil : try uuid(18),
            reason: text(19))
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
            value: text(4) ?? "", setAt: WallTime(milliseconds: integer(5)), entry: EntryNumber(integer(6)))
    }

    func sendingState() throws(StoreError) -> SendingState {
        SendingState(
            phase: try name(0), reason: text(1), failures: try number(2),
            until: isNull(3) ? nil : WallTime(milliseconds: integer(3)), since: WallTime(milliseconds: integer(4)))
    }
}
