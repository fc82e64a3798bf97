public import PushModel

/// The conditions that tell which rows of a ledger are a person's, for counting and for removing them.
///
/// The result is in temporary tables of the connection, and holds for one state of the ledger. A row is the person's by
/// `Person.includes`; a row without user and device of its own belongs to the person of its request.
struct PersonRows {
    private let isForUser: Bool

    /// Finds the rows.
    static func find(_ order: ErasureOrder, in database: borrowing Database) throws(StoreError) -> PersonRows {
        // temp_store = MEMORY, so that no file beside the ledger has the names.
        try database.execute(
            """
            PRAGMA temp_store = MEMORY;
            DROP TABLE IF EXISTS temp.erased_devices;
            DROP TABLE IF EXISTS temp.erased_requests;
            DROP TABLE IF EXISTS temp.erased_events;
            DROP TABLE IF EXISTS temp.erased_bound;
            CREATE TEMP TABLE erased_devices (device TEXT PRIMARY KEY) WITHOUT ROWID;
            CREATE TEMP TABLE erased_requests (seq INTEGER PRIMARY KEY);
            CREATE TEMP TABLE erased_events (cursor INTEGER PRIMARY KEY);
            CREATE TEMP TABLE erased_bound (seq INTEGER, entry INTEGER, user TEXT);
            """)
        var bound = try database.prepare("INSERT INTO erased_bound VALUES (?1, ?2, ?3)")
        bound.bind(order.bound.request.value, at: 1)
        bound.bind(order.bound.entry.value, at: 2)
        bound.bind(order.person.externalID, at: 3)
        try bound.run()
        var insert = try database.prepare("INSERT OR IGNORE INTO erased_devices VALUES (?1)")
        for device in order.person.devices {
            insert.bind(device.text, at: 1)
            try insert.run()
        }
        let rows = PersonRows(isForUser: order.person.externalID != nil)
        try database.execute(rows.requests)
        return rows
    }

    /// Drops the temporary tables, and with them the names.
    static func forget(in database: borrowing Database) throws(StoreError) {
        try database.execute(
            """
            DROP TABLE temp.erased_devices; DROP TABLE temp.erased_requests; DROP TABLE temp.erased_events;
            DROP TABLE temp.erased_bound; PRAGMA temp_store = DEFAULT;
            """)
    }

    private static let seq = "(SELECT seq FROM erased_bound)"
    private static let user = "(SELECT user FROM erased_bound)"

    private static func has(_ operation: Operation) -> String {
        WordSet(Operation.self).condition("request_rows.operation", anyOf: [operation.rawValue])
    }

    /// Returns the condition on a row with these columns.
    private func isOfPerson(user: String, device: String) -> String {
        let isOnDevice = "\(device) IN (SELECT device FROM erased_devices)"
        return isForUser ? "(\(user) = \(Self.user) OR \(user) IS NULL AND \(isOnDevice))" : "(\(isOnDevice))"
    }

    private var requests: String {
        """
        INSERT INTO erased_requests SELECT seq FROM request_rows
            WHERE seq <= \(Self.seq) AND \(isOfPerson(user: "external_id", device: "device"));
        -- Replays of these requests, and taps that name their messages but no user and no device.
        INSERT OR IGNORE INTO erased_requests SELECT seq FROM request_rows
            WHERE replay_of IN (SELECT seq FROM erased_requests) AND seq <= \(Self.seq);
        INSERT OR IGNORE INTO erased_requests SELECT seq FROM request_rows
            WHERE \(Self.has(.interact)) AND device IS NULL AND external_id IS NULL AND seq <= \(Self.seq)
            AND message_id IN (
                SELECT message_id FROM request_rows WHERE seq IN (SELECT seq FROM erased_requests) AND \(Self.has(.deliver)));
        INSERT INTO erased_events SELECT cursor FROM event_rows WHERE seq <= \(Self.seq) AND (
            seq IN (SELECT seq FROM erased_requests) OR delivery IN (SELECT seq FROM erased_requests)
            OR \(isOfPerson(user: "external_user_id", device: "device_id")));
        """
    }

    /// The condition on entries. A waiting entry is the person's only by its own fields: the router knows no others,
    /// and moves it later. An entry that no longer waits and has neither user nor device goes with its request.
    private var entries: String {
        """
        number <= (SELECT entry FROM erased_bound) AND (
            cause IN (SELECT seq FROM erased_requests) AND external_id IS NULL AND device IS NULL
                AND state NOT IN ('pending', 'queued', 'claimed', 'unknown')
            OR identifier_kind = 'external_id' AND identifier = \(Self.user)
            OR \(isOfPerson(user: "external_id", device: "device")))
        """
    }

    private var attributes: String {
        """
        entry <= (SELECT entry FROM erased_bound) AND (anonymous = 0 AND owner = \(Self.user)
            OR anonymous = 1 AND owner IN (SELECT device FROM erased_devices))
        """
    }

