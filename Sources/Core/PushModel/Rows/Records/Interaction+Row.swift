extension InteractionRow: StoredRecord {
    // The tracker's verdict on each interaction with one of its notifications. cause: the request.
    public static let table = LedgerTable(
        "interactions",
        [
            .integer("cause"), .integer("delivery").orNull, .name("verdict", Interaction.Verdict.self),
            .text("button").orNull, .name("button_action", ButtonAction.self).orNull, .integer("at"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(cause, delivery, verdict)
        row.add(button, buttonAction, at)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (cause, delivery, verdict) = try row.next()
        (button, buttonAction, at) = try row.next()
    }
}

// Rows that wait for the end of the grace: a few at any time.

extension PendingStart: StoredRecord {
    public static let table = LedgerTable(
        "pending_starts",
        [
            .integer("cause"), .text("app"), .text("device"), .text("external_id").orNull, .integer("at"),
            .integer("window_ms"), .integer("due_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(cause, key, externalID, at)
        row.integer(window)
        row.add(due)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (cause, key, externalID, at) = try row.next()
        window = try row.integer(in: StoredRange.time)
        due = try row.next()
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
        row.add(interaction.cause)
        switch interaction.subject {
        case .delivery(let seq):
            row.add(seq)
            row.nulls(2)
        case .message(let id): row.add(SequenceNumber?.none, id, UInt64?.none)
        case .payload(let digest):
            row.nulls(2)
            row.add(digest)
        }
        switch interaction.act {
        case .opened: row.add("opened", String?.none)
        case .button(let id): row.add("button", id)
        case .dismissed: row.add("dismissed", String?.none)
        }
        row.add(interaction.platform, interaction.app, interaction.device, interaction.externalID)
        row.add(interaction.at, due)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let cause: SequenceNumber = try row.next()
        let (delivery, message, digest): (SequenceNumber?, String?, UInt64?) = try row.next()
        let subject: Interaction.Subject =
            if let message {
                .message(message)
            } else if let delivery {
                .delivery(delivery)
            } else {
                .payload(digest ?? 0)
            }
        let name: String = try row.next()
        guard Self.acts.contains(name) else { throw row.unreadable("unknown interaction '\(name)'") }
        let button: String = try row.next()
        let act: Interaction.Act = name == "opened" ? .opened : name == "button" ? .button(button) : .dismissed
        interaction = Interaction(
            cause: cause, subject: subject, act: act, platform: try row.next(), app: try row.next(),
            device: try row.next(), externalID: try row.next(), at: try row.next())
        due = try row.next()
    }
}
