/// A statement in a class, for places that take copyable values only, such as a dictionary.
final class StatementBox {
    var statement: Statement

    init(_ statement: consuming Statement) { self.statement = statement }
}
