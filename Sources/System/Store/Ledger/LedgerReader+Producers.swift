public import PushModel

extension LedgerReader {
    /// The producers of the chain that the ledger is a copy of; none where it has a log of its own.
    public func producers() throws(StoreError) -> [Producer] {
        let rows = try database.prepare("SELECT \(Producer.table.values()) FROM producers ORDER BY uid")
        var producers: [Producer] = []
        while try rows.step() { producers.append(try rows.value()) }
        return producers
    }

    /// The name of a producer; `nil` where the number is the id of a user of the machine.
    public func producer(_ number: UInt32) throws(StoreError) -> String? {
        let row = try database.prepare("SELECT name FROM producers WHERE uid = ?1")
        row.bind(Int64(number), at: 1)
        return try row.step() ? row.text(0) : nil
    }
}
