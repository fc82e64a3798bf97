extension InteractionRow: StoredRecord {
    // What became of each interaction with a notification of the tracker's. cause is the request.
    public static let table = LedgerTable(
        "interactions",
        [
            .integer("cause"), .integer("delivery").orNull, .name("verdict", Interaction.Verdict.self),
            .text("button").orNull, .name("button_action", ButtonAction.self).orNull, .integer("at"),
        ])

    public func write(to row: inout RowWriter) {
        row.seq(cause)
        row.seq(delivery)
        row.word(verdict)
        row.text(button)
        row.word(buttonAction)
        row.time(at)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(
            cause: try row.seq(), delivery: try row.optionalSeq(), verdict: try row.name(), button: try row.text(),
            buttonAction: try row.optionalName(), at: try row.time())
    }
}

// What waits for the end of the grace: a few rows at any time.

extension PendingStart: StoredRecord {
    public static let table = LedgerTable(
        "pending_starts",
        [
            .integer("cause"), .text("app"), .text("device"), .text("external_id").orNull, .integer("at"),
            .integer("window_ms"), .integer("due_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.seq(cause)
        row.deviceKey(key)
        row.text(externalID)
        row.time(at)
        row.integer(window)
        row.time(due)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(
            cause: try row.seq(), key: try row.deviceKey(), externalID: try row.text(), at: try row.time(),
            window: try row.integer(in: StoredRange.time), due: try row.time())
    }
}

extension HeldInteraction: StoredRecord {
    public static let table = LedgerTable(
        "held_interactions",
        [
            .integer("cause"), .integer("delivery").orNull, .text("message_id").orNull, .integer("digest").orNull,
            .name("act", acts), .text("button").orNull, .name("platform", Platform.self),
            .text("app").orNull, .text("device").orNull, .text("external_id").orNull, .integer("at"),
            .integer("due_at"),
        ])

    @usableFromInline static let acts = ["opened", "button", "dismissed"]

    public func write(to row: inout RowWriter) {
        row.seq(interaction.cause)
        switch interaction.subject {
        case .delivery(let seq):
            row.seq(seq)
            row.nulls(2)
        case .message(let id):
            row.null()
            row.text(id)
            row.null()
        case .payload(let digest):
            row.nulls(2)
            row.digest(digest)
        }
        switch interaction.act {
        case .opened: row.text("opened")
        case .button: row.text("button")
        case .dismissed: row.text("dismissed")
        }
        if case .button(let id) = interaction.act { row.text(id) } else { row.null() }
        row.word(interaction.platform)
        row.text(interaction.app)
        row.text(interaction.device)
        row.text(interaction.externalID)
        row.time(interaction.at)
        row.time(due)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let cause = try row.seq()
        let (delivery, message, digest) = (try row.optionalSeq(), try row.text(), try row.optionalDigest())
        let subject: Interaction.Subject =
            if let message {
                .message(message)
            } else if let delivery {
                .delivery(delivery)
            } else {
                .payload(digest ?? 0)
            }
        let name = try row.text() ?? ""
        guard Self.acts.contains(name) else { throw row.unreadable("'\(name)' is nothing that a person does") }
        let button = try row.text() ?? ""
        let act: Interaction.Act = name == "opened" ? .opened : name == "button" ? .button(button) : .dismissed
        interaction = Interaction(
            cause: cause, subject: subject, act: act, platform: try row.name(), app: try row.text(),
            device: try row.text(), externalID: try row.text(), at: try row.time())
        due = try row.time()
    }
}
