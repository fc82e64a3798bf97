public import PushModel

extension LedgerWriter {
    /// Takes a person's rows out, in one transaction. Free pages and the WAL still have them then.
    ///
    /// - Parameters:
    ///   - order: whom.
    ///   - position: the place in the log behind the order; `nil`: it is none of a chain.
    /// - Returns: `nil`, and nothing is done, while a request of the person waits for an outcome and the order does not take
    ///   such requests. A tap that names nobody and one of the person's messages may wait, though the router does not know
    ///   whose it is.
    func erase(_ order: ErasureOrder) throws(StoreError) -> ErasureReceipt? {
        if !order.takesUndecided, try !isDecided(order) { return nil }
        return try erase(order, through: nil)
    }

    /// The same, whatever is not decided.
    func erase(_ order: ErasureOrder, through position: LogPosition?) throws(StoreError) -> ErasureReceipt {
        let rows = try PersonRows.find(order, in: database)
        var receipt = try rows.receipt(in: database)
        receipt.batch = position?.number
        try transaction(through: position) { () throws(StoreError) in
            try keepNumbers()
            let isCounted = try database.integer(PersonRows.hasCountedRows) == 1
            try database.execute(rows.deletion)
            try forgetUnusedTexts()
            // What stays is counted as before; figures have no way to take single rows out.
            if isCounted { try recountFigures() }
            if let position {
                try database.execute("UPDATE last_erased SET batch = \(position.number), rewritten = 0")
            }
        }
        try PersonRows.forget(in: database)
        return receipt
    }

    /// Whether all requests of a person have their outcomes.
    func isDecided(_ order: ErasureOrder) throws(StoreError) -> Bool {
        _ = try PersonRows.find(order, in: database)
        let isDecided = try database.integer(PersonRows.hasUndecidedRows) == 0
        try PersonRows.forget(in: database)
        return isDecided
    }

    /// What is left to do of an erasure whose rows an order of the chain took out.
    func leftErasure() throws(StoreError) -> ErasureSteps? {
        try reader().lastErasure()?.isRewritten == false ? .afterRows : nil
    }

    /// The ledger was written anew since the last erasure.
    func noteRewritten() throws(StoreError) { try database.execute("UPDATE last_erased SET rewritten = 1") }

    /// Writes the whole ledger once more, without free pages and what is left in them. The WAL becomes as long as the ledger,
    /// and readers go on meanwhile.
    ///
    /// - Throws: `noSpace` before anything is written, where there is not enough room.
    func rewrite() throws(StoreError) {
        // The room that the WAL has counts, once it is given back.
        _ = try checkpointWhole()
        let length = try space().used
        // A frame of the WAL has a header beside the page, and tables may be packed worse than they were.
        try Room.require(length + length / 32, in: directory)
        try database.execute("VACUUM")
    }
}

/// The last erasure that was a row of the chain.
public struct LastErasure: Hashable, Sendable {
    /// The batch that has the order: it and those before have the person.
    public var batch: UInt64
    /// Whether the ledger was written anew since: no free page has anything of the person.
    public var isRewritten: Bool
}

extension LedgerReader {
    /// The last erasure that was a row of the chain; `nil`: there was none.
    public func lastErasure() throws(StoreError) -> LastErasure? {
        let row = try database.prepare("SELECT batch, rewritten FROM last_erased WHERE batch > 0")
        guard try row.step() else { return nil }
        return LastErasure(batch: UInt64(try row.integer(0, in: StoredRange.number)), isRewritten: row.integer(1) != 0)
    }

    /// What an erasure would take out.
    public func count(_ order: ErasureOrder) throws(StoreError) -> ErasureReceipt {
        let rows = try PersonRows.find(order, in: database)
        let receipt = try rows.receipt(in: database)
        try PersonRows.forget(in: database)
        return receipt
    }

    /// The devices that the ledger knows to be a user's.
    public func devices(of user: String) throws(StoreError) -> [String] {
        var statement = try database.prepare(
            """
            SELECT device FROM request_rows WHERE external_id = ?1 AND device IS NOT NULL
            UNION SELECT device FROM devices WHERE external_id = ?1
            UNION SELECT device FROM sessions WHERE external_id = ?1
            UNION SELECT device_id FROM event_rows WHERE external_user_id = ?1 AND device_id IS NOT NULL
            """)
        statement.bind(user, at: 1)
        var devices: [String] = []
        while try statement.step() { if let device = statement.text(0) { devices.append(device) } }
        return devices
    }
}
