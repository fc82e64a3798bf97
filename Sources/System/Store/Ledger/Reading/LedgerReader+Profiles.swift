public import PushModel

/// A condition on a field of a profile.
public struct AttributeCondition: Hashable, Sendable {
    /// The field, custom or the provider's own.
    public var name: String
    /// JSON texts: the field must be one of these, or an array that has one of them.
    public var values: [[UInt8]]

    public init(name: String, values: [[UInt8]]) {
        (self.name, self.values) = (name, values)
    }
}

extension LedgerReader {
    /// Returns the fields of a profile, the customer's own first, by name.
    public func attributes(of owner: ProfileOwner) throws(StoreError) -> [AttributeRecord] {
        var statement = try database.prepare(
            """
            SELECT \(AttributeRecord.table.values()) FROM attributes WHERE anonymous = ?1 AND owner = ?2
            ORDER BY kind, name
            """)
        statement.bind(owner)
        var attributes: [AttributeRecord] = []
        while try statement.step() {
            var row = statement.row()
            attributes.append(try AttributeRecord(reading: &row))
        }
        return attributes
    }

    /// Streams the users whose profiles meet all conditions, by name, each once. The query reads the users whose field
    /// has the first condition's value, or is an array.
    ///
    /// - Parameter conditions: at least one; an empty list matches no user.
    public func users(where conditions: [AttributeCondition], _ body: (String) -> Void) throws(StoreError) {
        guard let first = conditions.first else { return }
        let others = try ConditionCheck(database)
        for user in try users(where: first) {
            var isMet = true
            for condition in conditions.dropFirst() where isMet { isMet = try others.isMet(condition, by: user) }
            if isMet { body(user) }
        }
    }

    /// The users that may have `?2` as the field `?1`: those whose value has the same beginning, and those with an
    /// array. The index has the beginnings of values; "[" begins an array, and "\" is the next character. A UNION,
    /// because SQLite does not use the index for beginnings in one query with OR.
    static let candidates = """
        SELECT owner, value FROM attributes INDEXED BY attributes_by_value
        WHERE anonymous = 0 AND name = ?1 AND substr(value, 1, 64) = substr(?2, 1, 64)
        UNION
        SELECT owner, value FROM attributes INDEXED BY attributes_by_value
        WHERE anonymous = 0 AND name = ?1 AND substr(value, 1, 64) >= '[' AND substr(value, 1, 64) < '\\'
        """

    private func users(where condition: AttributeCondition) throws(StoreError) -> [String] {
        var statement = try database.prepare(Self.candidates)
        var users: Set<String> = []
        for value in condition.values {
            statement.bind(condition.name, at: 1)
            statement.bind(String(decoding: value, as: UTF8.self), at: 2)
            while try statement.step() {
                if condition.isMet(by: statement.bytes(1)), let user = statement.text(0) { users.insert(user) }
            }
            statement.reset()
        }
        return users.sorted()
    }
}

/// A check of one user's field.
private final class ConditionCheck {
    private var statement: Statement

    init(_ database: borrowing Database) throws(StoreError) {
        let kinds = "'\(EntryKind.customAttributes.rawValue)', '\(EntryKind.userAttributes.rawValue)'"
        statement = try database.prepare(
            "SELECT value FROM attributes WHERE anonymous = 0 AND owner = ?1 AND kind IN (\(kinds)) AND name = ?2")
    }

    func isMet(_ condition: AttributeCondition, by user: String) throws(StoreError) -> Bool {
        statement.bind(user, at: 1)
        statement.bind(condition.name, at: 2)
        defer { statement.reset() }
        while try statement.step() {
            if condition.isMet(by: statement.bytes(0)) { return true }
        }
        return false
    }
}

extension AttributeCondition {
    /// Returns whether a value is one of `values`, or an array that has one of them.
    fileprivate func isMet(by value: [UInt8]) -> Bool {
        if values.contains(value) { return true }
        guard value.first == UInt8(ascii: "["),
            let array = try? JSONDocument(scanning: value, limits: JSONLimits(depth: .max))
        else { return false }
        return array.root.elements.contains { element in values.contains { $0.elementsEqual(element.rawBytes) } }
    }
}
