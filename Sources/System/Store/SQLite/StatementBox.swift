/// A statement where only copyable values may be, such as in a dictionary.
final class StatementBox {
    var statement: Statement

    init(_ statement: consuming Statement) { self.statement = statement }
}
