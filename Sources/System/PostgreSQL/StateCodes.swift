import PushFleet

/// The meaning of PostgreSQL's errors, by their SQLSTATE (Appendix A of its manual). No code means "not written".
enum StateCodes {
    /// Returns the kind of a code: that of the code itself, or of its class.
    static func kind(of code: String) -> EngineProblem.Kind {
        // No code: libpq lost the connection, or never had one.
        guard !code.isEmpty else { return .unreachable }
        return table[code] ?? table[String(code.prefix(2))] ?? .failing
    }

    /// Returns the remedy, or a cause that PostgreSQL's message does not name; `nil` for most codes.
    static func hint(of code: String) -> String? {
        switch code {
        case "3D000", "57P04": "make or restore the database, or correct Log="
        case "42501":
            "give the role of Log= its rights back: GRANT ALL ON ALL TABLES IN SCHEMA public TO the role, with the schema "
                + "of the tables"
        case "42P01":
            "the role of Log= finds no tables of a pair: end the work on the database, or correct Log= or the role's "
                + "search_path; in a new database run \"pushctl store init\" once"
        case "42703", "42704", "42883":
            "the tables are not those of this program: end the work on the database, or undo the change"
        default: nil
        }
    }

    /// Codes, and classes of codes by their first two characters.
    static let table: [String: EngineProblem.Kind] = [
        "00": .failing, "01": .failing, "02": .failing, "03": .failing,
        "08": .unreachable,
        "09": .failing,
        // 0A000: the tables of a prepared statement have changed. A new connection prepares the statement again.
        "0A": .unreachable,
        "0B": .failing, "0F": .failing, "0L": .failing, "0P": .failing, "0Z": .failing,
        "20": .failing, "21": .failing, "22": .failing, "23": .failing, "24": .failing,
        "25": .failing,
        // read_only_sql_transaction: a former primary.
        "25006": .unreachable,
        // idle_in_transaction_session_timeout
        "25P03": .unreachable,
        // A pooler has moved the session to another server.
        "26": .unreachable,
        "27": .failing,
        // The password is wrong, or is being changed.
        "28": .unreachable,
        "2B": .failing, "2D": .failing, "2F": .failing, "34": .failing, "38": .failing, "39": .failing, "3B": .failing,
        // The database or the schema does not exist.
        "3D": .lacking, "3F": .lacking,
        "40": .unreachable,
        "42": .failing,
        // insufficient_privilege, undefined_table, undefined_column, undefined_object, undefined_function
        "42501": .lacking, "42P01": .lacking, "42703": .lacking, "42704": .lacking, "42883": .lacking,
        "44": .failing,
        "53": .failing,
        // too_many_connections
        "53300": .unreachable,
        "54": .failing,
        "55": .unreachable,
        "57": .unreachable,
        // database_dropped
        "57P04": .lacking,
        "58": .failing, "72": .unreachable, "F0": .failing, "HV": .failing, "P0": .failing, "XX": .failing,
    ]
}
