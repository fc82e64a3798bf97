/// A statement that is compiled when it is first needed: a start does not pay for those that it has no use for.
struct LaterStatement: ~Copyable {
    private let sql: @Sendable () -> String
    private var compiled: StatementBox?

    init(_ sql: @autoclosure @escaping @Sendable () -> String) { self.sql = sql }

    /// The statement, always of the same connection.
    mutating func compiled(for database: borrowing Database) throws(StoreError) -> StatementBox {
        if let compiled { return compiled }
        let box = StatementBox(try database.prepare(sql()))
        compiled = box
        return box
    }
}
