// What was last said of each device, its session, and the session starts of each user. No app is the empty text. Keys
// that grow instead of texts: rows that are new lie side by side, not each on a page of its own. A number is that of
// the request that made the row. An index on the texts would write those pages after all: nobody looks a row up by
// them.

extension KnownDevice: StoredRecord {
    public static let table = LedgerTable(
        "devices",
        [
            .integer("number"), .text("app"), .text("device"), .name("platform", Platform.self),
            .text("external_id").orNull,
        ])

    public func write(to row: inout RowWriter) {
        row.seq(number)
        row.deviceKey(key)
        row.word(platform)
        row.text(externalID)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init(
            number: try row.seq(), key: try row.deviceKey(), platform: try row.name(), externalID: try row.text())
    }
}

extension SessionRow: StoredRecord {
    public static let table = LedgerTable(
        "sessions",
        [
            .integer("number"), .text("app"), .text("device"), .name("platform", Platform.self),
            .text("external_id").orNull, .integer("started_at"), .integer("ended_at").orNull,
            .integer("ended_by").orNull, .integer("end_due_at").orNull, .integer("since_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.seq(number)
        row.deviceKey(key)
        row.word(platform)
        row.text(externalID)
        row.time(startedAt)
        row.time(end?.at)
        row.seq(end?.by)
        row.time(end?.due)
        row.time(since)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        number = try row.seq()
        key = try row.deviceKey()
        platform = try row.name()
        externalID = try row.text()
        startedAt = try row.time()
        end = row.isNull ? nil : End(at: try row.time(), by: try row.seq(), due: try row.time())
        if end == nil { try row.skip(3) }
        since = try row.time()
    }
}

extension StartsRow: StoredRecord {
    // starts is at most ten times, eight bytes each, the most significant one first.
    public static let table = LedgerTable(
        "session_starts",
        [
            .integer("number"), .text("app"), .integer("anonymous"), .text("owner"), .bytes("starts"),
            .integer("since_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.seq(number)
        row.text(key.app ?? "")
        row.flag(key.isAnonymous)
        row.text(key.owner)
        row.bytes(starts.flatMap { start in withUnsafeBytes(of: start.milliseconds.bigEndian) { Array($0) } })
        row.time(since)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        number = try row.seq()
        let app = try row.app()
        let isAnonymous = try row.flag()
        key = Key(owner: try row.text() ?? "", isAnonymous: isAnonymous, app: app)
        let bytes = try row.bytes()
        guard bytes.count % 8 == 0 else { throw row.unreadable("\(bytes.count) bytes are no list of times") }
        starts = []
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let time = Int64(bitPattern: bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
            guard StoredRange.time.contains(time) else { throw row.unreadable("no row has the time \(time) there") }
            starts.append(WallTime(milliseconds: time))
        }
        since = try row.time()
    }
}
