public import PushModel

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
