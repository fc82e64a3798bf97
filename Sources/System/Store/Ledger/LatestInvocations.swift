import PushModel

/// The rows of invocations that a transaction is yet to store: of each invocation the latest, because most begin and end
/// within one transaction, and a row has all of an invocation. For one thread.
struct LatestInvocations {
    /// A row that lies in a batch, and outlives the transaction.
    struct Row {
        /// Its values.
        fileprivate(set) var values: RowValues
        /// Whether the ledger does not have the invocation.
        let isNew: Bool
    }

    private var rows: [Row] = []
    private var places: [InvocationID: Int] = [:]

    /// Has a row stored, in place of the one that is to be stored of the same invocation.
    mutating func add(_ values: RowValues, isNew: Bool) throws(RowError) {
        var start = values
        let id = InvocationID(seq: SequenceNumber(try start.integer()), n: Int(try start.integer()))
        // What begins twice is a contradiction, of which SQLite is to hear.
        if !isNew, let place = places[id] { return rows[place].values = values }
        places[id] = rows.count
        rows.append(Row(values: values, isNew: isNew))
    }

    /// Takes out what is to be stored, in the order in which the invocations came first.
    mutating func takeAll() -> [Row] {
        places.removeAll(keepingCapacity: true)
        return exchange(&rows, with: [])
    }
}
