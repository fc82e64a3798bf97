// The last known facts of each device, its session, and the session starts of each user. The empty text stands for no
// app. The keys are increasing numbers instead of texts, so that new rows share pages instead of touching one page
// each. A number is that of the request that made the row. There is no index on the texts: it would write those pages
// after all, and no query looks a row up by them.

extension KnownDevice: StoredRecord {
    public static let table = LedgerTable(
        "devices",
        [
            .integer("number"), .text("app"), .text("device"), .name("platform", Platform.self),
            .text("external_id").orNull, .text("token").orNull, .text("topics").orNull,
            .name("state", AppState.self).orNull, .integer("locked").orNull, .text("os_version").orNull,
            .name("notifications", NotificationPermission.self).orNull, .name("sdk", SDKState.self).orNull,
        ])

    // A row ends before the token if it has no value from there on, like the rows written before the column existed.
    public func write(to row: inout RowWriter) {
        row.add(number, key, platform, externalID)
        guard token != nil || hasDetail else { return }
        row.add(token)
        guard hasDetail else { return }
        row.add(detail.topics.columnText)
        row.add(detail.state)
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (number, key, platform, externalID) = try row.next()
        token = try row.next()
        var detail = DeviceDetail()
        if let text: String = try row.next() {
            guard let topics = [Subscription](columnText: text) else { throw row.unreadable("unreadable topics") }
            detail.topics = topics
        }
        detail.state = try row.next()
        self.detail = detail
    }
}

extension DeviceState: StoredValue {
    public static var count: Int { 5 }

    public func write(to row: inout RowWriter) {
        row.add(state, locked, osVersion)
        row.add(notifications, sdk)
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        self.init()
        (state, locked, osVersion) = try row.next()
        (notifications, sdk) = try row.next()
    }
}

extension NotificationPermission: StoredName {}
extension SDKState: StoredName {}

extension SessionRow: StoredRecord {
    public static let table = LedgerTable(
        "sessions",
        [
            .integer("number"), .text("app"), .text("device"), .name("platform", Platform.self),
            .text("external_id").orNull, .integer("started_at"), .integer("ended_at").orNull,
            .integer("ended_by").orNull, .integer("end_due_at").orNull, .integer("since_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(number, key, platform, externalID)
        row.add(startedAt, end, since)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (number, key, platform, externalID) = try row.next()
        (startedAt, end, since) = try row.next()
    }
}

extension SessionRow.End: StoredValue {
    @inlinable public static var count: Int { 3 }

    public func write(to row: inout RowWriter) { row.add(at, by, due) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (at, by, due) = try row.next()
    }
}

extension StartsRow: StoredRecord {
    // starts: at most ten times of eight bytes each, big-endian.
    public static let table = LedgerTable(
        "session_starts",
        [
            .integer("number"), .text("app"), .integer("anonymous"), .text("owner"), .bytes("starts"),
            .integer("since_at"),
        ])

    public func write(to row: inout RowWriter) {
        row.add(number, key.app ?? "", key.isAnonymous, key.owner)
        row.bytes(starts.flatMap { start in withUnsafeBytes(of: start.milliseconds.bigEndian) { Array($0) } })
        row.add(since)
    }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let (app, isAnonymous, owner): (String, Bool, String)
        (number, app, isAnonymous, owner) = try row.next()
        key = Key(owner: owner, isAnonymous: isAnonymous, app: app.isEmpty ? nil : app)
        let bytes = try row.bytes()
        guard bytes.count % 8 == 0 else { throw row.unreadable("a list of times has \(bytes.count) bytes") }
        starts = []
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let time = Int64(bitPattern: bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
            guard StoredRange.time.contains(time) else { throw row.unreadable("a row has the impossible time \(time)") }
            starts.append(WallTime(milliseconds: time))
        }
        since = try row.next()
    }
}
