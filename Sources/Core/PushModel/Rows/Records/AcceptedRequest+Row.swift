extension AcceptedRequest: StoredRecord {
    // transport is what brought a delivery, original_priority how urgent FCM took it for; NULL for what is no delivery.
    // replay_of is the request of which this one is a replay; NULL for what a producer sent.
    public static let table = LedgerTable(
        "requests", rows: "request_rows",
        [
            .integer("seq"), .word("operation", Operation.self), .text("id").orNull, .integer("uid"), .integer("gid"),
            .integer("pid"), .integer("accepted_at"), .integer("accepted_ns"), .shared("boot"),
            .word("mode", DispatchMode.self), .word("platform", Platform.self), .shared("app").orNull,
            .text("device").orNull, .text("external_id").orNull, .text("message_id").orNull, .bytes("body"),
            .word("state", AppState.self).orNull, .text("duplicate_id").orNull, .integer("tracked").or(0),
            .word("transport", Transport.self).orNull, .word("original_priority", MessagePriority.self).orNull,
            .word("delivered_priority", MessagePriority.self).orNull, .integer("replay_of").orNull,
        ])

    @inline(__always) public func write(to row: inout RowWriter) {
        row.seq(seq)
        row.word(operation)
        row.text(id)
        row.number(peer.uid)
        row.number(peer.gid)
        row.number(peer.pid)
        row.time(acceptedAt.wall)
        row.instant(acceptedAt.monotonic)
        row.uuid(boot)
        row.word(mode)
        row.word(platform)
        row.text(app)
        row.text(device)
        row.text(externalID)
        row.text(messageID)
        row.bytes(body)
        row.word(state)
        row.text(duplicateID)
        row.flag(isTracked)
        row.word(transport)
        row.word(originalPriority)
        row.word(deliveredPriority)
        row.seq(replayOf)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        seq = try row.seq()
        operation = try row.word()
        id = try row.text()
        peer = Peer(uid: try row.number(), gid: try row.number(), pid: try row.number())
        let wall = try row.time()
        acceptedAt = Moment(monotonic: try row.instant(), wall: wall)
        boot = try row.uuid()
        mode = try row.word()
        platform = try row.word()
        app = try row.text()
        device = try row.text()
        externalID = try row.text()
        messageID = try row.text()
        body = try row.bytes()
        state = try row.optionalWord()
        duplicateID = try row.text()
        isTracked = try row.flag()
        transport = try row.optionalWord()
        originalPriority = try row.optionalWord()
        deliveredPriority = try row.optionalWord()
        replayOf = try row.optionalSeq()
    }
}
