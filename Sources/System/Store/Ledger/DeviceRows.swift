import PushModel

/// The statements that apply rows of devices and of their subscriptions.
struct DeviceRows: ~Copyable {
    private var insert: RowStatement
    private var insertFormer: RowStatement
    private var delete: RowStatement
    private var subscribe: Statement
    private var unsubscribe: Statement
    private var unsubscribeAll: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        let (devices, replace) = (KnownDevice.table, "INSERT OR REPLACE")
        let insert = try RowStatement(devices.insertion(replace), of: devices, database)
        // The seventh value is the topics. The row knows no owner.
        let insertFormer = try RowStatement(
            """
            INSERT INTO devices (number, app, device, platform, external_id, token,
                state, locked, os_version, notifications, sdk)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?8, ?9, ?10, ?11, ?12)
            ON CONFLICT (number) DO UPDATE SET app = ?2, device = ?3, platform = ?4, external_id = ?5, token = ?6,
                state = ?8, locked = ?9, os_version = ?10, notifications = ?11, sdk = ?12
            """, count: 12, database)
        let delete = try RowStatement("DELETE FROM devices WHERE number = ?1", count: 1, database)
        let subscribe = try database.prepare(SubscriptionRow.table.insertion(replace))
        let unsubscribe = try database.prepare(
            "DELETE FROM subscriptions WHERE number = ?1 AND project = ?2 AND topic = ?3")
        let unsubscribeAll = try database.prepare("DELETE FROM subscriptions WHERE number = ?1")
        self.insert = insert
        self.insertFormer = insertFormer
        self.delete = delete
        self.subscribe = subscribe
        self.unsubscribe = unsubscribe
        self.unsubscribeAll = unsubscribeAll
    }

    /// Applies a row of ``RowKind/deviceFacts``.
    mutating func replace(_ values: RowValues) throws(StoreError) { try insert.run(values) }

    /// Applies a row of ``RowKind/device``, which has all topics of the device.
    mutating func replace(former values: RowValues) throws(StoreError) {
        try insertFormer.run(values)
        var row = values
        let (number, text) = try reading { () throws(RowError) in
            let number = try row.integer()
            try row.skip(5)
            return (number, try row.text())
        }
        try removeSubscriptions(of: number)
        guard let text else { return }
        guard let topics = [Subscription](columnText: text) else {
            throw StoreError.row(RowError(message: "unreadable topics"))
        }
        for subscription in topics { try add(subscription, to: number) }
    }

    /// Applies a row of ``RowKind/forgottenDevice``.
    mutating func forget(_ values: RowValues) throws(StoreError) {
        try delete.run(values)
        var row = values
        try removeSubscriptions(of: try reading { () throws(RowError) in try row.integer() })
    }

    /// Applies a row of ``RowKind/subscriptions``.
    mutating func change(_ values: RowValues) throws(StoreError) {
        var row = values
        let change = try reading { () throws(RowError) in try SubscriptionChange(reading: &row) }
        guard let since = change.since else {
            for device in change.devices {
                unsubscribe.bind(device.value, at: 1)
                unsubscribe.bind(change.topic.project, at: 2)
                unsubscribe.bind(change.topic.topic, at: 3)
                try unsubscribe.run()
            }
            return
        }
        for device in change.devices {
            try add(Subscription(topic: change.topic, since: since), to: device.value)
        }
    }

    private mutating func add(_ subscription: Subscription, to device: Int64) throws(StoreError) {
        subscribe.bind(device, at: 1)
        subscribe.bind(subscription.topic.project, at: 2)
        subscribe.bind(subscription.topic.topic, at: 3)
        subscribe.bind(subscription.since, at: 4)
        try subscribe.run()
    }

    private mutating func removeSubscriptions(of device: Int64) throws(StoreError) {
        unsubscribeAll.bind(device, at: 1)
        try unsubscribeAll.run()
    }
}
