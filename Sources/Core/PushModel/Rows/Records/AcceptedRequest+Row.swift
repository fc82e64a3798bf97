extension AcceptedRequest: StoredRecord {
    // transport is the service that brought a delivery, original_priority the priority with which it was sent over FCM;
    // both are NULL for other requests. replay_of is the request of which this one is a replay; NULL for a request of a
    // producer.
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
        row.add(seq, operation, id, peer)
        row.add(acceptedAt.wall, acceptedAt.monotonic, boot)
        row.add(mode, platform, app)
        row.add(device, externalID, messageID, body)
        row.add(state, duplicateID, isTracked)
        row.add(transport, originalPriority, deliveredPriority, replayOf)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (seq, operation, id, peer) = try row.next()
        let (wall, monotonic): (WallTime, Instant) = try row.next()
        acceptedAt = Moment(monotonic: monotonic, wall: wall)
        boot = try row.next()
        (mode, platform, app) = try row.next()
        (device, externalID, messageID, body) = try row.next()
        (state, duplicateID, isTracked) = try row.next()
        (transport, originalPriority, deliveredPriority, replayOf) = try row.next()
    }
}

extension Peer: StoredValue {
    @inlinable public static var count: Int { 3 }

    @inline(__always) public func write(to row: inout RowWriter) { row.add(uid, gid, pid) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let (uid, gid, pid): (UInt32, UInt32, Int32) = try row.next()
        self.init(uid: uid, gid: gid, pid: pid)
    }
}
