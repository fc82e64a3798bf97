/// A table of the ledger: its columns, in the order of the values of its rows in the log.
public struct LedgerTable: Sendable {
    /// What a column holds.
    public enum Coding: Sendable {
        /// Its value.
        case plain
        /// One of these texts.
        case name([String])
        /// The number of a word.
        case word(WordSet)
        /// The number of a row in `texts`, or the text itself (Store: `SharedTexts`). Never a text that names a person: it
        /// would stay when the person's rows are erased.
        case shared
    }

    /// One column.
    public struct Column: Sendable {
        /// Its name in SQL.
        public let name: String
        /// Its type in SQL.
        public let type: String
        /// What it holds.
        public let coding: Coding
        /// Whether it may be NULL.
        public private(set) var isOptional = false
        /// What it has of a row of the log that ends before it; `nil`: NULL.
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

        /// The same, which may be NULL.
        var orNull: Column {
            var column = self
            column.isOptional = true
            return column
        }

        /// The same, with a value for the rows that were written before it was there.
        func or(_ value: Int64) -> Column {
            var column = self
            column.missing = value
            return column
        }
    }

    /// What tells rows apart.
    public enum Key: Sendable {
        /// So many of the first columns.
        case first(Int)
        /// A column before all others, which no row of the log has: the ledger gives it a number.
        case given(String)
        /// There is one row at most.
        case one
    }

    /// The name under which people ask for it.
    public let name: String
    /// The name of the table; where it is another one, ``name`` is a view that has texts in place of numbers.
    public let rows: String
    /// What tells rows apart.
    public let key: Key
    /// The columns in their order.
    public let columns: [Column]

    init(_ name: String, rows: String? = nil, key: Key = .first(1), _ columns: [Column]) {
        (self.name, self.rows, self.key, self.columns) = (name, rows ?? name, key, columns)
    }
}
