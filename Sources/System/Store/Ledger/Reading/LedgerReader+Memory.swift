public import PushModel

/// The state of the tracker that a restart reads back.
extension LedgerReader {
    /// Returns the session starts whose influenced opens are not decided yet, in order.
    public func pendingStarts() throws(StoreError) -> [PendingStart] {
        let statement = try database.prepare(
            "SELECT \(PendingStart.table.values()) FROM pending_starts ORDER BY cause")
        var starts: [PendingStart] = []
        while try statement.step() { starts.append(try statement.value()) }
        return starts
    }

    /// Returns the interactions that wait for their delivery, in order.
    public func heldInteractions() throws(StoreError) -> [HeldInteraction] {
        let statement = try database.prepare(
            "SELECT \(HeldInteraction.table.values()) FROM held_interactions ORDER BY cause")
        var held: [HeldInteraction] = []
        while try statement.step() { held.append(try statement.value()) }
        return held
    }

    /// Streams the sessions, in the order in which they began.
    ///
    /// - Parameter externalID: the user; `nil` means all.
    public func sessions(
        ofUser externalID: String? = nil, _ body: (SessionRow) -> Void
    ) throws(StoreError) {
        var statement = try database.prepare(
            "SELECT \(SessionRow.table.values()) FROM sessions WHERE ?1 IS NULL OR external_id = ?1 ORDER BY number")
        statement.bind(externalID, at: 1)
        while try statement.step() { body(try statement.value()) }
    }

    /// Streams the session starts of each user in each app, the least recently used first.
    ///
    /// - Parameter externalID: the user; `nil` means all.
    public func sessionStarts(
        ofUser externalID: String? = nil, _ body: (StartsRow) -> Void
    ) throws(StoreError) {
        var statement = try database.prepare(
            """
            SELECT \(StartsRow.table.values()) FROM session_starts
            WHERE ?1 IS NULL OR owner = ?1 AND anonymous = 0 ORDER BY since_at
            """)
        statement.bind(externalID, at: 1)
        while try statement.step() { body(try statement.value()) }
    }

    /// Returns the number of deliveries that the tracker took over and has not forgotten.
    public func trackedDeliveryCount() throws(StoreError) -> Int {
        Int(try database.integer("SELECT count(*) FROM tracked_deliveries"))
    }