    private var starts: String {
        """
        number <= \(Self.seq) AND (anonymous = 0 AND owner = \(Self.user)
            OR anonymous = 1 AND owner IN (SELECT device FROM erased_devices))
        """
    }

    private var onDevice: String {
        "number <= \(Self.seq) AND \(isOfPerson(user: "external_id", device: "device"))"
    }

    private var waiting: String {
        "cause <= \(Self.seq) AND \(isOfPerson(user: "external_id", device: "device"))"
    }

    /// Counts the rows that were found.
    func receipt(in database: borrowing Database) throws(StoreError) -> ErasureReceipt {
        var receipt = ErasureReceipt()
        func count(_ table: String, _ condition: String) throws(StoreError) -> Int {
            Int(try database.integer("SELECT count(*) FROM \(table) WHERE \(condition)"))
        }
        // A request that is erased already has no body, and no user.
        receipt.requests = try count("erased_requests", "true")
        receipt.events = try count("erased_events", "true")
        receipt.entries = try count("entries", entries)
        receipt.entriesSent = try count("entries", "state = 'sent' AND \(entries)")
        receipt.attributes = try count("attributes", attributes)
        receipt.states =
            try count("sessions", onDevice) + count("session_starts", starts) + count("devices", onDevice)
            + count("audit", isOfPerson(user: "external_id", device: "device"))
        receipt.devices = try count("erased_devices", "true")
        receipt.othersOnDevices = try count(
            "request_rows",
            """
            device IN (SELECT device FROM erased_devices) AND seq <= \(Self.seq)
                AND seq NOT IN (SELECT seq FROM erased_requests)
            """)
        // A device of the order that no row names is not the person's.
        if receipt.rows == 0, receipt.othersOnDevices == 0 { receipt.devices = 0 }
        return receipt
    }

    private static let undecided = """
        EXISTS (SELECT 1 FROM invocation_rows WHERE seq IN (SELECT seq FROM erased_requests) AND outcome IS NULL)
        """

    /// The query whether a request that was found is not decided.
    static let hasUndecidedRows = "SELECT \(undecided)"

    /// The query whether rows are removed that figures count: attempts, and undecided requests.
    static let hasCountedRows = """
        SELECT EXISTS (SELECT 1 FROM attempts WHERE seq IN (SELECT seq FROM erased_requests)) OR \(undecided)
        """

    /// The statements that remove the rows, within the caller's transaction.
    ///
    /// A request with all its invocations decided stays as a row without a name, so that figures of times and outcomes
    /// stay the same. An undecided request is deleted: it could not be finished any more.
    var deletion: String {
        """
        DELETE FROM closed_buttons WHERE event IN (SELECT cursor FROM erased_events);
        DELETE FROM tracked_deliveries WHERE event IN (SELECT cursor FROM erased_events);
        DELETE FROM event_rows WHERE cursor IN (SELECT cursor FROM erased_events);
        DELETE FROM interactions WHERE cause IN (SELECT seq FROM erased_requests)
            OR delivery IN (SELECT seq FROM erased_requests);
        DELETE FROM pending_starts WHERE cause IN (SELECT seq FROM erased_requests) OR \(waiting);
        DELETE FROM held_interactions WHERE cause IN (SELECT seq FROM erased_requests) OR \(waiting);
        DELETE FROM sessions WHERE \(onDevice);
        DELETE FROM session_starts WHERE \(starts);
        DELETE FROM subscriptions WHERE number IN (SELECT number FROM devices WHERE \(onDevice));
        DELETE FROM devices WHERE \(onDevice);
        UPDATE audit SET external_id = NULL, device = NULL
            WHERE \(isOfPerson(user: "external_id", device: "device"));
        DELETE FROM attributes WHERE \(attributes);
        DELETE FROM entries WHERE \(entries);
        DELETE FROM attempts WHERE seq IN (SELECT seq FROM erased_requests);
        DELETE FROM attempts_left_out WHERE seq IN (SELECT seq FROM erased_requests);
        DELETE FROM dead_letters WHERE seq IN (SELECT seq FROM erased_requests);
        DELETE FROM request_rows WHERE seq IN (SELECT seq FROM erased_requests) AND EXISTS (
            SELECT 1 FROM invocation_rows WHERE invocation_rows.seq = request_rows.seq AND outcome IS NULL);
        DELETE FROM invocation_rows WHERE seq IN (SELECT seq FROM erased_requests)
            AND seq NOT IN (SELECT seq FROM request_rows);
        UPDATE invocation_rows SET reason = NULL, completed_by = NULL, completed_times = NULL, completed_result = NULL,
            completed_options = NULL
            WHERE seq IN (SELECT seq FROM erased_requests);
        UPDATE request_rows SET id = NULL, device = NULL, external_id = NULL, message_id = NULL, duplicate_id = NULL,
            tracked = 0, replay_of = NULL, body = x'7b7d'
            WHERE seq IN (SELECT seq FROM erased_requests);
        """
    }
}

