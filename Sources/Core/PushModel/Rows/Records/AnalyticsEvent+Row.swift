extension AnalyticsEvent: StoredRecord {
    // cursor is the order in which events were committed; a reader continues after its last cursor. No cursor is
    // assigned twice: the table meta has the highest one, which pruning may have deleted.
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
    /// Writes the nine columns of an event's content; each kind of event uses its own ones.
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
