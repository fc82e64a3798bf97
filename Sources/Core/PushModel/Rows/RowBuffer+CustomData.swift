// The values of the rows of custom data, in the order of the ledger's columns (Store: `CustomDataColumns`).
extension RowBuffer {
    /// Appends a change of what is known of custom data.
    public func append(_ record: CustomDataRecord) {
        switch record {
        case .entry(let entry, let state, let problem):
            append(entry, state, reason: problem?.text)
            if let problem { append(problem, of: entry.number) }
        case .moved(let move): append(move)
        case .attribute(let row): append(row)
        case .sending(let state): append(state)
        }
    }

    private func append(_ entry: CustomEntry, _ state: EntryState, reason: String?) {
        append(.entry) { values in
            values.integer(entry.number.value)
            values.integer(entry.cause.value)
            values.text(entry.kind.rawValue)
            let way = entry.way.columns
            values.text(way.suite)
            values.text(way.identifierKind?.rawValue)
            values.text(way.identifier)
            values.text(way.label)
            values.text(entry.platform.rawValue)
            values.text(entry.app)
            values.text(entry.device)
            values.text(entry.externalID)
            values.text(entry.name)
            values.bytes(entry.data)
            values.integer(entry.time.milliseconds)
            values.integer(entry.savedAt.milliseconds)
            values.text(state.rawValue)
            values.null()
            values.null()
            values.null()
            values.text(reason)
        }
    }

    private func append(_ problem: EntryProblem, of entry: EntryNumber) {
        append(.entryProblem) { values in
            values.integer(entry.value)
            values.text(problem.code.rawValue)
            values.text(problem.field)
        }
    }

    private func append(_ move: EntryMove) {
        append(.entryMove) { values in
            values.integer(move.number.value)
            values.text(move.state.rawValue)
            values.integer(move.at.milliseconds)
            values.integer(move.by?.value)
            if let claimant = move.claimant { values.uuid(claimant) } else { values.null() }
            values.text(move.reason)
        }
    }

    /// The key, what is done and with what, when, and by which entry. What is done depends on the field as it is, so the
    /// value itself is made where the row is applied.
    private func append(_ row: AttributeRow) {
        append(.attribute) { values in
            switch row.owner {
            case .user(let user):
                values.flag(false)
                values.text(user)
            case .device(let device):
                values.flag(true)
                values.text(device)
            }
            values.text(row.kind.rawValue)
            values.text(row.name)
            row.change.write(to: &values)
            values.integer(row.at.milliseconds)
            values.integer(row.entry.value)
        }
    }

    private func append(_ state: SendingState) {
        append(.sending) { values in
            values.text(state.phase.rawValue)
            values.text(state.reason)
            values.integer(Int64(state.failures))
            values.integer(state.until?.milliseconds)
            values.integer(state.since.milliseconds)
        }
    }
}

extension RowValues {
    /// A change of a field of a profile, as its row has it.
    public mutating func attributeRow() throws(RowError) -> AttributeRow {
        let isDevice = try integer() != 0
        let owner = try text()
        return AttributeRow(
            owner: isDevice ? .device(owner) : .user(owner), kind: try name(EntryKind.self), name: try text(),
            change: try attributeChange(), at: WallTime(milliseconds: try integer()),
            entry: EntryNumber(try integer()))
    }

    private mutating func attributeChange() throws(RowError) -> AttributeChange {
        switch try text() {
        case "set": return .set(try optionalBytes() ?? [])
        case "remove": return .remove
        case "add":
            let elementsMax = Int(truncatingIfNeeded: try integer())
            return .add(try list(), elementsMax: elementsMax)
        case "drop": return .drop(try list())
        case "increment": return .increment(try integer())
        case let other: throw RowError(message: "'\(other)' is no change of a field")
        }
    }

    private mutating func list() throws(RowError) -> [[UInt8]] {
        var values: [[UInt8]] = []
        for _ in 0..<max(0, try integer()) { values.append(try optionalBytes() ?? []) }
        return values
    }
}

extension AttributeChange {
    fileprivate func write(to values: inout RowWriter) {
        switch self {
        case .set(let value):
            values.text("set")
            values.bytes(value)
        case .remove: values.text("remove")
        case .add(let list, let elementsMax):
            values.text("add")
            values.integer(Int64(elementsMax))
            Self.write(list, to: &values)
        case .drop(let list):
            values.text("drop")
            Self.write(list, to: &values)
        case .increment(let step):
            values.text("increment")
            values.integer(step)
        }
    }

    private static func write(_ list: [[UInt8]], to values: inout RowWriter) {
        values.integer(Int64(list.count))
        for value in list { values.bytes(value) }
    }
}

/// What an identifier is, in the ledger. The raw values are kept there.
public enum IdentifierKind: String, Sendable, CaseIterable {
    case externalID = "external_id"
    case brazeID = "braze_id"
    case alias
}

extension EntryWay {
    /// How the ledger has it: the suite where it is stored, and the identifier of the profile in three columns.
    public var columns: (suite: String?, identifierKind: IdentifierKind?, identifier: String?, label: String?) {
        switch self {
        case .stored(let suite, let brazeID?): (suite, .brazeID, brazeID, nil)
        case .stored(let suite, nil): (suite, nil, nil, nil)
        case .sent(.externalID(let id)): (nil, .externalID, id, nil)
        case .sent(.brazeID(let id)): (nil, .brazeID, id, nil)
        case .sent(.alias(let name, let label)): (nil, .alias, name, label)
        }
    }
}
