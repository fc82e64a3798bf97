/// A statement that is compiled at its first use, so that a start does not compile statements it never runs.
struct LazyStatement: ~Copyable {
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
