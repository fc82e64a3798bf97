extension AnalyticsEvent: StoredRecord {
    // The cursor is the order in which events were committed, for who reads on from where they were. No number is
    // given twice: meta has the highest that pruning may have taken.
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
        row.seq(seq)
        row.uuid(id)
        row.word(kind)
        row.integer(time)
        row.seq(delivery)
        row.text(externalUserID)
        row.text(deviceID)
        row.text(appID)
        row.word(platform)
        row.content(content)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        seq = try row.seq()
        id = try row.uuid()
        let kind: Kind = try row.word()
        time = try row.integer(in: StoredRange.time)
        delivery = try row.seq()
        externalUserID = try row.text()
        deviceID = try row.text()
        appID = try row.text()
        platform = try row.word()
        content = try Content(of: kind, reading: &row)
    }
}

extension AnalyticsEvent.Content {
    @inlinable init<Row: RowSource>(of kind: AnalyticsEvent.Kind, reading row: inout Row) throws(Row.Failure) {
        let push = AnalyticsEvent.Push(campaignID: try row.text(), messageID: try row.text())
        let action: ButtonAction? = try row.optionalWord()
        let button = try row.text().map { AnalyticsEvent.Button(id: $0, action: action) }
        let duration = try row.optionalSpan()
        let token = try row.text()
        let change: TokenRequest.Kind? = try row.optionalWord()
        let (name, properties) = (try row.text(), try row.text())
        switch kind {
        case .received: self = .received(push)
        case .open: self = .open(push, button: button)
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

extension RowWriter {
    /// What happened, in nine values of which each kind of event has its own.
    fileprivate mutating func content(_ content: AnalyticsEvent.Content) {
        switch content {
        case .received(let push), .influencedOpen(let push), .iosForeground(let push):
            self.push(push)
            nulls(7)
        case .open(let push, let button):
            self.push(push)
            word(button?.action)
            text(button?.id)
            nulls(5)
        case .sessionStart, .uninstall: nulls(9)
        case .sessionEnd(let duration):
            nulls(4)
            span(duration)
            nulls(4)
        case .tokenStateChange(let change, let token):
            nulls(5)
            text(token)
            word(change)
            nulls(2)
        case .customEvent(let name, let properties):
            nulls(7)
            text(name)
            text(properties)
        }
    }

    private mutating func push(_ push: AnalyticsEvent.Push) {
        text(push.campaignID)
        text(push.messageID)
    }
}
