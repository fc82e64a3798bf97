extension AnalyticsEvent: StoredRecord {
    // cursor: the order in which events were committed, for readers that resume from a position. No number is assigned
    // twice: the table meta has the highest one that pruning may have deleted.
    public static let table = LedgerTable(
        "events", rows: "event_rows", key: .given("cursor"),
        [
            .integer("seq"), .bytes("id"), .word("kind", Kind.self), .integer("time"), .integer("delivery"),
            .text("external_user_id").orNull, .text("device_id").orNull, .shared("app_id").orNull,
            .word("platform", Platform.self), .shared("campaign_id").orNull, .text("message_id").orNull,
            .word("button_action_type", ButtonAction.self).orNull, .text("button_string").orNull,
            .integer("duration_us").orNull, .text("push_token").orNull,
            .word("token_change", TokenRequest.Kind.self).orNull, .text("name").orNull, .text("properties").orNull,
        ])

    @inline(__always) public func write(to row: inout RowWriter) {
        row.add(seq, id, kind)
        row.integer(time)
        row.add(delivery, externalUserID, deviceID, appID)
        row.add(platform)
        row.content(content)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let kind: Kind
        (seq, id, kind) = try row.next()
        time = try row.integer(in: StoredRange.time)
        (delivery, externalUserID, deviceID, appID) = try row.next()
        platform = try row.next()
        content = try Content(of: kind, reading: &row)
    }
}

extension AnalyticsEvent.Content {
    @inlinable init<Row: RowSource>(of kind: AnalyticsEvent.Kind, reading row: inout Row) throws(Row.Failure) {
        let push: AnalyticsEvent.Push = try row.next()
        let (action, buttonID): (ButtonAction?, String?) = try row.next()
        let (duration, token, change): (Duration?, String?, TokenRequest.Kind?) = try row.next()
        let (name, properties): (String?, String?) = try row.next()
        switch kind {
        case .received: self = .received(push)
        case .open: self = .open(push, button: buttonID.map { .init(id: $0, action: action) })
        case .influencedOpen: self = .influencedOpen(push)
        case .iosForeground: self = .iosForeground(push)
        case .sessionStart: self = .sessionStart
        case .sessionEnd: self = .sessionEnd(duration ?? .zero)
        case .tokenStateChange:
            guard let change else { throw row.unreadable("the event has no token_change") }
            self = .tokenStateChange(change, token: token)
        case .uninstall: self = .uninstall
        case .customEvent: self = .customEvent(name: name ?? "", properties: properties)
        }
    }
}

extension AnalyticsEvent.Push: StoredValue {
    @inline(__always) public func write(to row: inout RowWriter) { row.add(campaignID, messageID) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (campaignID, messageID) = try row.next()
    }
}

extension RowWriter {
    /// Writes the facts of an event in nine values, with NULL for those of other kinds.
    fileprivate mutating func content(_ content: AnalyticsEvent.Content) {
        switch content {
        case .received(let push), .influencedOpen(let push), .iosForeground(let push):
            add(push)
            nulls(7)
        case .open(let push, let button):
            add(push, button?.action, button?.id)
            nulls(5)
        case .sessionStart, .uninstall: nulls(9)
        case .sessionEnd(let duration):
            nulls(4)
            add(duration)
            nulls(4)
        case .tokenStateChange(let change, let token):
            nulls(5)
            add(token, change)
            nulls(2)
        case .customEvent(let name, let properties):
            nulls(7)
            add(name, properties)
        }
    }
}

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

extension TrackedRow: StoredRecord {
    // Deliveries that the tracker remembers. event: the cursor of the receipt, which has the other facts; the order of
    // cursors is the order in which the tracker took the deliveries over. A row of the log has the number of the
    // receipt before these columns.
    public static let table = LedgerTable(
        "tracked_deliveries", key: .given("event"),
        [
            .integer("received_at"), .integer("since_at"), .integer("displayed"), .integer("own_id"),
            .text("unique_id").orNull, .integer("digest").orNull, .bytes("buttons"), .integer("opened_at").orNull,
            .integer("opened_by").orNull, .integer("influenced"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(seq, receivedAt, since)
        row.add(isDisplayed, hasOwnID, uniqueID, digest)
        row.add(buttons, opened, isInfluenced)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (seq, receivedAt, since) = try row.next()
        (isDisplayed, hasOwnID, uniqueID, digest) = try row.next()
        (buttons, opened, isInfluenced) = try row.next()
    }
}

extension TrackedRow.Opening: StoredValue {
    @inlinable public static var count: Int { 2 }

    public func write(to row: inout RowWriter) { row.add(at, by) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (at, by) = try row.next()
    }
}
