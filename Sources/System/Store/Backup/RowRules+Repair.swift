import PushModel

extension RowRules {
    /// The change of a table's rows by ``repair(_:_:)``.
    struct Repair {
        /// The first invalid value, for people.
        var damage: String
        /// The number of rows that were deleted.
        var deleted = 0
    }

    /// Makes all rows of a table such as ``requireRows(_:)`` takes them, with room for later numbers.
    ///
    /// An invalid number becomes the nearest valid one, an invalid shared text NULL. A row is deleted if its key is
    /// invalid, or a value out of a closed set: another value there could begin or end work.
    ///
    /// - Returns: the change; `nil` if all rows were valid.
    static func repair(_ table: String, _ database: borrowing Database) throws(StoreError) -> Repair? {
        let list = try database.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_info('\(table)')")
        var (repair, rules): (Repair?, [String]) = (nil, [])
        while try list.step() {
            let (column, type) = (list.text(0) ?? "", list.text(1) ?? "")
            guard let rule = rule(table, column, type, StoredRange.salvagedNumber) else { continue }
            rules.append(rule)
            let remedy = list.integer(3) > 0 ? nil : remedy(table, column, type, isOptional: list.integer(2) == 0)
            try database.execute(
                remedy.map { "UPDATE OR IGNORE \(table) SET \(column) = \($0) WHERE NOT (\(rule))" }
                    ?? "DELETE FROM \(table) WHERE NOT (\(rule))")
            guard database.changes > 0 else { continue }
            repair = repair ?? Repair(damage: "a row has an invalid value in \(column)")
            if remedy == nil { repair?.deleted += database.changes }
        }
        guard repair != nil else { return nil }
        // The rest: a valid value that another row has already, and a value that only its neighbor makes invalid.
        try database.execute(
            "DELETE FROM \(table) WHERE NOT (\(rules.map { "ifnull(\($0), 1)" }.joined(separator: " AND ")))")
        repair?.deleted += database.changes
        return repair
    }

    /// Returns the value, in SQL, in place of an invalid one; `nil`: the row is deleted.
    private static func remedy(_ table: String, _ column: String, _ type: String, isOptional: Bool) -> String? {
        switch coding(table, column) {
        case .shared: return isOptional ? "NULL" : column == "boot" ? "zeroblob(16)" : nil
        case .name, .word: return nil
        case .plain: break
        }
        // These only keep pruned numbers from being given again: numbers of rows that exist are known without them.
        if table == "meta", type == "INTEGER" { return "0" }
        // A restore gives the ledger another id in any case. No log is of this one.
        if table == "meta" { return "'\(UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max)))'" }
        if type == "INTEGER", let range = range(table, column, StoredRange.salvagedNumber) {
            return "min(max(\(column), \(range.lowerBound)), \(range.upperBound))"
        }
        return isOptional ? "NULL" : nil
    }
}
