// The last known facts of each device, its session, and the session starts of each user. The empty text stands for no
// app. The keys are increasing numbers instead of texts, so that new rows share pages instead of touching one page
// each. A number is that of the request that made the row. There is no index on the texts: it would write those pages
// after all, and no query looks a row up by them.

extension KnownDevice: StoredRecord {
    public static let table = LedgerTable(
        "devices",
        [
            .integer("number"), .text("app"), .text("device"), .name("platform", Platform.self),
            .text("external_id").orNull, .text("token").orNull,
            .name("state", AppState.self).orNull, .integer("locked").orNull, .text("os_version").orNull,
            .name("notifications", NotificationPermission.self).orNull, .name("sdk", SDKState.self).orNull,
            .integer("uid").orNull, .text("former_tokens").orNull,
        ])

    // The topics have rows of their own.
    public func write(to row: inout RowWriter) {
        row.add(number, key, platform, externalID)
        row.add(token, detail.state, owner?.uid)
        row.add(detail.formerTokens.columnText)
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (number, key, platform, externalID) = try row.next()
        token = try row.next()
        let state: DeviceState = try row.next()
        let uid: UInt32? = try row.next()
        owner = uid.map { Account(uid: $0) }
        let former: String? = try row.next()
        // Unreadable former tokens are no reason to refuse a ledger: a push to one becomes a push to an unknown token.
        detail = DeviceDetail(state: state, formerTokens: [FormerToken](columnText: former) ?? [])
    }
}

// former_tokens: a JSON object of tokens and the times of their ends in milliseconds since 1970, in order.
extension [FormerToken] {
    var columnText: String? {
        guard !isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { writer in forEach { writer.member($0.token, $0.ended.milliseconds) } }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    init?(columnText text: String?) {
        guard let text else {
            self = []
            return
        }
        guard let root = try? JSONDocument(scanning: [UInt8](text.utf8)).root, root.kind == .object else { return nil }
        self = []
        for (token, end) in root.members {
            guard let end = end.int64, StoredRange.time.contains(end) else { return nil }
            append(FormerToken(token: token, ended: WallTime(milliseconds: end)))
        }
    }
}

/// The row of a device in batches before version 3: it has all topics of the device, and no owner.
struct FormerDeviceRow {
    let device: KnownDevice

    // A row ends before the token if it has no value from there on, like the rows written before the column existed.
    func write(to row: inout RowWriter) {
        row.add(device.number, device.key, device.platform, device.externalID)
        guard device.token != nil || device.hasDetail else { return }
        row.add(device.token)
        guard device.hasDetail else { return }
        row.add(device.detail.topics.columnText)
        row.add(device.detail.state)
    }
}

extension SubscriptionRow: StoredRecord {
    public static let table = LedgerTable(
        "subscriptions", key: .first(3),
        [.integer("number"), .text("project"), .text("topic"), .integer("since")])

    public func write(to row: inout RowWriter) { row.add(device, subscription) }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (device, subscription) = try row.next()
    }
}

extension Subscription: StoredValue {
    public static var count: Int { 3 }

    public func write(to row: inout RowWriter) { row.add(topic, since) }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        topic = try row.next()
        since = try row.integer(in: 0...Self.secondsMax)
    }
}

extension TopicName: StoredValue {
    public static var count: Int { 2 }

    public func write(to row: inout RowWriter) { row.add(project, topic) }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let (project, topic): (String, String) = try row.next()
        guard let name = TopicName(project: project, topic: topic) else { throw row.unreadable("unreadable topic") }
        self = name
    }
}

// devices: the numbers, eight bytes each, big-endian.
extension SubscriptionChange: StoredValue {
    public static var count: Int { 4 }

