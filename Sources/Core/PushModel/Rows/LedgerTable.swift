/// A table of the ledger: its columns, in the order of the values of its rows in the log.
public struct LedgerTable: Sendable {
    /// The content of a column.
    public enum Coding: Sendable {
        /// The value itself.
        case plain
        /// A text out of these.
        case name([String])
        /// The number of a word of a closed set.
        case word(WordSet)
        /// The number of a row in `texts`, or the text itself (Store: `SharedTexts`). Never a text that names a person:
        /// an erasure of the person's rows would leave it in `texts`.
        case shared
    }

    /// One column.
    public struct Column: Sendable {
        /// Its name in SQL.
        public let name: String
        /// Its type in SQL.
        public let type: String
        /// The content.
        public let coding: Coding
        /// Whether it may be NULL.
        public private(set) var isOptional = false
        /// The column's value for a row of the log that ends before it; `nil`: NULL.
        public private(set) var missing: Int64?

        private init(_ name: String, _ type: String, _ coding: Coding = .plain) {
            (self.name, self.type, self.coding) = (name, type, coding)
        }

        static func integer(_ name: String) -> Column { Column(name, "INTEGER") }

        static func text(_ name: String) -> Column { Column(name, "TEXT") }

        static func bytes(_ name: String) -> Column { Column(name, "BLOB") }

        static func name(_ name: String, _ texts: [String]) -> Column { Column(name, "TEXT", .name(texts)) }

        static func name<Name: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Name.Type) -> Column {
            .name(name, type.allCases.map(\.rawValue))
        }

        static func word<Word: StoredWord>(_ name: String, _ type: Word.Type) -> Column {
            Column(name, "INTEGER", .word(WordSet(type)))
        }

        static func shared(_ name: String) -> Column { Column(name, "ANY", .shared) }

        /// The same column, which may be NULL.
        var orNull: Column {
            var column = self
            column.isOptional = true
            return column
        }

        /// The same column, with a value for rows that were written before it existed.
        func or(_ value: Int64) -> Column {
            var column = self
            column.missing = value
            return column
        }
    }

    /// The primary key of a table.
    public enum Key: Sendable {
        /// This many of the first columns.
        case first(Int)
        /// A column before all others that rows of the log do not have: the ledger assigns its number.
        case given(String)
        /// None: the table has at most one row.
        case one
    }

    /// The name for queries by people.
    public let name: String
    /// The name of the table; if it differs, ``name`` is a view that has texts in place of numbers.
    public let rows: String
    /// The primary key.
    public let key: Key
    /// The columns in their order.
    public let columns: [Column]

    init(_ name: String, rows: String? = nil, key: Key = .first(1), _ columns: [Column]) {
        (self.name, self.rows, self.key, self.columns) = (name, rows ?? name, key, columns)
    }
}
