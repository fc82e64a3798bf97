public import PushModel

extension LedgerReader {
    /// Returns the producers of the chain that the ledger is a copy of; none if the ledger has a log of its own.
    public func producers() throws(StoreError) -> [Producer] {
        let rows = try database.prepare("SELECT \(Producer.table.values()) FROM producers ORDER BY uid")
        var producers: [Producer] = []
        while try rows.step() { producers.append(try rows.value()) }
        return producers
    }

    /// Returns the name of a producer; `nil` if the number is a user id of the machine.
    public func producer(_ number: UInt32) throws(StoreError) -> String? {
        let row = try database.prepare("SELECT name FROM producers WHERE uid = ?1")
        row.bind(Int64(number), at: 1)
        return try row.step() ? row.text(0) : nil
    }
}