    public func write(to row: inout RowWriter) {
        row.add(topic, since)
        row.bytes(devices.flatMap { device in withUnsafeBytes(of: device.value.bigEndian) { Array($0) } })
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        topic = try row.next()
        since = try row.next()
        guard (0...Subscription.secondsMax).contains(since ?? 0) else {
            throw row.unreadable("a row has an impossible time")
        }
        let bytes = try row.bytes()
        guard bytes.count % 8 == 0 else { throw row.unreadable("a list of numbers has \(bytes.count) bytes") }
        devices = []
        devices.reserveCapacity(bytes.count / 8)
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let value = Int64(bitPattern: bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
            guard StoredRange.number.contains(value) else { throw row.unreadable("a row has the number \(value)") }
            devices.append(SequenceNumber(value))
        }
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

extension RowBuffer {
    /// Appends an order; the buffer must be empty.
    public func append(_ order: ChainOrder) {
        precondition(isEmpty, "an order is alone in its batch")
        switch order {
        case .prune(let slice): append(.pruning, slice)
        case .erase(let order): append(.erasure) { order.write(to: &$0) }
        }
    }
}

extension PruningSlice: StoredValue {
    public static var count: Int { 5 }

    public func write(to row: inout RowWriter) {
        row.add(cutoff?.stored, limit)
        row.add(deadLetters?.cutoff.stored, deadLetters?.byteCountMax, figures?.stored)
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (cutoff, limit) = try row.next()
        let (cutoff, byteCountMax, figures): (WallTime?, Int?, WallTime?) = try row.next()
        deadLetters =
            if let cutoff, let byteCountMax { DeadLetterLimits(cutoff: cutoff, byteCountMax: byteCountMax) } else {
                nil
            }
        self.figures = figures
    }
}

extension WallTime {
    /// The nearest time that a row may have. The effect is the same, since all stored times are within the limits.
    fileprivate var stored: WallTime {
        WallTime(
            milliseconds: min(max(milliseconds, StoredRange.time.lowerBound), StoredRange.time.upperBound))
    }
}

extension ErasureOrder {
    /// Writes the order; the devices come last, in any number.
    fileprivate func write(to row: inout RowWriter) {
        row.add(bound.request, bound.entry, person.externalID)
        for device in person.devices.map(\.text).sorted() { row.text(device) }
    }

    init(reading row: inout RowValues) throws(RowError) {
        let (request, entry, user): (SequenceNumber, EntryNumber, String?) = try row.next()
        var devices: [String] = []
        while !row.isAtEnd { devices.append(try row.next()) }
        self.init(
            person: Person(externalID: user, devices: devices), bound: ErasureBound(request: request, entry: entry),
            takesUndecided: true)
    }
}

extension ConfigurationPeriod: StoredRecord {
    // The configuration of the requests from first_seq up to the next row's.
    public static let table = LedgerTable(
        "configurations", [.integer("first_seq"), .text("id"), .integer("since_at")])

    public func write(to row: inout RowWriter) { row.add(first, id.description, since) }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let text: String
        (first, text, since) = try row.next()
        guard let id = ConfigurationID(text) else { throw row.unreadable("the id of a configuration cannot be read") }
        self.id = id
    }
}

extension DaemonGap: StoredRecord {
    // The gaps of the daemon: down, its clock set, the machine suspended, the disk stalled; and among several machines
    // the leader lost, the engine away, or nothing protected. For a set clock, the times before and after the step. At
    // most 4096 rows, the newest.
    public static let table = LedgerTable(
        "gaps", key: .given("number"), [.name("kind", Kind.self), .integer("begin_at"), .integer("end_at")])

    public func write(to row: inout RowWriter) { row.add(kind, begin, end) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (kind, begin, end) = try row.next()
    }
}

extension LifeSign: StoredRecord {
    // seen_at: when the daemon was last alive. seq: the last request that it had accepted by then. believed_at: when it
    // was last alive and trusted its clock. One row, or none before the first sign of life.
    public static let table = LedgerTable(
        "life", key: .one, [.integer("seen_at"), .integer("seq"), .integer("believed_at").orNull])

    public func write(to row: inout RowWriter) { row.add(at, last, believed) }

    @inlinable public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        (at, last, believed) = try row.next()
    }
}