extension LedgerWriter {
    /// Removes a person's rows in one transaction. Free pages and the WAL still have them afterwards.
    ///
    /// - Parameters:
    ///   - order: the person.
    ///   - position: the place in the log behind the order; `nil` if the order is not in a chain.
    /// - Returns: `nil`, without a change, while a request of the person waits for an outcome and the order does not
    ///   take such requests. One such request is a tap that names one of the person's messages but no user: the router
    ///   does not know its user.
    func erase(_ order: ErasureOrder) throws(StoreError) -> ErasureReceipt? {
        if !order.takesUndecided, try !isDecided(order) { return nil }
        return try erase(order, through: nil)
    }

    /// Removes a person's rows, including undecided requests.
    func erase(_ order: ErasureOrder, through position: LogPosition?) throws(StoreError) -> ErasureReceipt {
        let rows = try PersonRows.find(order, in: database)
        var receipt = try rows.receipt(in: database)
        receipt.batch = position?.number
        try self.rows().deadLetters.invalidate()
        try transaction(through: position) { () throws(StoreError) in
            try keepNumbers()
            let isCounted = try database.integer(PersonRows.hasCountedRows) == 1
            try database.execute(rows.deletion)
            try forgetUnusedTexts()
            // Rows that stay are counted as before. Single rows cannot be subtracted from figures, so these are counted
            // anew.
            if isCounted { try recountFigures() }
            if let position {
                try database.execute("UPDATE last_erased SET batch = \(position.number), rewritten = 0")
            }
        }
        try PersonRows.forget(in: database)
        return receipt
    }

    /// Returns whether all requests of a person have their outcomes.
    func isDecided(_ order: ErasureOrder) throws(StoreError) -> Bool {
        _ = try PersonRows.find(order, in: database)
        let isDecided = try database.integer(PersonRows.hasUndecidedRows) == 0
        try PersonRows.forget(in: database)
        return isDecided
    }

    /// Returns the rest of an erasure whose rows an order of the chain removed; `nil` if there is none.
    func leftErasure() throws(StoreError) -> ErasureSteps? {
        try reader().lastErasure()?.isRewritten == false ? .afterRows : nil
    }

    /// Notes that the ledger was rewritten since the last erasure.
    func noteRewritten() throws(StoreError) { try database.execute("UPDATE last_erased SET rewritten = 1") }

    /// Rewrites the whole ledger without free pages and their old data (`VACUUM`). The WAL becomes as long as the
    /// ledger, and readers continue meanwhile.
    ///
    /// - Throws: `noSpace` before the first write, if there is not enough room.
    func rewrite() throws(StoreError) {
        // Empties the WAL first, so that its room is reused.
        _ = try checkpointWhole()
        let length = try space().used
        // A frame of the WAL has a header besides the page, and VACUUM may pack tables less densely.
        try DiskSpace.require(length + length / 32, in: directory)
        try database.execute("VACUUM")
    }
}

/// The last erasure that was a row of the chain.
public struct LastErasure: Hashable, Sendable {
    /// The batch with the order: this batch and earlier ones have the person's data.
    public var batch: UInt64
    /// Whether the ledger was rewritten since: then no free page has data of the person.
    var isRewritten: Bool
}

extension LedgerReader {
    /// Returns the last erasure that was a row of the chain; `nil` if there was none.
    public func lastErasure() throws(StoreError) -> LastErasure? {
        let row = try database.prepare("SELECT batch, rewritten FROM last_erased WHERE batch > 0")
        guard try row.step() else { return nil }
        return LastErasure(batch: UInt64(try row.integer(0, in: StoredRange.number)), isRewritten: row.integer(1) != 0)
    }

    /// Counts the rows that an erasure would remove.
    public func count(_ order: ErasureOrder) throws(StoreError) -> ErasureReceipt {
        let rows = try PersonRows.find(order, in: database)
        let receipt = try rows.receipt(in: database)
        try PersonRows.forget(in: database)
        return receipt
    }

    /// Returns the devices that the ledger knows to be a user's by requests up to a number.
    public func devices(of user: String, through last: SequenceNumber) throws(StoreError) -> [String] {
        var statement = try database.prepare(
            """
            SELECT device FROM request_rows WHERE external_id = ?1 AND seq <= ?2 AND device IS NOT NULL
            UNION SELECT device FROM devices WHERE external_id = ?1 AND number <= ?2
            UNION SELECT device FROM sessions WHERE external_id = ?1 AND number <= ?2
            UNION SELECT device_id FROM event_rows
                WHERE external_user_id = ?1 AND seq <= ?2 AND device_id IS NOT NULL
            """)
        statement.bind(user, at: 1)
        statement.bind(last.value, at: 2)
        var devices: [String] = []
        while try statement.step() { if let device = statement.text(0) { devices.append(device) } }
        return devices
    }
}
