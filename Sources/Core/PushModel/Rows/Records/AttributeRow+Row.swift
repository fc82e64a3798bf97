extension AttributeRecord {
    // Profiles: a state, not a history, so nothing is ever pruned. owner is a device where it is anonymous; value is
    // a JSON text.
    public static let table = LedgerTable(
        "attributes", key: .first(4),
        [
            .integer("anonymous"), .text("owner"), .text("kind"), .text("name"), .text("value"), .integer("set_at"),
            .integer("entry"),
        ])

    /// Takes the values out of the ledger, in the order of the columns.
    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(
            owner: try row.profileOwner(), kind: try row.name(), name: try row.text() ?? "",
            value: try row.text() ?? "", setAt: try row.time(), entry: try row.entryNumber())
    }
}

/// A row of the log has what is done to a field: what becomes of it depends on what it is, so the value itself is made where
/// the row is applied.
extension AttributeRow {
    func write(to row: inout RowWriter) {
        switch owner {
        case .user(let user):
            row.flag(false)
            row.text(user)
        case .device(let device):
            row.flag(true)
            row.text(device)
        }
        row.word(kind)
        row.text(name)
        switch change {
        case .set(let value):
            row.text("set")
            row.bytes(value)
        case .remove: row.text("remove")
        case .add(let list, let elementsMax):
            row.text("add")
            row.number(elementsMax)
            row.list(list)
        case .drop(let list):
            row.text("drop")
            row.list(list)
        case .increment(let step):
            row.text("increment")
            row.integer(step)
        }
        row.time(at)
        row.integer(entry.value)
    }

    /// Takes the values out of a row of the log.
    public init(reading row: inout RowValues) throws(RowError) {
        owner = try row.profileOwner()
        kind = try row.name()
        name = try row.text() ?? ""
        switch try row.text() ?? "" {
        case "set": change = .set(try row.bytes())
        case "remove": change = .remove
        case "add":
            let elementsMax = Int(truncatingIfNeeded: try row.integer())
            change = .add(try row.list(), elementsMax: elementsMax)
        case "drop": change = .drop(try row.list())
        case "increment": change = .increment(try row.integer())
        case let other: throw RowError(message: "'\(other)' is no change of a field")
        }
        at = try row.time()
        entry = try row.entryNumber()
    }
}

extension RowSource {
    /// Whether a profile is a device's, then whose it is.
    @inlinable mutating func profileOwner() throws(Failure) -> ProfileOwner {
        let isDevice = try flag()
        let owner = try text() ?? ""
        return isDevice ? .device(owner) : .user(owner)
    }
}

extension RowWriter {
    fileprivate mutating func list(_ list: [[UInt8]]) {
        number(list.count)
        for value in list { bytes(value) }
    }
}

extension RowValues {
    fileprivate mutating func list() throws(RowError) -> [[UInt8]] {
        var values: [[UInt8]] = []
        for _ in 0..<max(0, try integer()) {
            guard !isAtEnd else { throw RowError(message: "a list ends before its last value") }
            values.append(try bytes())
        }
        return values
    }
}

extension SendingState: StoredRecord {
    // How sending to the endpoint goes: one row, or none before it ever did.
    public static let table = LedgerTable(
        "sending", key: .one,
        [
            .name("phase", Phase.self), .text("reason").orNull, .integer("failures"), .integer("until_at").orNull,
            .integer("since_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.word(phase)
        row.text(reason)
        row.number(failures)
        row.time(until)
        row.time(since)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(
            phase: try row.name(), reason: try row.text(), failures: Int(try row.number() as Int32),
            until: try row.optionalTime(), since: try row.time())
    }
}