    /// Streams the newest deliveries that the tracker took over, each with its receipt, in the order in which it took
    /// them over.
    ///
    /// - Parameters:
    ///   - limit: the largest number of deliveries.
    ///   - body: gets each of them.
    public func trackedDeliveries(
        newest limit: Int, _ body: (TrackedRow, TrackedReceipt) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT events.seq, \(TrackedRow.table.values()), events.external_user_id, events.device_id, events.app_id,
                events.platform, events.campaign_id, events.message_id
            FROM tracked_deliveries CROSS JOIN \(LedgerTable.events.source) ON cursor = event
            WHERE event >= \(Self.firstDelivery) ORDER BY event
            """)
        statement.bind(Int64(limit), at: 1)
        var texts = try TextMemory(database)
        while try statement.step() {
            var row = statement.row()
            body(
                try TrackedRow(reading: &row),
                TrackedReceipt(
                    externalUserID: row.text(), deviceID: row.text(), appID: try texts.text(&row),
                    platform: try row.next(), campaignID: try texts.text(&row), messageID: row.text()))
        }
    }

    /// Streams the close buttons that were pressed, of the same deliveries.
    public func closedButtons(
        ofNewest limit: Int, _ body: (_ delivery: SequenceNumber, _ button: String) -> Void
    ) throws(StoreError) {
        let statement = try database.prepare(
            """
            SELECT seq, button FROM closed_buttons CROSS JOIN event_rows ON cursor = event
            WHERE event >= \(Self.firstDelivery) ORDER BY event
            """)
        statement.bind(Int64(limit), at: 1)
        while try statement.step() { body(try statement.value(0), statement.text(1) ?? "") }
    }

    /// The event of the first of the `?1` newest deliveries.
    private static let firstDelivery = """
        (SELECT min(event) FROM (SELECT event FROM tracked_deliveries ORDER BY event DESC LIMIT ?1))
        """
}

/// A condition on a field of a profile.
public struct AttributeCondition: Hashable, Sendable {
    /// The field, custom or the provider's own.
    public var name: String
    /// JSON texts: the field must be one of these, or an array that has one of them.
    public var values: [[UInt8]]

    public init(name: String, values: [[UInt8]]) {
        (self.name, self.values) = (name, values)
    }
}

extension LedgerReader {
    /// Returns the fields of a profile, the customer's own first, by name.
    public func attributes(of owner: ProfileOwner) throws(StoreError) -> [AttributeRecord] {
        var statement = try database.prepare(
            """
            SELECT \(AttributeRecord.table.values()) FROM attributes WHERE anonymous = ?1 AND owner = ?2
            ORDER BY kind, name
            """)
        statement.bind(owner)
        var attributes: [AttributeRecord] = []
        while try statement.step() {
            var row = statement.row()
            attributes.append(try AttributeRecord(reading: &row))
        }
        return attributes
    }

    /// Streams the users whose profiles meet all conditions, by name, each once. The query reads the users whose field
    /// has the first condition's value, or is an array.
    ///
    /// - Parameter conditions: at least one; an empty list matches no user.
    public func users(where conditions: [AttributeCondition], _ body: (String) -> Void) throws(StoreError) {
        guard let first = conditions.first else { return }
        let others = try ConditionCheck(database)
        for user in try users(where: first) {
            var isMet = true
            for condition in conditions.dropFirst() where isMet { isMet = try others.isMet(condition, by: user) }
            if isMet { body(user) }
        }
    }

    /// The users that may have `?2` as the field `?1`: those whose value has the same beginning, and those with an
    /// array. The index has the beginnings of values; "[" begins an array, and "\" is the next character. A UNION,
    /// because SQLite does not use the index for beginnings in one query with OR.
    static let candidates = """
        SELECT owner, value FROM attributes INDEXED BY attributes_by_value
        WHERE anonymous = 0 AND name = ?1 AND substr(value, 1, 64) = substr(?2, 1, 64)
        UNION
        SELECT owner, value FROM attributes INDEXED BY attributes_by_value
        WHERE anonymous = 0 AND name = ?1 AND substr(value, 1, 64) >= '[' AND substr(value, 1, 64) < '\\'
        """

    private func users(where condition: AttributeCondition) throws(StoreError) -> [String] {
        var statement = try database.prepare(Self.candidates)
        var users: Set<String> = []
        for value in condition.values {
            statement.bind(condition.name, at: 1)
            statement.bind(String(decoding: value, as: UTF8.self), at: 2)
            while try statement.step() {
                if condition.isMet(by: statement.bytes(1)), let user = statement.text(0) { users.insert(user) }
            }
            statement.reset()
        }
        return users.sorted()
    }
}

/// A check of one user's field.
private final class ConditionCheck {
    private var statement: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        let kinds = "'\(EntryKind.customAttributes.rawValue)', '\(EntryKind.userAttributes.rawValue)'"
        statement = try database.prepare(
            "SELECT value FROM attributes WHERE anonymous = 0 AND owner = ?1 AND kind IN (\(kinds)) AND name = ?2")
    }

    func isMet(_ condition: AttributeCondition, by user: String) throws(StoreError) -> Bool {
        statement.bind(user, at: 1)
        statement.bind(condition.name, at: 2)
        defer { statement.reset() }
        while try statement.step() {
            if condition.isMet(by: statement.bytes(0)) { return true }
        }
        return false
    }
}

extension AttributeCondition {
    /// Returns whether a value is one of `values`, or an array that has one of them.
    fileprivate func isMet(by value: [UInt8]) -> Bool {
        if values.contains(value) { return true }
        guard value.first == UInt8(ascii: "["),
            let array = try? JSONDocument(scanning: value, limits: JSONLimits(depth: .max))
        else { return false }
        return array.root.elements.contains { element in values.contains { $0.elementsEqual(element.rawBytes) } }
    }
}

extension LedgerReader {
    /// The number of requests among which recent deliveries are searched. A device's list holds ten ids, and repeats
    /// come within minutes: for a thousand busy devices this number yields the whole lists, for more devices the newest
    /// part of them. The query reads the rows with their bodies: ten thousand take hundredths of a second.
    public static let recentRequests: Int64 = 10_000

    /// Returns the Android deliveries to a device among the newest ``recentRequests``, in order of `seq`. They rebuild
    /// FCM's lists of recent ids, which outlive the daemon on their devices.
    public func recentDeliveries(
        amongNewest requests: Int64 = recentRequests
    ) throws(StoreError) -> [RecentDelivery] {
        let statement = try database.prepare(
            """
            SELECT \(LedgerTable.requests.text("app")), device, duplicate_id, state FROM \(LedgerTable.requests.source)
            WHERE seq > (SELECT coalesce(max(seq), 0) FROM request_rows) - ?1
                AND \(LedgerTable.requests.has("platform", Platform.android))
                AND \(LedgerTable.requests.has("operation", Operation.deliver)) AND device IS NOT NULL
            ORDER BY seq
            """)
        statement.bind(requests, at: 1)
        var deliveries: [RecentDelivery] = []
        while try statement.step() {
            var row = statement.row()
            let (app, device) = (row.text(), row.text())
            guard let device else { continue }
            deliveries.append(
                RecentDelivery(
                    device: DeviceKey(app: app, device: device), duplicateID: row.text(),
                    state: try row.next()))
        }
        return deliveries
    }

    /// Returns the last known facts of each device, in the order in which the devices were first named.
    public func knownDevices() throws(StoreError) -> [KnownDevice] {
        let statement = try database.prepare(
            "SELECT \(KnownDevice.table.values()) FROM devices ORDER BY number")
        var devices: [KnownDevice] = []
        while try statement.step() { devices.append(try statement.value()) }
        // Both are in the order of the numbers.
        let rows = try database.prepare(
            "SELECT \(SubscriptionRow.table.values()) FROM subscriptions ORDER BY number, since, project, topic")
        var place = 0
        var topics: [Subscription] = []
        func endDevice() {
            if !topics.isEmpty { devices[place].detail.topics = exchange(&topics, with: []) }
        }
        while try rows.step() {
            let row: SubscriptionRow = try rows.value()
            if place < devices.count, devices[place].number != row.device { endDevice() }
            while place < devices.count, devices[place].number < row.device { place += 1 }
            // A device that was forgotten between the two reads is not among the devices.
            if place < devices.count, devices[place].number == row.device { topics.append(row.subscription) }
        }
        endDevice()
        return devices
    }

    /// A device that is remembered; `nil`: no request has named it.
    public func knownDevice(_ key: DeviceKey) throws(StoreError) -> KnownDevice? {
        // The table has no index on its texts: the statement reads all rows.
        var statement = try database.prepare(
            "SELECT \(KnownDevice.table.values()) FROM devices WHERE device = ?1 AND app = ?2")
        statement.bind(key.device, at: 1)
        statement.bind(key.app ?? "", at: 2)
        guard try statement.step() else { return nil }
        return try withTopics(try statement.value())
    }

    /// The devices that are remembered, those that were first named last first.
    ///
    /// - Parameter limit: the largest number of devices.
    public func knownDevices(newest limit: Int) throws(StoreError) -> [KnownDevice] {
        let statement = try database.prepare(
            "SELECT \(KnownDevice.table.values()) FROM devices ORDER BY number DESC LIMIT ?1")
        statement.bind(Int64(limit), at: 1)
        var found: [KnownDevice] = []
        while try statement.step() { found.append(try withTopics(try statement.value())) }
        return found
    }

    private func withTopics(_ device: KnownDevice) throws(StoreError) -> KnownDevice {
        let rows = try database.prepare(
            """
            SELECT \(SubscriptionRow.table.values()) FROM subscriptions WHERE number = ?1
            ORDER BY since, project, topic
            """)
        rows.bind(device.number.value, at: 1)
        var device = device
        var topics: [Subscription] = []
        while try rows.step() {
            let row: SubscriptionRow = try rows.value()
            topics.append(row.subscription)
        }
        if !topics.isEmpty { device.detail.topics = topics }
        return device
    }

    /// Returns the publishes that still have deliveries to make, in order of their numbers, each with its request.
    public func openFanOuts() throws(StoreError) -> [(fanOut: FanOut, request: AcceptedRequest)] {
        let statement = try database.prepare(
            """
            SELECT \(FanOut.table.values()), \(LedgerTable.requests.values())
            FROM fan_outs INDEXED BY fan_outs_open JOIN \(LedgerTable.requests.source) USING (seq)
            WHERE devices IS NOT NULL ORDER BY fan_outs.seq
            """)
        var open: [(fanOut: FanOut, request: AcceptedRequest)] = []
        while try statement.step() {
            var row = statement.row()
            open.append((try FanOut(reading: &row), try AcceptedRequest(reading: &row)))
        }
        return open
    }

    /// Returns the progress of a publish; `nil` if the request is no publish.
    public func fanOut(of seq: SequenceNumber) throws(StoreError) -> FanOut? {
        let statement = try database.prepare("SELECT \(FanOut.table.values()) FROM fan_outs WHERE seq = ?1")
        statement.bind(seq.value, at: 1)
        return try statement.step() ? try statement.value() : nil
    }
}
