extension AttributeRecord {
    // Profiles: a state instead of a history, so pruning deletes none. owner: a device if anonymous; value: a JSON
    // text.
    public static let table = LedgerTable(
        "attributes", key: .first(4),
        [
            .integer("anonymous"), .text("owner"), .text("kind"), .text("name"), .text("value"), .integer("set_at"),
            .integer("entry"),
        ])

    /// Reads the values from the ledger, in the order of the columns.
    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (owner, kind, name) = try row.next()
        (value, setAt, entry) = try row.next()
    }
}

/// A row of the log has the operation on a field. The result depends on the field's value, so the ledger's thread
/// computes it when it applies the row.
extension AttributeRow {
    func write(to row: inout RowWriter) {
        row.add(owner, kind, name)
        switch change {
        case .set(let value):
            row.add("set", value)
        case .remove: row.add("remove")
        case .add(let list, let elementsMax):
            row.add("add", elementsMax)
            row.list(list)
        case .drop(let list):
            row.add("drop")
            row.list(list)
        case .increment(let step):
            row.add("increment")
            row.integer(step)
        }
        row.add(at, entry)
    }

    /// Reads the values of a row of the log.
    public init(reading row: inout RowValues) throws(RowError) {
        (owner, kind, name) = try row.next()
        switch try row.next() as String {
        case "set": change = .set(try row.bytes())
        case "remove": change = .remove
        case "add":
            let elementsMax = Int(truncatingIfNeeded: try row.integer())
            change = .add(try row.list(), elementsMax: elementsMax)
        case "drop": change = .drop(try row.list())
        case "increment": change = .increment(try row.integer())
        case let other: throw RowError(message: "unknown change of a field: '\(other)'")
        }
        (at, entry) = try row.next()
    }
}

/// Whether the owner is a device, then the user or device.
extension ProfileOwner: StoredValue {
    public func write(to row: inout RowWriter) {
        switch self {
        case .user(let user): row.add(false, user)
        case .device(let device): row.add(true, device)
        }
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let (isDevice, owner): (Bool, String) = try row.next()
        self = isDevice ? .device(owner) : .user(owner)
    }
}

extension RowWriter {
    fileprivate mutating func list(_ list: [[UInt8]]) {
        add(list.count)
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
    // The state of sending to the endpoint: one row, or none before the first report.
    public static let table = LedgerTable(
        "sending", key: .one,
        [
            .name("phase", Phase.self), .text("reason").orNull, .integer("failures"), .integer("until_at").orNull,
            .integer("since_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(phase, reason, failures)
        row.add(until, since)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let failures: Int32
        (phase, reason, failures) = try row.next()
        self.failures = Int(failures)
        (until, since) = try row.next()
    }
}
