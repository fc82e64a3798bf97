public import PushModel

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
