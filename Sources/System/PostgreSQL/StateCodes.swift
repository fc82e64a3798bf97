import PushFleet

/// The meaning of PostgreSQL's errors, by their SQLSTATE (Appendix A of its manual). No code means "not written".
enum StateCodes {
    /// Returns the kind of a code: that of the code itself, or of its class.
    static func kind(of code: String) -> EngineProblem.Kind {
        // No code: libpq lost the connection, or never had one.
        guard !code.isEmpty else { return .unreachable }
        return table[code] ?? table[String(code.prefix(2))] ?? .ill
    }

    /// Returns a cause that PostgreSQL's message does not name; `nil` for most codes.
    static func hint(of code: String) -> String? {
        switch code {
        case "42P01": "the database is not set up: \"pushctl store init\" makes its tables"
        default: nil
        }
    }

    /// Codes, and classes of codes by their first two characters.
    static let table: [String: EngineProblem.Kind] = [
        "00": .ill, "01": .ill, "02": .ill, "03": .ill,
        "08": .unreachable,
        "09": .ill,
        // 0A000: the tables of a prepared statement have changed. A new connection prepares the statement again.
        "0A": .unreachable,
        "0B": .ill, "0F": .ill, "0L": .ill, "0P": .ill, "0Z": .ill,
        "20": .ill, "21": .ill, "22": .ill, "23": .ill, "24": .ill,
        "25": .ill,
        // read_only_sql_transaction: a former primary.
        "25006": .unreachable,
        // idle_in_transaction_session_timeout
        "25P03": .unreachable,
        // A pooler has moved the session to another server.
        "26": .unreachable,
        "27": .ill,
        // The password is wrong, or is being changed.
        "28": .unreachable,
        "2B": .ill, "2D": .ill, "2F": .ill, "34": .ill, "38": .ill, "39": .ill, "3B": .ill,
        // The database or the schema does not exist.
        "3D": .notOurs, "3F": .notOurs,
        "40": .unreachable,
        "42": .ill,
        // insufficient_privilege, undefined_table, undefined_column, undefined_object, undefined_function
        "42501": .notOurs, "42P01": .notOurs, "42703": .notOurs, "42704": .notOurs, "42883": .notOurs,
        "44": .ill,
        "53": .ill,
        // too_many_connections
        "53300": .unreachable,
        "54": .ill,
        "55": .unreachable,
        "57": .unreachable,
        // database_dropped
        "57P04": .notOurs,
        "58": .ill, "72": .unreachable, "F0": .ill, "HV": .ill, "P0": .ill, "XX": .ill,
    ]
}
