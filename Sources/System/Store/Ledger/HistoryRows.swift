public import PushModel

/// Applies the rows of attempts and dead letters. For one thread.
final class HistoryRows {
    private var insertAttempt: RowStatement
    private var countLeftOut: Statement
    private var deleteAttempt: Statement
    private var dropOutput: Statement
    var updateOutput: RowStatement
    private var insertDeadLetter: RowStatement
    private var deleteDeadLetters: RowStatement
    /// The dead letters in numbers.
    let deadLetters: DeadLetterCounter

    init(_ database: borrowing Database) throws(StoreError) {
        insertAttempt = try RowStatement(AttemptRecord.table.insertion(), of: AttemptRecord.table, database)
        countLeftOut = try database.prepare(
            """
            INSERT INTO attempts_left_out SELECT seq, n, handler, answer, 1 FROM attempts
                WHERE seq = ?1 AND n = ?2 AND attempt = ?3
            ON CONFLICT DO UPDATE SET count = count + 1
            """)
        deleteAttempt = try database.prepare("DELETE FROM attempts WHERE seq = ?1 AND n = ?2 AND attempt = ?3")
        dropOutput = try database.prepare(
            """
            UPDATE attempts SET errors_cut = errors_cut + length(errors), errors = x''
            WHERE seq = ?1 AND n = ?2 AND attempt = ?3 AND length(errors) > 0
            """)
        updateOutput = try RowStatement(
            """
            UPDATE attempts SET errors = ?3, errors_cut = ?4
            WHERE number = (SELECT max(number) FROM attempts WHERE seq = ?1 AND n = ?2)
            """, count: 4, database)
        // The bytes of the request line and of the attempts: both stay as long as the dead letter does.
        insertDeadLetter = try RowStatement(
            """
            INSERT OR REPLACE INTO dead_letters SELECT ?1, ?2, ?3, ?4 + coalesce(sum(\(Self.attemptLength)), 0)
            FROM attempts WHERE seq = ?1 AND n = ?2
            """, count: 4, database)
        deleteDeadLetters = try RowStatement("DELETE FROM dead_letters WHERE seq = ?1", count: 1, database)
        deadLetters = try DeadLetterCounter(database)
    }

    /// Adds a dead letter.
    func add(deadLetter values: RowValues) throws(StoreError) {
        try insertDeadLetter.run(values)
        var values = values
        let (seq, n) = try reading { () throws(RowError) in (try values.integer(), try values.integer()) }
        try deadLetters.added(seq, n)
    }

    /// Removes the dead letters of a request.
    func removeDeadLetters(_ values: RowValues) throws(StoreError) {
        var seq = values
        try deadLetters.willRemove(try reading { () throws(RowError) in try seq.integer() })
        try deleteDeadLetters.run(values)
    }

    /// Adds an attempt.
    func add(_ values: RowValues) throws(StoreError) {
        try insertAttempt.run(values)
        try bound(values)
    }

    /// The approximate bytes of an attempt, in SQL: its texts, and 64 for all other columns.
    private static let attemptLength =
        "64 + length(handler) + length(coalesce(route, '')) + length(coalesce(reason, '')) + length(coalesce(errors, x''))"

    /// Deletes an attempt between the first and the last ones of an invocation, for each attempt that is added.
    private func bound(_ values: RowValues) throws(StoreError) {
        var values = values
        let (seq, n, number) = try reading { () throws(RowError) in
            let (seq, n) = (try values.integer(), try values.integer())
            try values.skip(12)
            return (seq, n, try values.integer())
        }
        let output = number - Int64(AttemptRecord.outputsKeptLast)
        if output > AttemptRecord.outputsKeptFirst { try Self.run(&dropOutput, seq, n, output) }
        let attempt = number - Int64(AttemptRecord.keptLast)
        guard attempt > AttemptRecord.keptFirst else { return }
        try Self.run(&countLeftOut, seq, n, attempt)
        try Self.run(&deleteAttempt, seq, n, attempt)
    }

    private static func run(
        _ statement: inout Statement, _ seq: Int64, _ n: Int64, _ attempt: Int64
    ) throws(StoreError) {
        for (index, value) in [seq, n, attempt].enumerated() { statement.bind(value, at: Int32(index) + 1) }
        try statement.run()
    }
}

/// The statements that write gaps of the daemon. For one thread.
final class GapRows {
    /// The number of gaps that the ledger keeps; the oldest are deleted.
    static let most: Int64 = 4096

    private var insert: RowStatement
    private var deleteOldest: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        insert = try RowStatement(DaemonGap.table.insertion(), of: DaemonGap.table, database)
        deleteOldest = try database.prepare(
            "DELETE FROM gaps WHERE number <= (SELECT max(number) FROM gaps) - \(Self.most)")
    }

    func add(_ values: RowValues) throws(StoreError) {
        try insert.run(values)
        try deleteOldest.run()
    }

    /// Returns the statement that deletes gaps that ended before a time.
    static func deletion(before cutoff: WallTime) -> String {
        "DELETE FROM gaps WHERE max(begin_at, end_at) < \(cutoff.milliseconds)"
    }
}

/// The statements that write administrative acts. For one thread.
final class AuditRows {
    private var insert: RowStatement
    private var deleteOldest: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        insert = try RowStatement(AuditRecord.table.insertion(), of: AuditRecord.table, database)
        deleteOldest = try database.prepare(
            "DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - \(AuditRecord.most)")
    }

    func add(_ values: RowValues) throws(StoreError) {
        try insert.run(values)
        try deleteOldest.run()
    }

    /// Adds an act of a program that has the ledger alone.
    func add(_ record: AuditRecord) throws(StoreError) {
        let buffer = RowBuffer(headroom: 0, capacity: 1024)
        buffer.append(.audit(record))
        defer { withExtendedLifetime(buffer) {} }
        var reader = RowReader(buffer.rows)
        if let (_, values) = try reading({ () throws(RowError) in try reader.next() }) { try add(values) }
    }

    /// Returns the statement that deletes the oldest acts before a time.
    static func deletion(before cutoff: WallTime, limit: Int) -> String {
        """
        DELETE FROM audit WHERE number IN (
            SELECT number FROM audit WHERE at < \(cutoff.milliseconds) ORDER BY at, number LIMIT \(limit))
        """
    }
}

extension AuditRecord {
    /// The acts of a ledger, in the order in which they were written.
    static func all(in database: borrowing Database) throws(StoreError) -> [AuditRecord] {
        let rows = try database.prepare("SELECT \(table.values()) FROM audit ORDER BY number")
        var acts: [AuditRecord] = []
        while try rows.step() { acts.append(try rows.value(0)) }
        return acts
    }

    /// The act without the person, whom an erasure removes.
    var withoutPerson: AuditRecord {
        var act = self
        (act.subject.externalID, act.subject.device) = (nil, nil)
        return act
    }

    /// Writes the act into the ledger of a state directory that no other process uses; it is on the disk afterwards.
    ///
    /// - Throws: `inUse`; the errors of opening and writing a ledger.
    public func write(toLedgerIn directory: String) throws(StoreError) {
        let lock = try StateDirectory(path: directory)
        let writer = try LedgerWriter(directory: directory)
        let rows = try AuditRows(writer.database)
        try writer.transaction { () throws(StoreError) in try rows.add(self) }
        try writer.sync()
        lock.unlock()
    }
}

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
