public import PushModel

extension LedgerReader {
    /// Of how many requests the recent deliveries are told. A device's list holds ten ids, and what comes twice comes
    /// within minutes: of a thousand devices that are busy at once this is the whole list, of more the newest part of it.
    /// The rows are read where they lie, bodies beside them: for ten thousand that takes hundredths of a second.
    public static let recentRequests: Int64 = 10_000

    /// Android deliveries to a device among the newest ``recentRequests``, in order of `seq`: what FCM's lists of recent
    /// ids were made of, which outlive the daemon on their devices.
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

    /// What was last said of each device, in the order in which they were first named, as far as the ledger tells.
    public func knownDevices() throws(StoreError) -> [KnownDevice] {
        let statement = try database.prepare(
            "SELECT \(KnownDevice.table.values()) FROM devices ORDER BY number")
        var devices: [KnownDevice] = []
        while try statement.step() { devices.append(try statement.value()) }
        return devices
    }

    /// The publishes whose deliveries are not all made, in order of their numbers, each with its request.
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

    /// The progress of a publish; `nil`: the request is none.
    public func fanOut(of seq: SequenceNumber) throws(StoreError) -> FanOut? {
        let statement = try database.prepare("SELECT \(FanOut.table.values()) FROM fan_outs WHERE seq = ?1")
        statement.bind(seq.value, at: 1)
        return try statement.step() ? try statement.value() : nil
    }
}
